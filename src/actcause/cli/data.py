"""The commands about recordings: `domains`, `collect`, `describe`, `convert` and `replay`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import QueryError
from ..io.console import print_json
from ..io.signals import exit_on_terminate
from ..questions import source as sources

if TYPE_CHECKING:
    from ..data import Description, Transitions
    from ..envs import Domain

RATE_FRAMES = 20_000

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    DomainArgument = Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain: see 'actcause domains'.")]
    FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet or CSV file of transitions.")]
    OutOption = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write.")]
    MappingOption = Annotated[
        Path | None, typer.Option("--mapping", metavar="FILE", help="JSON or TOML: which columns are which factors.")
    ]
    FramesOption = Annotated[int, typer.Option("--frames", metavar="N", min=1, help="How many transitions.")]
    SeedOption = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Fixes the rollouts.")]
    DrawOption = Annotated[
        int | None,
        typer.Option("--draw", metavar="D", min=0, help="Fixes the domain's random parameters.", show_default="S"),
    ]
    PolicyOption = Annotated[
        str, typer.Option("--policy", metavar="NAME", help="random, or scripted where there is one.")
    ]
    SetOption = Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the domain, such as obstacles=5; repeatable."),
    ]
    EpisodeOption = Annotated[
        int | None, typer.Option("--episode", metavar="E", help="Which one.", show_default="the first with an event")
    ]


def domains(as_json: sources.JsonOption = False) -> None:
    """List the domains: their factors, the outcome, and how often each edge fires."""
    from .. import envs

    listed = [_domain_document(name, envs.make(name)) for name in envs.names()]
    if as_json:
        print_json(listed)
        return
    from . import render

    rows = [
        (
            domain["name"],
            domain["title"],
            ", ".join(domain["factors"]),
            domain["outcome"],
            ", ".join(f"{factor} {rate:.1%}" for factor, rate in domain["rates"].items()),
        )
        for domain in listed
    ]
    render.show(render.plain_table(("name", "title", "factors", "outcome", "how often a cause"), rows))


def _domain_document(name: str, domain: Domain) -> dict[str, Any]:
    """What there is to know of a domain; rates are those of a short random rollout."""
    from ..data import collect

    rates = collect(domain, RATE_FRAMES, 0).rates()
    return {
        "name": name,
        "title": domain.title,
        "factors": list(domain.factors),
        "features": {factor: list(features) for factor, features in domain.features.items()},
        "outcome": domain.outcome,
        "edges": list(domain.edges),
        "horizon": domain.horizon,
        "rates": {factor: round(float(rates[factor]), 4) for factor in domain.edges},
    }


def collect(
    domain: DomainArgument,
    out: OutOption,
    frames: FramesOption = 100_000,
    seed: SeedOption = 0,
    draw: DrawOption = None,
    policy: PolicyOption = "random",
    parameters: SetOption = None,
    as_json: sources.JsonOption = False,
) -> None:
    """Record transitions of a domain, each with its true cause, into one Parquet file.

    The draw fixes the domain's random parameters, where it has any, and the seed the rollouts: the
    same two give the same data. Other parameters are set by name, such as --set obstacles=5 or
    --set rate=0.1. Nothing stands under the final name before all of it is written.
    """
    from .. import envs
    from ..data import collect as record

    given = dict(sources.setting(text, "obstacles=5", {"draw": "--draw"}) for text in parameters or ())
    drawn = draw is not None or "draw" in envs.parameters(domain)
    world = envs.make(domain, **({"draw": seed if draw is None else draw} if drawn else {}), **given)
    try:
        with exit_on_terminate(), _bar(frames) as progress:
            record(world, frames, seed, out=out, policy=policy, metadata={"domain": domain}, progress=progress)
    except MemoryError:
        raise QueryError(f"A {domain} of this size does not fit into memory; set smaller parameters.") from None
    document = {"out": str(out), "domain": domain, "frames": frames, "seed": seed, "bytes": out.stat().st_size}
    if as_json:
        print_json(document)
    else:
        print(f"{frames:,} transitions of {domain} in {out} ({document['bytes']:,} bytes)")


def describe(file: FileArgument, mapping: MappingOption = None, as_json: sources.JsonOption = False) -> None:
    """What is in a file: factors, rates of causes, episodes, spread, share of clipped values."""
    from ..data import describe as look

    found = look(file, mapping)
    if as_json:
        print_json(found.to_json())
        return
    from . import render

    rows = [
        (
            name,
            ", ".join(factor.features),
            _number(factor.spread),
            _percent(factor.clipped),
            _percent(factor.rate),
        )
        for name, factor in found.factors.items()
    ]
    render.show(_headline(found))
    render.show(render.plain_table(("factor", "features", "spread", "clipped", "a cause"), rows))
    for note in found.notes:
        render.show(note)


def convert(
    file: FileArgument, out: OutOption, mapping: MappingOption = None, as_json: sources.JsonOption = False
) -> None:
    """Turn a CSV or Parquet file of your own into transitions.

    Columns named factor.feature and next.factor.feature are understood as they are; for others a
    small mapping file says which columns are which.
    """
    from ..data import convert as turn

    with exit_on_terminate():
        rows = turn(file, mapping, out)
    if as_json:
        print_json({"out": str(out), "rows": rows})
    else:
        print(f"{rows:,} transitions in {out}")


def replay(
    file: FileArgument, out: OutOption, episode: EpisodeOption = None, as_json: sources.JsonOption = False
) -> None:
    """Write an episode of a recording as a film, GIF or MP4, with an arrow from each cause to the outcome.

    Causes that 'actcause predict' found are drawn as dashed arrows.
    """
    from ..data import load
    from ..data.film import replay as film

    data = load(file)
    made = film(data, _recorded_in(data.metadata, file), out, episode=episode, predicted=_found(data))
    if as_json:
        print_json({"out": str(out), "episode": made.episode, "steps": made.steps})
    else:
        print(f"episode {made.episode}, {made.steps} steps, in {out}")


# -- helpers ---------------------------------------------------------------------------------------


def _recorded_in(known: Mapping[str, Any], file: Path) -> Domain:
    """The domain of a recording, from what the file says of it."""
    from .. import envs

    name = known.get("domain")
    if name not in envs.names():
        raise QueryError(f"{file} does not say in which domain it was recorded; only those recordings have pictures.")
    draw = {} if known.get("draw") is None else {"draw": known["draw"]}
    return envs.make(
        name, **{key: sources.as_tuples(value) for key, value in {**known.get("parameters", {}), **draw}.items()}
    )


def _found(data: Transitions) -> Any:
    """The causes that `predict` wrote beside the rows, if it did."""
    import numpy as np

    given = [data.extra.get(f"found.{factor}") for factor in data.factors]
    if all(column is None for column in given):
        return None
    return np.stack([np.zeros(len(data), dtype=bool) if column is None else column for column in given], axis=1)


def _headline(found: Description) -> str:
    episodes = (
        "no episodes" if found.episodes is None else f"{found.episodes:,} episodes of {found.mean_length:.1f} rows"
    )
    still = "" if found.still is None else f"; it stays as it was in {found.still:.1%} of the rows"
    return f"{found.rows:,} rows, {episodes}; the outcome is {found.outcome_factor}{still}."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("collecting", total=total)
        yield lambda done, _: progress.update(task, completed=done)


COMMANDS: Mapping[Callable[..., None], tuple[str, ...]] = {
    domains: ("actcause domains", "actcause domains --json"),
    collect: (
        "actcause collect break --frames 20000 --seed 1 --out break.parquet",
        "actcause collect 2-in --frames 20000 --seed 1 --draw 7 --out two.parquet",
        "actcause collect push --frames 20000 --set obstacles=5 --set noise=0.02 --out push.parquet",
        'actcause collect 1-in --set "relations=a1, a2 -> y; a3 -> y" --set rate=0.2 --out own.parquet',
    ),
    describe: ("actcause describe break.parquet", "actcause describe mine.csv --mapping mine.toml"),
    replay: ("actcause replay break.parquet --out episode.gif",),
    convert: ("actcause convert mine.csv --mapping mine.toml --out mine.parquet",),
}
