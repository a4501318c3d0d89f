"""Which model a name means: an example, a file of model text or standard input; what an example brings along.

A model with time is unrolled, as many steps as are said or as a question or a trace mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import examples, formats
from ..core import text
from ..core.counting import format_count
from ..core.model import Model
from ..core.normality import ORDERS, Normality
from ..core.parser import TOKEN
from ..core.steps import AT, PRIME, at_step, find_last_step, split_step
from ..core.trace import Trace
from ..errors import ActCauseError, ModelError, ParseError, QueryError, TooLargeError, blaming, suggest
from ..examples import Example
from ..io import text_file
from .trace_file import read_trace

LATER = 1  # a step at which next values have their equations, as they need not at the first


@dataclass(frozen=True)
class Timing:
    """How far to unroll a model: the steps asked for, the recorded trace, the last step that a question mentions."""

    steps: int | None = None
    trace: Trace | None = None
    mentioned: int | None = None

    @classmethod
    def read(cls, steps: int | None, trace: Trace | None, texts: Iterable[str | None]) -> Timing:
        """Look for steps in formulas and assignments, such as the 7 of 'alarm@7 == 1'."""
        words = [word for given in texts if given and AT in given for word in TOKEN.findall(given) if AT in word]
        return cls(steps, trace, find_last_step(words) if words else None)

    @property
    def last(self) -> int | None:
        """The step to unroll to; None if neither the user, nor a trace, nor the question says anything about time."""
        recorded = None if self.trace is None else self.trace.steps
        mentioned = self.mentioned
        if self.steps is not None:
            if mentioned is not None and isinstance(self.steps, int) and mentioned > self.steps:
                wrong = "{parameter} must be at least {mentioned}, the last step of the question; got {got}."
                raise QueryError(wrong, parameter="steps", mentioned=mentioned, got=self.steps)
            return self.steps
        if mentioned is None or recorded is None:
            return recorded if mentioned is None else mentioned
        if mentioned > recorded:
            wrong = (
                "{parameter} ends at step {recorded}, but the question mentions step {mentioned}; record more of it."
            )
            raise QueryError(wrong, parameter="trace", recorded=recorded, mentioned=mentioned)
        return mentioned

    def unroll(self, model: Model) -> Model:
        """Unroll a model; leave it as it is if it is unrolled already, or has no time and nobody asked for steps."""
        last = self.last
        if last is None or (self.steps is None and any(AT in name for name in model.variables)):
            return model
        if self.steps is None and self.trace is None and not any(name.endswith(PRIME) for name in model.variables):
            return model  # the unknown name is reported where it stands
        return model.unrolled(last)


TIMELESS = Timing()


def read_timing(steps: int | None, trace: str | None, *texts: str | None) -> Timing:
    """Read how far a model is unrolled: the trace of a file, and the steps that the texts of a question mention."""
    return Timing.read(steps, None if trace is None else read_trace(trace), texts)


@dataclass(frozen=True)
class ModelSource:
    """The model that the user named, with the question of an example or the prior of a file of another tool.

    A model with time is unrolled, and `trace` holds its recorded values.
    """

    model: Model
    example: Example | None = None
    prior: formats.Prior = field(default_factory=dict)
    trace: Trace | None = None

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
            "event": None if event is None else self.read_event(event),
            "contrast": None if rather_than is None else self._parse_formula("contrast", rather_than),
            "normality": Normality(normally, normality_order or ORDERS[0]) if normally else None,
            "alpha_sufficiency": self._read_share("alpha_sufficiency", alpha_sufficiency),
            "alpha_necessity": self._read_share("alpha_necessity", alpha_necessity),
        }

    def read_effect(self, effect: str | None) -> Any:
        """Read what happened; the example's effect stands in where it is missing."""
        if effect is None and self.example is not None and AT in self.example.outcome:
            self._check_reach(self.example)
        return self._read_formula("effect", effect, "what happened", " == 1")

    def read_event(self, event: str, parameter: str = "event") -> dict[str, int]:
        """Read an event: one that may have been a cause, or that might have happened instead."""
        return self._parse_event(parameter, event)

    def _check_reach(self, example: Example) -> None:
        """Refuse to ask for an example's own effect in fewer steps than it takes."""
        last, needed = find_last_step(self.model.variables), split_step(example.outcome)[1]
        if last is not None and needed is not None and needed > last:
            wrong = (
                "The effect of '{name}' is {effect}, which takes {needed} steps, not {last}; "
                "give {steps} {needed}, or say with {parameter} what happened by step {last}."
            )
            given = {"name": example.name, "effect": example.effect, "needed": needed, "last": last}
            raise QueryError(wrong, parameter="effect", **given)

    def read_space(
        self,
        *,
        outcome: str | None = None,
        where: str | None = None,
        alpha_sufficiency: Any = None,
        alpha_necessity: Any = None,
    ) -> dict[str, Any]:
        """Read which state space to partition, and how."""
        return {
            "outcome": self._read_formula("outcome", outcome, "a variable"),
            "where": None if where is None else self._parse_formula("where", where),
            "alpha_sufficiency": self._read_share("alpha_sufficiency", alpha_sufficiency),
            "alpha_necessity": self._read_share("alpha_necessity", alpha_necessity),
        }

    def read_context(self, given: str | None) -> dict[str, int]:
        """Read what the roots were; the trace, or the example's context, stands in where it is missing.

        Of a model in time a name without a step is set at every step.
        """
        timed = any(AT in name for name in self.model.variables)
        if given is not None:
            if timed:
                with blaming("context"):
                    context = text.parse_event(given)
            else:
                context = self._parse_event("context", given)
            known = self.model.equations
            follows = next((name for name in context if name in known or f"{name}@{LATER}" in known), None)
            if follows is not None:
                wrong = "{parameter} sets {name}, which follows from its equation; set only roots."
                raise QueryError(wrong, parameter="context", name=follows)
            return self._fill_in_time(context) if timed else context
        if self.trace is not None:
            return self.trace.context(self.model)
        if self.example is not None:
            if timed:
                self._check_steps(self.example)
            return {name: value for name, value in self.example.context.items() if name in self.model.ranges}
        if not self.model.roots:
            return {}
        ranges, last = self.model.ranges, find_last_step(self.model.variables)
        inputs = {_name_input(name, last, self.model): ranges[name][-1] for name in self.model.roots}
        listed = ",".join(f"{name}={value}" for name, value in list(inputs.items())[:5])
        raise _report_missing("context", "what the roots were", listed + (",..." if len(inputs) > 5 else ""))

    @contextmanager
    def naming_steps(self) -> Iterator[None]:
        """Add to an error about too many contexts that the example has fewer steps than were asked about."""
        try:
            yield
        except TooLargeError:
            last = find_last_step(self.model.variables)
            steps = None if self.example is None else self.example.steps
            if self.example is None or steps is None or last is None or last <= steps:
                raise
            wrong = (
                "'{name}' is an example of {known} steps, and step {last} was asked about, for which there are too "
                "many contexts ({count}); ask about step {known} or earlier, or list with {contexts} those that are "
                "possible."
            )
            count = format_count(self.model.context_count)
            raise TooLargeError(wrong, name=self.example.name, known=steps, last=last, count=count) from None

    def _check_steps(self, example: Example) -> None:
        """Refuse to guess what the roots of an example were at steps that it does not tell of."""
        last = find_last_step(self.model.variables)
        if last is None or (example.steps is not None and last <= example.steps):
            return
        inputs = {_name_input(name, last, self.model): self.model.ranges[name][-1] for name in self.model.roots}
        listed = ",".join(f"{name}={value}" for name, value in inputs.items())
        known, remedy = "a single step", ""
        if example.steps is not None:
            known, remedy = f"{example.steps} steps", f"ask about step {example.steps} or earlier, or "
        wrong = (
            "'{name}' is an example of {known}, and step {last} was asked about; "
            "{remedy}say what the roots were: {parameter} '{listed}'."
        )
        given = {"name": example.name, "known": known, "last": last, "remedy": remedy, "listed": listed}
        raise QueryError(wrong, parameter="context", **given)

    def _fill_in_time(self, context: dict[str, int]) -> dict[str, int]:
        """Set a name without a step at every step; refuse names that the trace has too."""
        recorded = {} if self.trace is None else self.trace.columns
        bases = {split_step(name)[0] for name in recorded}
        twice = next((name for name in context if split_step(name)[0] in bases), None)
        if twice is not None:
            wrong = "{parameter} sets {name}, which the trace has; leave it out of one of them."
            raise QueryError(wrong, parameter="context", name=twice)
        try:
            return Trace({**recorded, **context}).context(self.model)
        except ActCauseError as error:
            if error.parameter == "trace" and self.trace is None:
                error.parameter = "context"
            raise

    def _read_formula(self, parameter: str, given: str | None, what: str, such_as: str = "") -> Any:
        if given is not None:
            return self._parse_formula(parameter, given)
        if self.example is not None:
            return getattr(self.example, parameter)
        last = self.model.variables[-1] if self.model.variables else "Y"
        raise _report_missing(parameter, what, last + such_as)

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


