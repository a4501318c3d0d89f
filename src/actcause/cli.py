"""The command line: the list of commands, and how each of them ends.

Exit codes: 0 for success, 1 for the answer "no", 2 for a user's mistake or an answer that the
budget left open, always with one line on stderr. A new command is a function of this file and a
line in `COMMANDS`; what it prints for people is drawn by `render.py`, and with `--json` it prints
one JSON document instead.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from . import __version__, text
from .answer import Answer, Verdict
from .definitions import DEFINITIONS
from .errors import ActCauseError, MissingExtraError, ParseError, QueryError, suggest
from .find import SOLVERS, causes, is_cause
from .model import Model

if TYPE_CHECKING:
    from .examples import Example

YES, NO, MISTAKE = 0, 1, 2
CLOSED_PIPE, INTERRUPTED = 141, 130  # what a shell reports for SIGPIPE and SIGINT

# A character takes at most four bytes; the parser counts characters itself.
MAX_BYTES = 4 * text.MAX_CHARACTERS

# What people are shown unless they ask for more; programs (--json) get everything.
SHOWN_CAUSES = 20
COMPARED_CAUSES = 100
COMPARED_SECONDS = 10.0


def _complete_models(incomplete: str) -> list[str]:
    from . import examples as library

    return [name for name in library.names() if name.startswith(incomplete)]


def _complete_definitions(incomplete: str) -> list[str]:
    return [name for name in (*DEFINITIONS, "all") if name.startswith(incomplete)]


def _complete_solvers(incomplete: str) -> list[str]:
    return [name for name in SOLVERS if name.startswith(incomplete)]


try:
    import typer
except ModuleNotFoundError:  # main() says what to install
    pass
else:
    ModelArgument = Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="An example's name, a file of model text, or - for standard input.",
            autocompletion=_complete_models,
            show_default=False,
        ),
    ]
    JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
    SufficiencyOption = Annotated[
        str | None,
        typer.Option(
            "--alpha-sufficiency",
            metavar="SHARE",
            help="Functional causes: the share of other states that may undo the outcome, such as 0.2 or 1/5.",
            show_default="the example's own",
        ),
    ]
    NecessityOption = Annotated[
        str | None,
        typer.Option(
            "--alpha-necessity",
            metavar="SHARE",
            help="Functional causes: the share of other values that must undo the outcome.",
            show_default="the example's own",
        ),
    ]
    SecondsOption = Annotated[
        float | None,
        typer.Option("--max-seconds", metavar="SECONDS", help="Stop searching after this long.", show_default=False),
    ]


# -- commands --------------------------------------------------------------------------------------


def examples(
    name: Annotated[
        str | None,
        typer.Argument(help="Show this one in full.", autocompletion=_complete_models, show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the literature's models, or show one: its story, its model, its published verdicts."""
    from . import examples as library

    if name is not None:
        example = _example(name)
        if as_json:
            _print_json(_example_document(example))
        else:
            from . import render

            render.show(render.example_page(example))
        return
    listed = [library.load(known) for known in library.names()]
    if as_json:
        _print_json([_example_document(example) for example in listed])
    else:
        from . import render

        render.show(render.example_table(listed))


