"""The command line: the list of commands, and how each of them ends.

Exit codes: 0 for success, 1 for the answer "no", 2 for a user's mistake or an answer that the
budget left open, always with one line on stderr. A new command is a function of this file and a
line in `COMMANDS`; what it prints for people is drawn by `render.py`, and with `--json` it prints
one JSON document instead.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from .. import __version__
from .. import parallel as engines
from ..core.answer import Verdict
from ..core.compare import compare
from ..core.definitions import DEFINITIONS
from ..core.find import partitions
from ..core.spaces.mask_file import write_masks
from ..core.spaces.out_of_core import OutOfCorePartitions
from ..core.spaces.preimages import Partitions
from ..errors import ActCauseError, MissingExtraError, QueryError
from ..io.atomic import write_whole
from ..io.console import print_json, print_note
from ..io.signals import exit_on_terminate
from ..questions import source as sources
from ..questions.file import answer_file
from . import data as recordings
from . import execution_options as options
from . import reproduce as reproduction
from . import serve as serving
from . import train as learning

if TYPE_CHECKING:
    from ..examples import Example

YES, NO, MISTAKE = 0, 1, 2
CLOSED_PIPE, INTERRUPTED = 141, 130  # what a shell reports for SIGPIPE and SIGINT

with suppress(ModuleNotFoundError):  # main() says what to install
    import typer


# -- commands --------------------------------------------------------------------------------------


def examples(name: sources.ExampleArgument = None, as_json: sources.JsonOption = False) -> None:
    """List the literature's models, or show one: its story, its model, its published verdicts."""
    from .. import examples as library

    if name is not None:
        example = sources.example(name)
        if as_json:
            print_json(_example_document(example))
        else:
            from . import render

            render.show(render.example_page(example))
        return
    listed = [library.load(known) for known in library.names()]
    if as_json:
        print_json([_example_document(example) for example in listed])
    else:
        from . import render

        render.show(render.example_table(listed))


def ask(
    model: sources.AskedModelArgument = None,
    context: sources.ContextOption = None,
    effect: sources.EffectOption = None,
    event: sources.EventOption = None,
    definition: sources.DefinitionOption = "modified-hp",
    alpha_sufficiency: sources.SufficiencyOption = None,
    alpha_necessity: sources.NecessityOption = None,
    solver: sources.SolverOption = "auto",
    max_causes: sources.MaxCausesOption = None,
    max_seconds: sources.MaxSecondsOption = None,
    responsibility: sources.ResponsibilityOption = False,
    questions: sources.QuestionsOption = None,
    out: sources.AnswersOption = None,
    workers: options.Workers = None,
    engine: options.EngineName = "local",
    address: options.Address = None,
    as_json: sources.JsonOption = False,
) -> int:
    """What caused the effect? Or, with --event: was this a cause of it?

    With --event the exit code is 0 for yes and 1 for no; 2 means that the question could not be
    asked, or that the time ran out before the answer was known. With --definition all it is 0
    once every definition has had its say.

    With --questions a file of questions is answered by --workers, a line of JSON for each in its order; the
    exit code is 2 if a line was wrong, which is answered with its error. With --out a command that was cut
    off asks what is left when it is given again.
    """
    if questions is not None:
        fields = {
            "model": model,
            "context": context,
            "effect": effect,
            "event": event,
            "definition": definition,
            "alpha_sufficiency": alpha_sufficiency,
            "alpha_necessity": alpha_necessity,
            "solver": solver,
            "max_causes": max_causes,
            "max_seconds": max_seconds,
            "responsibility": responsibility,
        }
        usual = {name: value for name, value in fields.items() if value is not None}
        with engines.engine(engine, workers, address) as run:
            answer_file(questions, usual, run, out)
        return YES
    if model is None:
        raise QueryError("Missing argument 'MODEL', or --questions with a file of them. Try 'actcause ask --help'.")
    if out is not None:
        raise QueryError("--out takes the answers to --questions; use --json and redirect it for a single answer.")
    source = sources.read(model)
    everything = definition == "all"
    patient = as_json or not everything
    definitions = tuple(DEFINITIONS) if everything else (definition,)
    with (
        engines.engine(engine, workers, address),  # one question is asked here: a cluster begins with its first task
        _progress(everything) as report,
    ):
        opinions = list(
            compare(
                source.model,
                context=source.context(context),
                effect=source.effect(effect),
                event=None if event is None else source.event("event", event),
                definitions=definitions,
                alpha_sufficiency=source.share("alpha_sufficiency", alpha_sufficiency),
                alpha_necessity=source.share("alpha_necessity", alpha_necessity),
                solver=solver,
                max_causes=max_causes
                or (None if as_json else sources.COMPARED_CAUSES if everything else sources.SHOWN_CAUSES),
                max_seconds=max_seconds if max_seconds is not None or patient else sources.COMPARED_SECONDS,
                responsibility=responsibility,
                on_progress=lambda definition: report(f"asking {definition} …"),
            )
        )
    answers, degrees = [opinion.answer for opinion in opinions], [opinion.degrees for opinion in opinions]
    if as_json:
        documents = [opinion.to_json() for opinion in opinions]
        print_json({"answers": documents} if everything else documents[0])
    else:
        from . import render

        page = render.comparison(answers, degrees) if everything else render.answer_page(answers[0], degrees[0])
        render.show(page)
    [*_, last] = answers
    if everything or not isinstance(last, Verdict):
        return YES
    if last.holds is None:
        raise QueryError("{verdict}", verdict=last)
    return YES if last.holds else NO


