"""How commands are told where to run: the same words everywhere."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from ..errors import name_in_python

# Parameters of Python functions that have an option of the same name; those of domains and methods go by --set.
NAMED = frozenset(
    (
        *("context", "effect", "event", "definition", "solver", "alpha_sufficiency", "alpha_necessity", "max_causes"),
        *("outcome", "where", "out", "max_pairs", "max_states", "max_seconds", "device", "seed", "resume", "overwrite"),
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


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from ..parallel import ENGINES

    Workers = Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="How many processes share the work; results are the same.",
            show_default="1, on a Ray cluster all",
        ),
    ]
    EngineName = Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="Who runs them: local (this machine) or ray.",
            autocompletion=lambda incomplete: [name for name in ENGINES if name.startswith(incomplete)],
        ),
    ]
    Address = Annotated[
        str | None,
        typer.Option(
            "--address", metavar="HOST:PORT", help="A Ray cluster that is there.", show_default="one of its own"
        ),
    ]
