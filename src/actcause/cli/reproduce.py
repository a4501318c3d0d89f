"""The command `reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from . import options

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    NamesArgument = Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments to run, or 'all'; none lists them.")
    ]
    QuickOption = Annotated[bool, typer.Option("--quick", help="Small sizes: all of them in minutes on two cores.")]
    SizeOption = Annotated[
        str | None, typer.Option("--size", metavar="SIZE", help="full, small, quick or tiny.", show_default="full")
    ]
    ResultsOption = Annotated[
        Path | None, typer.Option("--results", metavar="DIR", help="Where results lie.", show_default="results")
    ]
    ExperimentsOption = Annotated[
        Path | None,
        typer.Option("--experiments", metavar="DIR", help="Where experiments lie.", show_default="experiments"),
    ]
    DocsOption = Annotated[
        Path | None, typer.Option("--docs", metavar="DIR", help="Where pages go.", show_default="docs/results")
    ]
    DeviceOption = Annotated[str, typer.Option("--device", metavar="NAME", help="cpu, cuda, or auto: cuda if there.")]
    TogetherOption = Annotated[
        int | None,
        typer.Option(
            "--together", metavar="N", min=1, help="Seeds trained as one computation.", show_default="on a GPU all"
        ),
    ]
    OnlyOption = Annotated[
        list[str] | None,
        typer.Option("--only", metavar="FIELD=VALUES", help="Some pieces, such as domain=push,break; repeatable."),
    ]
    StaleOption = Annotated[bool, typer.Option("--keep-stale", help="Run what is missing, not what is stale.")]
    BudgetOption = Annotated[
        float | None, typer.Option("--max-seconds", metavar="SECONDS", help="Begin nothing new after this long.")
    ]
    ArchiveOption = Annotated[
        Path | None, typer.Option("--archive", metavar="FILE", help="Also add each result to this file of JSON lines.")
    ]
    TakeOption = Annotated[
        Path | None, typer.Option("--take", metavar="FILE", help="Merge the results of such a file.")
    ]
    CertifyOption = Annotated[
        str | None,
        typer.Option("--certify", metavar="COMMIT", help="Show that this tree gives what that commit gave: minutes."),
    ]
    PagesOption = Annotated[bool, typer.Option("--pages", help="Write the pages and the README's table from results.")]


def reproduce(
    names: NamesArgument = None,
    quick: QuickOption = False,
    size: SizeOption = None,
    only: OnlyOption = None,
    keep_stale: StaleOption = False,
    device: DeviceOption = "auto",
    together: TogetherOption = None,
    max_seconds: BudgetOption = None,
    workers: options.WorkersOption = None,
    engine: options.EngineOption = "local",
    address: options.AddressOption = None,
    results: ResultsOption = None,
    experiments: ExperimentsOption = None,
    docs: DocsOption = None,
    archive: ArchiveOption = None,
    take: TakeOption = None,
    certify: CertifyOption = None,
    pages: PagesOption = False,
    as_json: options.JsonOption = False,
) -> int:
    """List the tables and figures of the paper and ours with their state, or make some of them.

    Each piece (a domain, a method and a seed, say) is saved as it ends: what was cut off goes on from there, and what
    is there for these settings, made by this code or by code that is certified to give the same, is not run again.
    """
    from ..reproduction.request import Request
    from ..reproduction.request import reproduce as answer

    return answer(
        Request(
            tuple(names or ()), size or ("quick" if quick else "full"), results, experiments, docs, device, together,
            tuple(only or ()), keep_stale, max_seconds, archive, take, certify, pages, as_json,
            workers, engine, address,
        )
    )  # fmt: skip


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    reproduce: (
        "actcause reproduce",
        "actcause reproduce mover",
        "actcause reproduce --quick --workers 2",
        "actcause reproduce accuracy --only domain=1-in,push --only method=jaci-em",
        "actcause reproduce --pages",
    ),
}