def ask(
    model: ModelArgument,
    context: Annotated[
        str | None,
        typer.Option(metavar="ASSIGNMENTS", help="What the roots were: 'ST=1,BT=1'.", show_default="the example's own"),
    ] = None,
    effect: Annotated[
        str | None,
        typer.Option(
            metavar="FORMULA", help="What happened: 'BS == 1', 'not BS and X == 2'.", show_default="the example's own"
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="ASSIGNMENTS", help="Ask whether this was a cause: 'ST=1', 'L=1,MD=1'.", show_default=False
        ),
    ] = None,
    definition: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(DEFINITIONS)}; or all, side by side.",
            autocompletion=_complete_definitions,
        ),
    ] = "modified-hp",
    alpha_sufficiency: SufficiencyOption = None,
    alpha_necessity: NecessityOption = None,
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"How to search, one of {', '.join(SOLVERS)}; exhaustive is the slow oracle.",
            autocompletion=_complete_solvers,
        ),
    ] = "auto",
    max_causes: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help=f"Stop at this many causes; for people {SHOWN_CAUSES}.", show_default=False
        ),
    ] = None,
    max_seconds: SecondsOption = None,
    as_json: JsonOption = False,
) -> int:
    """What caused the effect? Or, with --event: was this a cause of it?

    With --event the exit code is 0 for yes and 1 for no; 2 means that the question could not be
    asked, or that the time ran out before the answer was known. With --definition all it is 0
    once every definition has had its say.
    """
    source = _read(model)
    everything = definition == "all"
    question = _Question(
        source.model,
        context=source.context(context),
        effect=source.effect(effect),
        event=None if event is None else _parse("--event", event, source.model),
        definitions=tuple(DEFINITIONS) if everything else (definition,),
        options={
            "alpha_sufficiency": source.share("alpha_sufficiency", alpha_sufficiency),
            "alpha_necessity": source.share("alpha_necessity", alpha_necessity),
            "solver": solver,
            "max_seconds": COMPARED_SECONDS if max_seconds is None and everything and not as_json else max_seconds,
        },
    )
    if max_causes is None and not as_json:
        max_causes = COMPARED_CAUSES if everything else SHOWN_CAUSES
    answers: Sequence[Answer | Verdict] = question.verdicts() if event is not None else question.answers(max_causes)
    if as_json:
        documents = [answer.to_json() for answer in answers]
        _print_json({"answers": documents} if everything else documents[0])
    else:
        from . import render

        render.show(render.comparison(answers) if everything else render.answer_page(answers[0]))
    [*_, last] = answers
    if everything or not isinstance(last, Verdict):
        return YES
    if last.holds is None:
        raise QueryError(last.sentence)
    return YES if last.holds else NO


