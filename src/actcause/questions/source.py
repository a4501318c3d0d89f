"""The arguments of the commands: how they are declared, and which model and which question they mean."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..core import text
from ..core.definitions import DEFINITIONS
from ..core.find import SOLVERS
from ..core.model import Model
from ..errors import ActCauseError, ModelError, ParseError, QueryError, blaming, suggest

if TYPE_CHECKING:
    from ..examples import Example

# A character takes at most four bytes; the parser counts characters itself.
MAX_BYTES = 4 * text.MAX_CHARACTERS

# What people are shown unless they ask for more; programs (--json) get everything.
SHOWN_CAUSES = 20
COMPARED_CAUSES = 100
COMPARED_SECONDS = 10.0
# What programs get of each pair of a larger space unless they ask for more.
WRITTEN_STATES = 10_000
FILM = Path("actcause-demo.gif")
PARTITION_SOLVERS = ("auto", "algorithm-0")


# -- declared --------------------------------------------------------------------------------------


def _completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell asks for to complete a word: the names that start with it."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _models() -> Iterable[str]:
    from .. import examples

    return examples.names()


try:
    import typer
except ModuleNotFoundError:  # the command line says what to install
    pass
else:

    def _option(metavar: str, said: str, *names: str, show_default: bool | str = False, **more: Any) -> Any:
        return typer.Option(*names, metavar=metavar, help=said, show_default=show_default, **more)

    OWN = "the example's own"
    _model = typer.Argument(
        metavar="MODEL",
        help="An example's name, a file of model text, or - for standard input.",
        autocompletion=_completing(_models),
        show_default=False,
    )
    ModelArgument = Annotated[str, _model]
    AskedModelArgument = Annotated[str | None, _model]
    QuestionsOption = Annotated[
        str | None,
        _option(
            "FILE",
            "Answer a file of questions instead, a JSON object each line with these options as its fields; or - "
            "for standard input. What a line leaves out, the command line says.",
            "--questions",
        ),
    ]
    AnswersOption = Annotated[
        Path | None,
        _option("FILE", "With --questions: where to write the answers, whole.", "--out", show_default="print them"),
    ]
    ExampleArgument = Annotated[
        str | None,
        typer.Argument(help="Show this one in full.", autocompletion=_completing(_models), show_default=False),
    ]
    JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
    ContextOption = Annotated[str | None, _option("ASSIGNMENTS", "What the roots were: 'ST=1,BT=1'.", show_default=OWN)]
    EffectOption = Annotated[
        str | None, _option("FORMULA", "What happened: 'BS == 1', 'not BS and X == 2'.", show_default=OWN)
    ]
    EventOption = Annotated[str | None, _option("ASSIGNMENTS", "Ask whether this was a cause: 'ST=1', 'L=1,MD=1'.")]
    DefinitionOption = Annotated[
        str,
        _option(
            "NAME",
            f"One of {', '.join(DEFINITIONS)}; or all, side by side.",
            autocompletion=_completing(lambda: (*DEFINITIONS, "all")),
            show_default=True,
        ),
    ]
    SufficiencyOption = Annotated[
        str | None,
        _option(
            "SHARE",
            "Functional causes: the share of other states that may undo the outcome, such as 0.2 or 1/5.",
            show_default=OWN,
        ),
    ]
    NecessityOption = Annotated[
        str | None,
        _option("SHARE", "Functional causes: the share of other values that must undo the outcome.", show_default=OWN),
    ]
    SolverOption = Annotated[
        str,
        _option(
            "NAME",
            f"How to search, one of {', '.join(SOLVERS)}; exhaustive is the slow oracle.",
            autocompletion=_completing(lambda: SOLVERS),
            show_default=True,
        ),
    ]
    MaxCausesOption = Annotated[
        int | None, _option("N", f"Stop at this many causes; for people {SHOWN_CAUSES}.", min=1)
    ]
    MaxSecondsOption = Annotated[float | None, _option("SECONDS", "Stop searching after this long.")]
    ResponsibilityOption = Annotated[
        bool,
        typer.Option("--responsibility", help="Add degrees of responsibility; --max-seconds does not cut one short."),
    ]
    QuickOption = Annotated[bool, typer.Option("--quick", help="Only what is computed at once: no training.")]
    FilmOption = Annotated[Path, _option("FILE", "Where to write the film.", "--film", show_default=True)]
    OutcomeOption = Annotated[
        str | None, _option("VARIABLE", "The variable, or formula, whose causes are asked for.", show_default=OWN)
    ]
    WhereOption = Annotated[str | None, _option("FORMULA", "Keep the contexts in which this holds: 'P == 499'.")]
    PartitionSolverOption = Annotated[
        str,
        _option(
            "NAME",
            f"How to search, one of {', '.join(PARTITION_SOLVERS)}; algorithm-0 is the paper's, for small spaces.",
            "--solver",
            autocompletion=_completing(lambda: PARTITION_SOLVERS),
            show_default=True,
        ),
    ]
    MaxPairsOption = Annotated[
        int,
        _option(
            "N", "With --json: how many pairs to print; 0 for the cost and the count alone.", min=0, show_default=True
        ),
    ]
    MaxStatesOption = Annotated[
        int | None,
        _option(
            "N",
            "With --json: how many states of each pair to print.",
            min=0,
            show_default=f"all, up to {WRITTEN_STATES:,}",
        ),
    ]
    MasksOption = Annotated[
        Path | None,
        _option(
            "FILE.npy",
            "Write the first pair: for each state, in the order of contexts, a number with a bit for each variable.",
            "--out",
        ),
    ]


# -- the model -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A model as the user named it; an example brings its own question along."""

    model: Model
    example: Example | None = None

    def context(self, given: str | None) -> dict[str, int]:
        if given is not None:
            context = self.event("context", given)
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

    def effect(self, given: str | None) -> Any:
        if given is not None:
            return self.formula("effect", given)
        if self.example is not None:
            return self.example.effect
        raise _missing("effect", "what happened", f"{self._last} == 1")

    def outcome(self, given: str | None) -> Any:
        if given is not None:
            return self.formula("outcome", given)
        if self.example is not None:
            return self.example.outcome
        raise _missing("outcome", "a variable", self._last)

    def share(self, name: str, given: str | None) -> Any:
        return getattr(self.example, name) if given is None and self.example is not None else given

    def event(self, parameter: str, given: str) -> dict[str, int]:
        with blaming(parameter):
            event = text.parse_event(given, self.model.ranges)
        if not event and self.model.roots:
            wrong = "{parameter} is empty; write assignments such as {parameter} '{root}=1'."
            raise QueryError(wrong, parameter=parameter, root=self.model.roots[0])
        return event

    def formula(self, parameter: str, given: str) -> Any:
        with blaming(parameter):
            return text.parse_formula(given, self.model.ranges)

    @property
    def _last(self) -> str:
        return self.model.variables[-1] if self.model.variables else "Y"


