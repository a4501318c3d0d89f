"""The help of a command: its text wrapped to the terminal, an option a line or two, examples that can be pasted."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from textwrap import fill as fill_text
from typing import Any

NARROWEST, WIDEST = 60, 100
MOST_LEFT = 25  # columns of an option's name; what is longer has a line of its own

fill = partial(fill_text, break_on_hyphens=False, break_long_words=False)

Rows = Sequence[tuple[str, str]]


def describe_command(command: Any, context: Any, tries: Iterable[str]) -> str:
    """Write the help of one command."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    named = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    # The option that shows this help is made with the context, and is no parameter of the function.
    named += [each for each in command.get_params(context) if "--help" in each.opts and each not in named]
    usage = " ".join([context.command_path, "[OPTIONS]", *map(_name_argument, arguments)])
    return _join(
        [f"Usage: {usage}", *_wrap(command.help or "")],
        _draw("Arguments", [(each.metavar or each.name, each.help or "") for each in arguments if each.help]),
        _draw("Options", [(_name_option(each), _describe(each)) for each in named]),
        _draw_tries(tries),
    )


def describe_group(group: Any, context: Any, tries: Iterable[str]) -> str:
    """Write the help of the whole: its commands, each in a line."""
    commands = [(name, _shorten(group.commands[name].help or "")) for name in group.list_commands(context)]
    named = [each for each in group.get_params(context) if each.param_type_name == "option"]
    return _join(
        [f"Usage: {context.command_path} COMMAND [OPTIONS]", *_wrap(group.help or "")],
        _draw("Commands", commands),
        _draw("Options", [(_name_option(each), _describe(each)) for each in named]),
        _draw_tries(tries),
    )


def split_command(line: str, width: int) -> str:
    r"""Split a long command, before options where it can be, with the backslashes that a shell takes for one line.

    >>> print(split_command("actcause train break.parquet --out run --resume", 36))
    actcause train break.parquet \
        --out run --resume
    """
    lines = [""]
    for group in _group_words(line):
        whole = len(f"{lines[-1]} {' '.join(group)}") <= width - 2
        for position, word in enumerate(group):
            if lines[-1].strip() and not (whole or (position and len(f"{lines[-1]} {word}") <= width - 2)):
                lines.append("   ")
            lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def _group_words(line: str) -> list[list[str]]:
    """Group the words of a command: those before the first option, then each option with its values."""
    groups: list[list[str]] = [[]]
    for word in _keep_quotes(line):
        if word.startswith("-"):
            groups.append([])
        groups[-1].append(word)
    return groups


# -- parts -----------------------------------------------------------------------------------------


def _width() -> int:
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((80, 24)).columns))


def _join(*parts: Sequence[str]) -> str:
    return "\n\n".join("\n".join(part) for part in parts if part)


def _wrap(text: str) -> Iterator[str]:
    """Wrap paragraphs; a blank line before each."""
    for paragraph in text.split("\n\n"):
        yield from ("", fill(paragraph, _width()))


def _draw(title: str, rows: Rows) -> list[str]:
    """Draw names and what they mean in two columns."""
    left = max((len(name) for name, _ in rows if len(name) <= MOST_LEFT), default=0) + 4
    lines = []
    for name, about in rows:
        head = f"  {name}"
        if len(head) > left - 2:
            lines.append(head)
            head = ""
        lines.append(fill(about, _width(), initial_indent=head.ljust(left), subsequent_indent=" " * left) or head)
    return [f"{title}:", *lines] if lines else []


def _draw_tries(tries: Iterable[str]) -> list[str]:
    return ["Examples:", *(split_command(line, _width()) for line in tries)]


def _shorten(text: str) -> str:
    """Take the first sentence of a text.

    >>> _shorten("Ask what caused it. Or whether this did.")
    'Ask what caused it.'
    """
    first = text.split("\n\n")[0]
    ends = [at for mark in (". ", "? ", ": ", "; ") if (at := first.find(mark)) > 0]
    return f"{first[: min(ends)]}{'?' if first[min(ends)] == '?' else '.'}" if ends else first


def _keep_quotes(line: str) -> list[str]:
    """Split a command into words that are still quoted as they were."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(lexer)


def _name_argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name = f"{name}..." if argument.nargs == -1 else name
    return name if argument.required else f"[{name}]"


def _name_option(option: Any) -> str:
    names = [*sorted(option.opts, key=len, reverse=True)[:1], *option.secondary_opts]
    return f"{'/'.join(names)} {option.metavar}" if option.metavar else "/".join(names)


def _describe(option: Any) -> str:
    """Say what an option is for, with its default and where else it is read from."""
    about = (option.help or "").strip()
    shown = getattr(option, "show_default", False)
    if isinstance(shown, str):
        about += f" [{shown}]"
    elif option.required:
        about += " [required]"
    elif shown and not getattr(option, "is_flag", False):
        with suppress(TypeError):
            about += f" [{option.default}]" if option.default not in (None, "", (), []) else ""
    return about + (f" [or ${option.envvar}]" if getattr(option, "envvar", None) else "")