def partition(
    model: sources.ModelArgument,
    outcome: sources.OutcomeOption = None,
    alpha_sufficiency: sources.SufficiencyOption = None,
    alpha_necessity: sources.NecessityOption = None,
    where: sources.WhereOption = None,
    solver: sources.PartitionSolverOption = "auto",
    max_pairs: sources.MaxPairsOption = 64,
    max_states: sources.MaxStatesOption = None,
    max_seconds: sources.MaxSecondsOption = None,
    out: sources.MasksOption = None,
    workers: options.Workers = None,
    engine: options.EngineName = "local",
    address: options.Address = None,
    as_json: sources.JsonOption = False,
) -> None:
    """Functional actual causes of an outcome in every state at once: all partitions of minimal cost.

    A pair gives every state the variables that matter there. People are shown the first pair.

    With an --alpha-sufficiency under 1/2 a space that is too large for memory is solved in parts, which
    --workers share.
    """
    source = sources.read(model)
    asked: dict[str, Any] = {
        "outcome": source.outcome(outcome),
        "alpha_sufficiency": source.share("alpha_sufficiency", alpha_sufficiency),
        "alpha_necessity": source.share("alpha_necessity", alpha_necessity),
        "where": None if where is None else source.formula("where", where),
        "max_seconds": max_seconds,
    }
    with engines.engine(engine, workers, address) as run, _progress(True) as say:
        found = partitions(source.model, **asked, solver=solver, workers=run, on_progress=say)
        if out is not None and found.cost is not None:
            with exit_on_terminate(), write_whole(out, QueryError) as file:
                write_masks(found, file, run)
    if isinstance(found, OutOfCorePartitions):
        print_note(f"the space is too large to be held at once, so its {found.states:,} states were solved in parts.")
    if as_json:
        print_json(found.to_json(max_pairs=max_pairs, max_states=_limit_states(found, max_pairs, max_states)))
    else:
        from . import render

        render.show(render.partition_page(found) if isinstance(found, Partitions) else render.out_of_core_page(found))


def _limit_states(found: Partitions | OutOfCorePartitions, max_pairs: int, max_states: int | None) -> int | None:
    """Limit how many states of each pair are printed; report a limit that is not the user's."""
    most = sources.WRITTEN_STATES
    if max_states is not None or found.states <= most or not max_pairs or found.cost is None:
        return max_states
    print_note(
        f"only the first {most:,} of {found.states:,} states are printed; --max-states {found.states} prints them all."
    )
    return most


def demo(
    quick: sources.QuickOption = False, film: sources.FilmOption = sources.FILM, as_json: sources.JsonOption = False
) -> None:
    """Who broke the bottle? Three short stories in which the definitions part ways, then causes learned from data.

    The second part trains for about a minute and writes a film of an episode; --quick leaves it out.
    """
    from . import demo as stories

    if as_json:
        scenes = [*stories.scenes(), *([] if quick else stories.learned(film))]
        print_json({scene.name: scene.document for scene in scenes})
        return
    from . import render

    render.show(stories.opening())
    for scene in stories.scenes():
        render.show(scene.page)
    if not quick:
        with learning.progress() as told:
            for scene in stories.learned(film, told):
                render.show(scene.page)
    render.show(stories.closing())


