"""The command `reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from . import options
from .options import option

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    NamesArgument = Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Experiments to run, 'rl' for those of rl, or 'all'."),
    ]
    QuickOption = Annotated[bool, option("--quick", "Small sizes: all of them in minutes on two cores.")]
    SizeOption = Annotated[str | None, option("--size SIZE", "full, small, quick or tiny.", default="full")]
    ResultsOption = Annotated[Path | None, option("--results DIR", "Where results lie.", default="results")]
    ExperimentsOption = Annotated[
        Path | None, option("--experiments DIR", "Where experiments lie.", default="experiments")
    ]
    DocsOption = Annotated[Path | None, option("--docs DIR", "Where pages go.", default="docs/results")]
    DeviceOption = Annotated[str, option("--device NAME", "cpu, cuda, or auto: cuda if there.")]
    TogetherOption = Annotated[
        int | None, option("--together N", "Seeds trained as one computation.", min=1, default="on a GPU all")
    ]
    OnlyOption = Annotated[
        list[str] | None, option("--only FIELD=VALUES", "Some pieces, such as domain=push,break; repeatable.")
    ]
    StaleOption = Annotated[bool, option("--keep-stale", "Run what is missing, not what is stale.")]
    BudgetOption = Annotated[float | None, option("--max-seconds SECONDS", "Begin nothing new after this long.")]
    ArchiveOption = Annotated[Path | None, option("--archive FILE", "Also add each result to this file of JSON lines.")]
    TakeOption = Annotated[Path | None, option("--take FILE", "Merge the results of such a file.")]
    CertifyOption = Annotated[
        str | None, option("--certify COMMIT", "Show that this tree gives what that commit gave: minutes.")
    ]
    PagesOption = Annotated[bool, option("--pages", "Write the pages and the README's table from results.")]


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
    )
}