def _name_input(root: str, last: int | None, model: Model) -> str:
    """Name a root as --context takes it: without its step if it is one at every step."""
    base = split_step(root)[0]
    return base if last is not None and at_step(base, last) in model.roots else root


def _report_missing(parameter: str, what: str, such_as: str) -> QueryError:
    missing = "This model is not an example, so {parameter} must say {what}; for instance {parameter} '{such_as}'."
    return QueryError(missing, parameter=parameter, what=what, such_as=such_as)


def read_model(name: str, timing: Timing = TIMELESS) -> ModelSource:
    """Read the model behind MODEL: an example first, then standard input or a file."""
    if name in examples.NAMES:
        return _read_example(examples.load(name), timing)
    return parse_model("standard input" if name == "-" else name, read_text(name), timing)


def _read_example(example: Example, timing: Timing) -> ModelSource:
    """Read an example; one with time as far as it goes by itself, or as it is asked to."""
    last = timing.last
    if last is None or (example.steps is not None and timing.steps is None and last <= example.steps):
        return ModelSource(example.model, example, trace=timing.trace)
    return ModelSource(timing.unroll(Model.from_text(example.text)), example, trace=timing.trace)


def parse_model(shown: str, content: str, timing: Timing = TIMELESS) -> ModelSource:
    """Parse a model; `shown` says in messages which text it is, and by its ending which format it has."""
    kind = formats.find_format(shown) or "text"
    try:
        imported = formats.parse(content, kind, steps=None if kind == "text" else timing.last)
        model = timing.unroll(imported.model) if kind == "text" else imported.model
        return ModelSource(model, prior=imported.prior, trace=timing.trace)
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
