"""Which model a name means: an example, a file of model text or standard input; and what an example brings along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import examples, formats
from ..core import text
from ..core.model import Model
from ..core.normality import ORDERS, Normality
from ..errors import ModelError, ParseError, QueryError, blaming, suggest
from ..examples import Example
from ..io import text_file


@dataclass(frozen=True)
class ModelSource:
    """A model as the user named it; an example brings its own question along, a file of another tool a prior."""

    model: Model
    example: Example | None = None
    prior: formats.Prior = field(default_factory=dict)

    def read_question(
        self,
        *,
        context: str | None = None,
        effect: str | None = None,
        event: str | None = None,
        alpha_sufficiency: Any = None,
        alpha_necessity: Any = None,
        rather_than: str | None = None,
        normally: Sequence[str] | None = None,
        normality_order: str | None = None,
    ) -> dict[str, Any]:
        """Read the parts of a question; the example's stand in for those that are missing."""
        if normality_order is not None and not normally:
            raise QueryError(
                "{parameter} needs rules; say with {normality} what is normal.", parameter="normality_order"
            )
        return {
            "context": self.read_context(context),
            "effect": self.read_effect(effect),
            "event": None if event is None else self._parse_event("event", event),
            "contrast": None if rather_than is None else self._parse_formula("contrast", rather_than),
            "normality": Normality(normally, normality_order or ORDERS[0]) if normally else None,
            "alpha_sufficiency": self._read_share("alpha_sufficiency", alpha_sufficiency),
            "alpha_necessity": self._read_share("alpha_necessity", alpha_necessity),
        }

    def read_effect(self, effect: str | None) -> Any:
        """Read what happened; the example's effect stands in where it is missing."""
        return self._read_formula("effect", effect, "what happened", " == 1")

    def read_space(
        self,
        *,
        outcome: str | None = None,
        where: str | None = None,
        alpha_sufficiency: Any = None,
        alpha_necessity: Any = None,
    ) -> dict[str, Any]:
        """Read what says which state space is partitioned, and how."""
        return {
            "outcome": self._read_formula("outcome", outcome, "a variable"),
            "where": None if where is None else self._parse_formula("where", where),
            "alpha_sufficiency": self._read_share("alpha_sufficiency", alpha_sufficiency),
            "alpha_necessity": self._read_share("alpha_necessity", alpha_necessity),
        }

    def read_context(self, given: str | None) -> dict[str, int]:
        """Read what the roots were; the example's context stands in where it is missing."""
        if given is not None:
            context = self._parse_event("context", given)
            follows = next((name for name in context if name in self.model.equations), None)
            if follows is not None:
                wrong = "{parameter} sets {name}, which follows from its equation; set only roots."
                raise QueryError(wrong, parameter="context", name=follows)
            return context
        if self.example is not None:
            return dict(self.example.context)
        if not self.model.roots:
            return {}
        listed = ",".join(f"{name}={self.model.ranges[name][-1]}" for name in self.model.roots[:5])
        raise _missing("context", "what the roots were", listed + (",..." if len(self.model.roots) > 5 else ""))

    def _read_formula(self, parameter: str, given: str | None, what: str, such_as: str = "") -> Any:
        if given is not None:
            return self._parse_formula(parameter, given)
        if self.example is not None:
            return getattr(self.example, parameter)
        last = self.model.variables[-1] if self.model.variables else "Y"
        raise _missing(parameter, what, last + such_as)

    def _read_share(self, parameter: str, given: Any) -> Any:
        return getattr(self.example, parameter) if given is None and self.example is not None else given

    def _parse_event(self, parameter: str, given: str) -> dict[str, int]:
        with blaming(parameter):
            event = text.parse_event(given, self.model.ranges)
        if not event and self.model.roots:
            wrong = "{parameter} is empty; write assignments such as {parameter} '{root}=1'."
            raise QueryError(wrong, parameter=parameter, root=self.model.roots[0])
        return event

    def _parse_formula(self, parameter: str, given: str) -> Any:
        with blaming(parameter):
            return text.parse_formula(given, self.model.ranges)


def _missing(parameter: str, what: str, such_as: str) -> QueryError:
    missing = "This model is not an example, so {parameter} must say {what}; for instance {parameter} '{such_as}'."
    return QueryError(missing, parameter=parameter, what=what, such_as=such_as)


def read_model(name: str) -> ModelSource:
    """Read the model behind MODEL: an example first, then standard input or a file."""
    if name in examples.NAMES:
        example = examples.load(name)
        return ModelSource(example.model, example)
    return parse_model("standard input" if name == "-" else name, read_text(name))


def parse_model(shown: str, content: str) -> ModelSource:
    """Parse a model; `shown` says in messages which text it is, and by its ending which format it has."""
    try:
        imported = formats.parse(content, formats.find_format(shown) or "text")
        return ModelSource(imported.model, prior=imported.prior)
    except ParseError as error:
        raise QueryError(f"{shown}, {error}") from None
    except ModelError as error:
        raise QueryError(f"{shown}: {error}") from None


def load_example(name: str) -> Example:
    """Load the example of that name; suggest the nearest name if there is none."""
    if name not in examples.NAMES:
        raise QueryError(f"There is no example named '{name}'{_hint(name)}")
    return examples.load(name)


def _hint(name: str) -> str:
    """Suggest the nearest example's name, or how to see them all."""
    return suggest(name, examples.NAMES) or "; see 'actcause examples'."


def read_text(name: str) -> str:
    """Read the text of a file, or of standard input where its name is '-'."""
    return text_file.read_text(name, missing=f"'{name}' is neither an example nor a file{_hint(name)}")