def read(name: str) -> Source:
    """The model behind MODEL: an example first, then standard input or a file."""
    from .. import examples

    if name in examples.names():
        found = examples.load(name)
        return Source(found.model, found)
    return parsed("standard input" if name == "-" else name, content(name))


def content(name: str) -> str:
    """The text of a file, or of standard input."""
    return _decode("standard input", _read_input()) if name == "-" else _decode(name, _read_file(name))


def parsed(shown: str, content: str) -> Source:
    """The model of a text; `shown` says in messages which text it is."""
    try:
        return Source(Model.from_text(content))
    except ParseError as error:
        raise QueryError(f"{shown}, {error}") from None
    except ModelError as error:
        raise QueryError(f"{shown}: {error}") from None


def example(name: str) -> Example:
    """The example of that name; refused, with the nearest name, if there is none."""
    from .. import examples

    if name not in examples.names():
        raise QueryError(f"There is no example named '{name}'{_hint(name)}")
    return examples.load(name)


def setting(text: str, such_as: str, others: Mapping[str, str]) -> tuple[str, Any]:
    """A name and a value, which is JSON (`3`, `0.5`, `true`, `[30, 50]`) or else text; `others` have an option."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier() or name in others:
        elsewhere = "".join(f" ({known} has {option})" for known, option in others.items() if known == name)
        raise QueryError(f"--set takes a name and its value, such as {such_as}{elsewhere}. Got '{text}'.")
    try:
        value = json.loads(written)
    except json.JSONDecodeError:
        value = written
    return name, as_tuples(value)


def as_tuples(value: Any) -> Any:
    """Lists, which is what a file holds, as the tuples that a frozen value wants."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def _hint(name: str) -> str:
    """The nearest example's name, or how to see them all."""
    from .. import examples

    return suggest(name, examples.names()) or "; see 'actcause examples'."


def _read_input() -> bytes:
    if sys.stdin is None:  # what Python makes of an input that was closed by the shell
        raise QueryError("standard input is closed; give a file of model text instead of -.")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def _read_file(name: str) -> bytes:
    try:
        if Path(name).is_dir():
            raise QueryError(f"'{name}' is a directory; give a file of model text.")
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            return file.read(MAX_BYTES + 1) if size <= MAX_BYTES else bytes(MAX_BYTES + 1)
    except FileNotFoundError:
        raise QueryError(f"'{name}' is neither an example nor a file{_hint(name)}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ActCauseError):
            raise
        raise QueryError(f"'{name}' cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _decode(shown: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise QueryError(f"{shown} is larger than {MAX_BYTES:,} bytes, too large for a model.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError(f"{shown} is not UTF-8 text: byte {error.start + 1} does not decode.") from None


def _missing(parameter: str, what: str, such_as: str) -> QueryError:
    missing = "This model is not an example, so {parameter} must say {what}; for instance {parameter} '{such_as}'."
    return QueryError(missing, parameter=parameter, what=what, such_as=such_as)
