"""The command line: the list of commands, and how each of them ends.

Exit codes: 0 for success, 1 for the answer "no", 2 for a user's mistake or an answer that the
budget left open, always with one line on stderr. A new command is a function in a file of its own,
with its examples in `COMMANDS` there; what it prints for people is drawn by `render.py`, and with
`--json` it prints one JSON document instead.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

from .. import __version__
from ..errors import ActCauseError, MissingExtraError, QueryError, quote
from ..io.console import print_note
from . import (
    ask,
    blame,
    data,
    demo,
    examples,
    explain,
    formats,
    graphs,
    partition,
    predict,
    probability,
    probe,
    reproduce,
    serve,
    train,
)
from .exit_codes import CLOSED_PIPE, INTERRUPTED, MISTAKE, SUCCESS
from .help import describe_command, describe_group
from .options import name_option

with suppress(ModuleNotFoundError):  # main() says what to install
    import typer
    import typer.core

# Each command, and the examples that its help ends with.
COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    **examples.COMMANDS,
    **ask.COMMANDS,
    **explain.COMMANDS,
    **probability.COMMANDS,
    **blame.COMMANDS,
    **probe.COMMANDS,
    **partition.COMMANDS,
    **formats.COMMANDS,
    **demo.COMMANDS,
    **data.COMMANDS,
    **train.COMMANDS,
    **predict.COMMANDS,
    **graphs.COMMANDS,
    **reproduce.COMMANDS,
    **serve.COMMANDS,
}

TRIES = ("actcause demo", "actcause ask rock-throwing --definition all")


def application() -> typer.Typer:
    """Build the typer application of all commands."""

    class Command(typer.core.TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            formatter.write(describe_command(self, ctx, tries_of[self.name or ""]) + "\n")

    class Group(typer.core.TyperGroup):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            formatter.write(describe_group(self, ctx, TRIES) + "\n")

    app = typer.Typer(
        name="actcause",
        cls=Group,
        help="What actually caused this? Exact actual causality, definition by definition.",
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
    tries_of = {command.__name__: tries for command, tries in COMMANDS.items()}
    for command in COMMANDS:
        app.command(cls=Command, help=_help(command))(command)
    return app


@cache
def _command() -> Any:
    """Read the signatures of all commands once: that takes longer than most questions."""
    return typer.main.get_command(application())


def _help(function: Callable[..., Any]) -> str:
    """Put each paragraph of the docstring on one line, so that the terminal alone decides where it wraps."""
    return "\n\n".join(" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))


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
        print_note(error.describe(name_option))
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
        return _command().main(arguments, prog_name="actcause", standalone_mode=False) or SUCCESS
    except SystemExit as ended:
        # Shell completion ends with 0; rich and typer turn a pipe that was closed early into 1.
        return CLOSED_PIPE if ended.code == 1 else int(ended.code or SUCCESS)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        # Usage errors come from typer's own copy of click or from click, as the version has it.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        remedy = f" Try '{context.command_path} --help'." if context is not None else ""
        message = _word_usage_error(error).rstrip(".")
        raise QueryError(f"{message}{'' if message.endswith('?') else '.'}{remedy}") from None


def _word_usage_error(error: Any) -> str:
    """Word a usage error; one of a value says what came, which typer with pydantic leaves out."""
    message = str(error.format_message())
    refused = getattr(error.__cause__, "errors", None)
    if refused is None:
        return message
    expected = message.replace("Input should be", "it must be").partition(", unable to parse")[0]
    return f"{expected}; got {quote(refused()[0]['input'])}"


if __name__ == "__main__":
    sys.exit(main())