@dataclass(frozen=True)
class Command:
    """A command of the command line, and what its help ends with."""

    function: Callable[..., int | None]
    tries: tuple[str, ...]


COMMANDS = (
    Command(examples, ("actcause examples", "actcause examples rock-throwing", "actcause examples --json")),
    Command(
        ask,
        (
            "actcause ask rock-throwing",
            "actcause ask rock-throwing --definition all",
            "actcause ask rock-throwing --event BT=1; echo $?",
            "actcause ask voting-close --responsibility",
            "actcause ask --questions questions.jsonl --out answers.jsonl --workers 2",
            'actcause ask model.txt --context "ST=1,BT=1" --effect "BS == 1" --event "ST=1" --json',
        ),
    ),
    Command(
        partition,
        (
            "actcause partition rock-throwing",
            "actcause partition rock-throwing --outcome BS --alpha-sufficiency 0.2 --json",
            "actcause partition model.txt --outcome BS --alpha-necessity 0.01",
            "actcause partition pusher-1d --where 'P == 499'",
            "actcause partition model.txt --outcome BS --alpha-sufficiency 0.2 --out masks.npy --workers 2",
        ),
    ),
    Command(demo, ("actcause demo", "actcause demo --quick", "actcause demo --film episode.gif --json")),
    *(Command(function, tries) for function, tries in recordings.COMMANDS.items()),
    *(Command(function, tries) for function, tries in learning.COMMANDS.items()),
    *(Command(function, tries) for function, tries in reproduction.COMMANDS.items()),
    *(Command(function, tries) for function, tries in serving.COMMANDS.items()),
)


# -- what is asked and answered --------------------------------------------------------------------


def _progress(wanted: bool) -> AbstractContextManager[Callable[[str], None]]:
    if not wanted:
        return nullcontext(lambda _: None)
    from . import render

    return render.progress()


def _example_document(example: Example) -> dict[str, Any]:
    return {
        "name": example.name,
        "title": example.title,
        "story": example.story,
        "text": example.text,
        "context": dict(example.context),
        "effect": example.effect,
        "outcome": example.outcome,
        "alpha_sufficiency": example.alpha_sufficiency,
        "alpha_necessity": example.alpha_necessity,
        "source": example.source,
        "notes": list(example.notes),
        "verdicts": [
            {
                "event": dict(verdict.event),
                "definition": verdict.definition,
                "holds": verdict.holds,
                "source": verdict.source,
            }
            for verdict in example.verdicts
        ],
    }


# -- running ---------------------------------------------------------------------------------------


def application() -> typer.Typer:
    """The commands as a typer application."""
    app = typer.Typer(
        name="actcause",
        help="What actually caused this? Exact actual causality, definition by definition.",
        epilog=_epilog(("actcause demo", "actcause ask rock-throwing --definition all")),
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @app.callback(invoke_without_command=True)
    def start(
        context: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    ) -> None:
        if version:
            print(f"actcause {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            print(context.get_help())

    start.__doc__ = None
    for command in COMMANDS:
        app.command(help=_help(command.function), epilog=_epilog(command.tries))(command.function)
    return app


def _help(function: Callable[..., Any]) -> str:
    """The docstring with each paragraph on one line, so that the terminal alone decides where it wraps."""
    return "\n\n".join(" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))


def _epilog(tries: tuple[str, ...]) -> str:
    return "\n\n".join(["Examples:", *(f"  {line}" for line in tries)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    actcause ...
    0
    """
    if sys.stdout is None:  # closed by the shell
        sys.stdout = io.StringIO()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without the character shows '?', not a traceback
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        return code
    except ActCauseError as error:
        print_note(error.describe(options.name_option))
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _run(arguments: list[str]) -> int:
    try:
        import rich  # noqa: F401
        import typer
    except ModuleNotFoundError:
        raise MissingExtraError("The command line", "cli") from None
    try:
        command = typer.main.get_command(application())
        return command.main(arguments, prog_name="actcause", standalone_mode=False) or YES
    except SystemExit as ended:
        # Shell completion ends with 0; rich and typer turn a pipe that was closed early into 1.
        return CLOSED_PIPE if ended.code == 1 else int(ended.code or YES)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        # Usage errors come from typer's own copy of click or from click, as the version has it.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        remedy = f" Try '{context.command_path} --help'." if context is not None else ""
        raise QueryError(f"{error.format_message().rstrip('.')}.{remedy}") from None


if __name__ == "__main__":
    sys.exit(main())
