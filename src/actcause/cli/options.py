"""The options of the commands: how they are declared, and how messages name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from .. import examples
from ..core.definitions import DEFINITIONS
from ..core.find import SOLVERS
from ..errors import name_in_python
from ..parallel import ENGINES

# What people are shown unless they ask for more; programs (--json) get everything.
SHOWN_CAUSES = 20
COMPARED_CAUSES = 100
COMPARED_SECONDS = 10.0
# What programs get of each pair of a larger space unless they ask for more.
WRITTEN_STATES = 10_000
FILM = Path("actcause-demo.gif")
PARTITION_SOLVERS = ("auto", "algorithm-0")
OWN = "the example's own"

# Parameters of Python functions that have an option of the same name; those of domains and methods go by --set.
NAMED = frozenset(
    (
        *("context", "effect", "event", "definition", "solver", "alpha_sufficiency", "alpha_necessity", "max_causes"),
        *("outcome", "where", "out", "max_pairs", "max_states", "max_seconds"),
        *("device", "seed", "set", "resume", "overwrite"),
        *("data", "runs", "host", "port", "token", "mapping", "frames", "draw"),
    )
)


def name_option(parameter: str, value: str = "") -> str:
    """Name a parameter as the option that it is on the command line.

    >>> name_option("max_seconds"), name_option("solver", "auto"), name_option("resume", "True")
    ('--max-seconds', '--solver auto', '--resume')
    """
    if parameter not in NAMED:
        return name_in_python(parameter, value)
    option = f"--{parameter.replace('_', '-')}"
    return option if value in ("", "True") else f"{option} {value}"


def _complete(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Complete a word in the shell: to the names that start with it."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    def _option(metavar: str, description: str, *names: str, show_default: bool | str = False, **more: Any) -> Any:
        return typer.Option(*names, metavar=metavar, help=description, show_default=show_default, **more)

    _model = typer.Argument(
        metavar="MODEL",
        help="An example's name, a file of model text, or - for standard input.",
        autocompletion=_complete(examples.names),
        show_default=False,
    )
    ModelArgument = Annotated[str, _model]
    OptionalModelArgument = Annotated[str | None, _model]
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
        typer.Argument(help="Show this one in full.", autocompletion=_complete(examples.names), show_default=False),
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
            autocompletion=_complete(lambda: (*DEFINITIONS, "all")),
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
            autocompletion=_complete(lambda: SOLVERS),
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
            autocompletion=_complete(lambda: PARTITION_SOLVERS),
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
    WorkersOption = Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="How many processes share the work; results are the same.",
            show_default="1, on a Ray cluster all",
        ),
    ]
    EngineOption = Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Who runs them: local (this machine) or ray.",
            autocompletion=_complete(lambda: ENGINES),
        ),
    ]
    AddressOption = Annotated[
        str | None,
        typer.Option(
            "--address", metavar="HOST:PORT", help="A Ray cluster that is there.", show_default="one of its own"
        ),
    ]