def partition(
    model: ModelArgument,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE", help="The variable whose causes are asked for.", show_default="the example's own"
        ),
    ] = None,
    alpha_sufficiency: SufficiencyOption = None,
    alpha_necessity: NecessityOption = None,
    max_pairs: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many pairs to print; people are shown the first.")
    ] = 64,
    max_seconds: SecondsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Functional actual causes of an outcome in every state at once: all partitions of minimal cost."""
    from .find import partitions

    source = _read(model)
    found = partitions(
        source.model,
        outcome=source.outcome(outcome),
        alpha_sufficiency=source.share("alpha_sufficiency", alpha_sufficiency),
        alpha_necessity=source.share("alpha_necessity", alpha_necessity),
        max_seconds=max_seconds,
    )
    if as_json:
        _print_json(found.to_json(max_pairs=max_pairs))
    else:
        from . import render

        render.show(render.partition_page(found))


def demo(as_json: JsonOption = False) -> None:
    """Who broke the bottle? Three short stories in which the definitions part ways."""
    from . import render

    documents: dict[str, Any] = {}
    for scene in render.demo_scenes():
        documents[scene.name] = scene.document
        if not as_json:
            render.show(scene.page)
    if as_json:
        _print_json(documents)
    else:
        render.show(render.demo_close())


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
            'actcause ask model.txt --context "ST=1,BT=1" --effect "BS == 1" --event "ST=1" --json',
        ),
    ),
    Command(
        partition,
        (
            "actcause partition rock-throwing",
            "actcause partition rock-throwing --outcome BS --alpha-sufficiency 0.2 --json",
            "actcause partition model.txt --outcome BS --alpha-necessity 0.01",
        ),
    ),
    Command(demo, ("actcause demo", "actcause demo --json")),
)


# -- what is asked ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """One question, put to one definition or to all of them."""

    model: Model
    context: dict[str, int]
    effect: Any
    event: dict[str, int] | None
    definitions: tuple[str, ...]
    options: dict[str, Any]

    def answers(self, max_causes: int | None) -> list[Answer]:
        found = []
        for definition in self._in_turn():
            answer = causes(
                self.model,
                context=self.context,
                effect=self.effect,
                definition=definition,
                max_causes=max_causes,
                **self.options,
            )
            _ = answer.status  # searches to the end, so that the next definition starts with its own budget
            found.append(answer)
        return found

    def verdicts(self) -> list[Verdict]:
        assert self.event is not None
        return [
            is_cause(
                self.model,
                context=self.context,
                effect=self.effect,
                event=self.event,
                definition=definition,
                **self.options,
            )
            for definition in self._in_turn()
        ]

    def _in_turn(self) -> Iterator[str]:
        if len(self.definitions) == 1:
            yield from self.definitions
            return
        from . import render

        with render.progress() as say:
            for definition in self.definitions:
                say(f"asking {definition} …")
                yield definition


@dataclass(frozen=True)
class _Source:
    """A model as the user named it; an example brings its own question along."""

    model: Model
    example: Example | None

    def context(self, given: str | None) -> dict[str, int]:
        if given is not None:
            return _parse("--context", given, self.model)
        if self.example is not None:
            return dict(self.example.context)
        if not self.model.roots:
            return {}
        listed = ",".join(f"{name}={self.model.ranges[name][-1]}" for name in self.model.roots[:5])
        raise _missing("--context", "what the roots were", listed + (",..." if len(self.model.roots) > 5 else ""))

    def effect(self, given: str | None) -> Any:
        if given is not None:
            with _naming("--effect"):
                return text.parse_formula(given, self.model.ranges)
        if self.example is not None:
            return self.example.effect
        raise _missing("--effect", "what happened", f"{self.model.variables[-1] if self.model.variables else 'Y'} == 1")

    def outcome(self, given: str | None) -> str:
        if given is not None:
            return given
        if self.example is not None:
            return self.example.outcome
        raise _missing("--outcome", "a variable", self.model.variables[-1] if self.model.variables else "Y")

    def share(self, name: str, given: str | None) -> Any:
        return getattr(self.example, name) if given is None and self.example is not None else given


def _missing(option: str, what: str, such_as: str) -> QueryError:
    return QueryError(f"This model is not an example, so {option} must say {what}; for instance {option} '{such_as}'.")


def _parse(option: str, given: str, model: Model) -> dict[str, int]:
    with _naming(option):
        return text.parse_event(given, model.ranges)


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Say in which text a parse error is, since there are several."""
    try:
        yield
    except ParseError as error:
        raise QueryError(f"{what}, {error}") from None


def _example(name: str) -> Example:
    from . import examples as library

    if name not in library.names():
        raise QueryError(f"There is no example named '{name}'{_hint(name)}")
    return library.load(name)


def _hint(name: str) -> str:
    """The nearest example's name, or how to see them all."""
    from . import examples as library

    return suggest(name, library.names()) or "; see 'actcause examples'."


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


def _read(source: str) -> _Source:
    """The model behind MODEL: an example first, then standard input or a file."""
    from . import examples as library

    if source in library.names():
        example = library.load(source)
        return _Source(example.model, example)
    shown = "standard input" if source == "-" else source
    content = _decode(shown, sys.stdin.buffer.read(MAX_BYTES + 1) if source == "-" else _read_file(source))
    with _naming(shown):
        return _Source(text.parse_model(content), None)


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


# -- what is answered ------------------------------------------------------------------------------


def _print_json(document: Any) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # the number of minimal pairs can have a hundred thousand digits
    try:
        print(json.dumps(document))
    finally:
        sys.set_int_max_str_digits(limit)


def _print_mistake(message: object) -> None:
    """One line on stderr, with Python's parameter names turned into options."""
    line = re.sub(
        r"\b(?:max_seconds|max_causes|alpha_sufficiency|alpha_necessity)\b",
        lambda match: "--" + match[0].replace("_", "-"),
        " ".join(str(message).split()),
    )
    print(f"actcause: {line}", file=sys.stderr)


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
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without the character shows '?', not a traceback
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        return code
    except ActCauseError as error:
        _print_mistake(error)
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
        raise QueryError(f"{error.format_message()}{remedy}") from None


if __name__ == "__main__":
    sys.exit(main())
