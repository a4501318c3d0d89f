"""The options of the commands: how they are declared, and how messages name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from .. import examples
from ..core.definitions import DEFINITIONS
from ..core.find import SOLVERS
from ..core.normality import ORDERS
from ..errors import name_in_python
from ..formats import FORMATS
from ..parallel import ENGINES

# What people are shown unless they ask for more; programs (--json) get everything.
SHOWN_CAUSES = 20
COMPARED_CAUSES = 100
COMPARED_SECONDS = 10.0
EXPLAINED_SECONDS = 60.0
# What programs get of each pair of a larger space unless they ask for more.
WRITTEN_STATES = 10_000
FILM = Path("actcause-demo.gif")
PARTITION_SOLVERS = ("auto", "algorithm-0")
OWN = "the example's"
READ_FORMATS = tuple(name for name, one in FORMATS.items() if one.read is not None)
WRITTEN_FORMATS = tuple(name for name, one in FORMATS.items() if one.write is not None)

# Parameters of Python functions that have an option of the same name; those of domains and methods go by --set.
NAMED = frozenset(
    (
        *("context", "effect", "event", "definition", "solver", "alpha_sufficiency", "alpha_necessity", "max_causes"),
        *("contrast", "normality", "normality_order"),
        *("max_explanations", "least_goodness", "contexts", "prior", "instead", "evidence", "samples", "confidence"),
        *("max_calls", "least_share", "input"),
        *("outcome", "where", "out", "max_pairs", "max_states", "max_seconds"),
        *("device", "seed", "set", "resume", "overwrite"),
        *("data", "runs", "host", "port", "token", "open_to_all", "allow_host", "memory", "quota"),
        *("mapping", "frames", "draw", "steps", "trace"),
    )
)
# Options that are worded as people ask.
WORDED = {"contrast": "rather_than", "normality": "normally", "open_to_all": "no_token"}

Names = Callable[[], Iterable[str]]


def name_option(parameter: str, value: str = "") -> str:
    """Name a parameter as the option that it is on the command line.

    >>> name_option("max_seconds"), name_option("solver", "auto"), name_option("resume", "True")
    ('--max-seconds', '--solver auto', '--resume')
    """
    if parameter not in NAMED:
        return name_in_python(parameter, value)
    option = f"--{WORDED.get(parameter, parameter).replace('_', '-')}"
    return option if value in ("", "True") else f"{option} {value}"


def _complete(names: Names) -> Callable[[str], list[str]]:
    """Complete a word in the shell: to the names that start with it."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def option(usage: str, about: str, *, default: bool | str = True, names: Names | None = None, **more: Any) -> Any:
    """Declare an option by how it is used: `--out FILE`, or `--json`, which takes no value.

    `default` describes its default, `names` are what its value is completed to.
    """
    import typer

    name, _, metavar = usage.partition(" ")
    completion = None if names is None else _complete(names)
    given = {"metavar": metavar or None, "autocompletion": completion, "show_default": default, **more}
    return typer.Option(name, help=about, **given)


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    _model = typer.Argument(
        metavar="MODEL",
        help="An example's name, a file of model text or of another tool, or - for standard input.",
        autocompletion=_complete(examples.names),
        show_default=False,
    )
    ModelArgument = Annotated[str, _model]
    OptionalModelArgument = Annotated[str | None, _model]
    QuestionsOption = Annotated[
        str | None,
        option(
            "--questions FILE", "Answer a file of questions (or -): a JSON object a line, with these options as fields."
        ),
    ]
    AnswersOption = Annotated[
        Path | None, option("--out FILE", "With --questions: where answers go.", default="printed")
    ]
    ExampleArgument = Annotated[
        str | None,
        typer.Argument(help="Show this one in full.", autocompletion=_complete(examples.names), show_default=False),
    ]
    JsonOption = Annotated[bool, option("--json", "Print one JSON document.")]
    ContextOption = Annotated[
        str | None, option("--context ASSIGNMENTS", "What the roots were: 'ST=1,BT=1'.", default=OWN)
    ]
    EffectOption = Annotated[str | None, option("--effect FORMULA", "What happened: 'BS == 1'.", default=OWN)]
    EventOption = Annotated[
        str | None, option("--event ASSIGNMENTS", "Ask whether this was a cause: 'ST=1', 'L=1,MD=1'.")
    ]
    ContrastOption = Annotated[
        str | None, option("--rather-than FORMULA", "Why this and not that: 'BS == 2', brought about.")
    ]
    NormallyOption = Annotated[
        list[str] | None,
        option(
            "--normally RULE",
            "What normally holds, 'BT == 0' or weighted '2: A == B'; witnesses must keep to it. Repeatable.",
        ),
    ]
    NormalityOrderOption = Annotated[
        str | None,
        option(
            "--normality-order NAME",
            f"By {' or '.join(ORDERS)} of broken rules.",
            default=ORDERS[0],
            names=lambda: ORDERS,
        ),
    ]
    DefinitionOption = Annotated[
        str,
        option(
            "--definition NAME",
            f"One of {', '.join(DEFINITIONS)}; or all, side by side.",
            names=lambda: (*DEFINITIONS, "all"),
        ),
    ]
    OneDefinitionOption = Annotated[
        str,
        option("--definition NAME", f"What a cause is: one of {', '.join(DEFINITIONS)}.", names=lambda: DEFINITIONS),
    ]
    ContextsOption = Annotated[
        str | None,
        option(
            "--contexts FILE",
            "A CSV file of the contexts that are possible: a column for each root, and 'probability' if known.",
        ),
    ]
    PriorOption = Annotated[
        str | None,
        option(
            "--prior PROBABILITIES", "Independent roots: 'A=0.3' is the probability that A is 1, 'B:2=1/4' that B is 2."
        ),
    ]
    SufficientOption = Annotated[
        bool, option("--sufficient", "Ask for sufficient causes in --context instead of explanations.")
    ]
    LeastGoodnessOption = Annotated[
        str | None,
        option("--least-goodness SHARE", "Find partial explanations too, of at least this goodness, such as 0.9."),
    ]
    RequiredEventOption = Annotated[str, option("--event ASSIGNMENTS", "What may have been a cause: 'A=1'.")]
    InsteadOption = Annotated[
        str | None,
        option(
            "--instead ASSIGNMENTS", "What it might have been: 'A=0'.", default="the other value of binary variables"
        ),
    ]
    EvidenceOption = Annotated[
        str | None, option("--evidence FORMULA", "What else is known: 'Dead == 1'. Everything is given that.")
    ]
    SamplesOption = Annotated[
        int, option("--samples N", "How many contexts to draw where they cannot be counted.", min=1)
    ]
    SamplingSeedOption = Annotated[int, option("--seed S", "What the draws start from.")]
    ConfidenceOption = Annotated[float, option("--confidence SHARE", "How often an interval has to hold.")]
    MappingOption = Annotated[
        Path | None,
        option("--mapping FILE", "JSON or TOML: which columns are which factors.", default="by their names"),
    ]
    DeviceOption = Annotated[str, option("--device NAME", "cpu, cuda, or auto: cuda if there.")]
    FunctionArgument = Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION", help="A Python function: module:function or file.py:function.", show_default=False
        ),
    ]
    InputsOption = Annotated[
        list[str] | None,
        option(
            "--input RANGE",
            "An input of the function and what it can be, again for each: 'brake=0,1', 'gear=1..5', "
            "'speed=0.0..40.0' for all numbers between.",
        ),
    ]
    RequiredContextOption = Annotated[str, option("--context ASSIGNMENTS", "What the inputs were: 'speed=20,brake=0'.")]
    RequiredEffectOption = Annotated[
        str, option("--effect FORMULA", "What happened, over what the function returns: 'metres > 30.5', 'output'.")
    ]
    VectorizedOption = Annotated[bool, option("--vectorized", "The function takes arrays and returns arrays.")]
    MaxCallsOption = Annotated[int, option("--max-calls N", "How often the function may be run.", min=1)]
    BoxConfidenceOption = Annotated[float, option("--confidence SHARE", "How sure a claim from samples has to be.")]
    LeastShareOption = Annotated[
        float, option("--least-share SHARE", "From which share of its values on a cause must not be missed.")
    ]
    MaxExplanationsOption = Annotated[
        int | None, option("--max-explanations N", f"Stop at this many; for people {SHOWN_CAUSES}.", min=1)
    ]
    SufficiencyOption = Annotated[
        str | None,
        option("--alpha-sufficiency SHARE", "Functional: share of other states that may undo it.", default=OWN),
    ]
    NecessityOption = Annotated[
        str | None,
        option("--alpha-necessity SHARE", "Functional: share of other values that must undo it.", default=OWN),
    ]
    SolverOption = Annotated[
        str, option("--solver NAME", f"{' or '.join(SOLVERS)}, the slow oracle.", names=lambda: SOLVERS)
    ]
    MaxCausesOption = Annotated[
        int | None, option("--max-causes N", f"Stop at so many causes; for people {SHOWN_CAUSES}.", min=1)
    ]
    BelievedOption = Annotated[
        list[str] | None,
        option("--believed MODEL=PROBABILITY", "Another model that may be true: 'other.txt=0.3'. Repeatable."),
    ]
    MaxSecondsOption = Annotated[float | None, option("--max-seconds SECONDS", "Stop searching after this long.")]
    ExplainSecondsOption = Annotated[
        float | None,
        option("--max-seconds SECONDS", f"Stop searching after this long; for people {EXPLAINED_SECONDS:g}."),
    ]
    ResponsibilityOption = Annotated[
        bool, option("--responsibility", "Add degrees of responsibility, whatever they take.")
    ]
    QuickOption = Annotated[bool, option("--quick", "Only what is computed at once: no training.")]
    FilmOption = Annotated[Path, option("--film FILE", "Where to write the film.")]
    OutcomeOption = Annotated[
        str | None, option("--outcome VARIABLE", "The variable, or formula, whose causes are asked for.", default=OWN)
    ]
    WhereOption = Annotated[str | None, option("--where FORMULA", "Keep the contexts in which this holds: 'P == 499'.")]
    PartitionSolverOption = Annotated[
        str,
        option(
            "--solver NAME",
            f"How to search, one of {', '.join(PARTITION_SOLVERS)}; algorithm-0 is the paper's, for small spaces.",
            names=lambda: PARTITION_SOLVERS,
        ),
    ]
    MaxPairsOption = Annotated[
        int, option("--max-pairs N", "With --json: how many pairs to print; 0 for the cost and the count alone.", min=0)
    ]
    MaxStatesOption = Annotated[
        int | None,
        option(
            "--max-states N",
            "With --json: how many states of each pair to print.",
            min=0,
            default=f"all, up to {WRITTEN_STATES:,}",
        ),
    ]
    MasksOption = Annotated[
        Path | None,
        option(
            "--out FILE.npy",
            "Write the first pair: for each state, in the order of contexts, a number with a bit for each variable.",
        ),
    ]
    WorkersOption = Annotated[
        int | None, option("--workers N", "Processes that share the work; same results.", min=1, default="1")
    ]
    EngineOption = Annotated[str, option("--engine NAME", "Who runs them: local or ray.", names=lambda: ENGINES)]
    AddressOption = Annotated[
        str | None, option("--address HOST:PORT", "A Ray cluster that is there.", default="one of its own")
    ]
    ForeignArgument = Annotated[
        str, typer.Argument(metavar="FILE", help="A file of another tool, or - for standard input.", show_default=False)
    ]
    ReadFormatOption = Annotated[
        str | None,
        option(
            "--format NAME", f"One of {', '.join(READ_FORMATS)}.", default="by the ending", names=lambda: READ_FORMATS
        ),
    ]
    WriteFormatOption = Annotated[
        str | None,
        option(
            "--format NAME",
            f"One of {', '.join(WRITTEN_FORMATS)}.",
            default="by the ending of --out",
            names=lambda: WRITTEN_FORMATS,
        ),
    ]
    StepsOption = Annotated[
        int | None, option("--steps N", "Models with time: how many steps to unroll.", default="none", min=0)
    ]
    AskedStepsOption = Annotated[
        int | None,
        option("--steps N", "With time (x' = ...): how many steps to unroll.", default="as the question names", min=0),
    ]
    TraceOption = Annotated[
        str | None,
        option(
            "--trace FILE",
            "With time: a CSV or Parquet file of what was recorded, a column a variable and a row a step.",
        ),
    ]
    TextOption = Annotated[Path | None, option("--out FILE", "Where to write it.", default="print it")]
