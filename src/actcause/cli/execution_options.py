"""How commands are told where to run: the same words everywhere."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

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
