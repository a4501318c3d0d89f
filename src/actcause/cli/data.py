"""The commands about recordings: `domains`, `collect`, `describe`, `convert` and `replay`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..io.atomic import exit_on_terminate
from ..io.console import print_json
from ..io.settings import parse_setting
from . import options
from .graphs import collect_whole, load_whole
from .options import option
from .predict import choose_mapping
from .progress import show_rows

if TYPE_CHECKING:
    from ..data import Description, Recording

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from .graphs import OutcomeOption
    from .options import MappingOption

    DomainArgument = Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain: see 'actcause domains'.")]
    FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet or CSV file of transitions.")]
    OutOption = Annotated[Path, option("--out FILE", "Where to write.")]
    FramesOption = Annotated[int, option("--frames N", "How many transitions.", min=1)]
    SeedOption = Annotated[int, option("--seed S", "Fixes the rollouts.", min=0)]
    DrawOption = Annotated[int | None, option("--draw D", "Fixes the domain's random parameters.", min=0, default="S")]
    PolicyOption = Annotated[str, option("--policy NAME", "random, or scripted where there is one.")]
    SetOption = Annotated[
        list[str] | None, option("--set NAME=VALUE", "A parameter of the domain, such as obstacles=5; repeatable.")
    ]
    EpisodeOption = Annotated[int | None, option("--episode E", "Which one.", default="the first with an event")]


def domains(as_json: options.JsonOption = False) -> None:
    """List the domains: their factors, the outcome, and how often each edge fires.

    Other people's simulators come last, with the extra that installs each and its licence.
    """
    from ..data import describe_domain, domain_names

    listed = [describe_domain(name) for name in domain_names()]
    if as_json:
        print_json(listed)
        return
    from . import render

    ours = [
        (*_name_domain(domain), ", ".join(f"{factor} {rate:.1%}" for factor, rate in domain["rates"].items()))
        for domain in listed
        if domain["needs"] is None
    ]
    render.show(render.draw_table("name", "title", "factors", "outcome", "how often a cause", rows=ours))
    others = [(*_name_domain(domain), _write_needs(**domain["needs"])) for domain in listed if domain["needs"]]
    render.show(render.draw_table("name", "title", "factors", "outcome", "needs", rows=others))


def collect(
    domain: DomainArgument,
    out: OutOption,
    frames: FramesOption = 100_000,
    seed: SeedOption = 0,
    draw: DrawOption = None,
    policy: PolicyOption = "random",
    parameters: SetOption = None,
    outcome: OutcomeOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Record transitions of a domain, each with its true cause, into one Parquet file.

    The draw fixes the domain's random parameters, where it has any, and the seed the rollouts: the
    same two give the same data. Other parameters are set by name, such as --set obstacles=5 or
    --set rate=0.1. Nothing stands under the final name before all of it is written. With --outcome all
    whole states are recorded, every factor before and after, with the true causes of each.
    """
    from .. import data

    given = dict(parse_setting(text, "obstacles=5", {"draw": "--draw"}) for text in parameters or ())
    world = data.make_seeded_domain(domain, seed, draw, **given)
    if outcome is not None:
        collect_whole(world, outcome, out, frames, seed, policy, domain)
    else:
        with exit_on_terminate(), show_rows() as progress:
            data.collect(world, frames, seed, out=out, policy=policy, metadata={"domain": domain}, progress=progress)
    document = {"out": str(out), "domain": domain, "frames": frames, "seed": seed, "bytes": out.stat().st_size}
    if as_json:
        print_json(document)
    else:
        print(f"{frames:,} transitions of {domain} in {out} ({document['bytes']:,} bytes)")


def describe(file: FileArgument, mapping: MappingOption = None, as_json: options.JsonOption = False) -> None:
    """Show what is in a file: factors, rates of causes, episodes, spread, share of clipped values."""
    from .. import data

    whole = load_whole(file)
    if whole is not None:
        _describe_whole(whole, as_json)
        return
    description = data.describe(file, choose_mapping(file, mapping))
    if as_json:
        print_json(description.to_json())
        return
    from . import render

    rows = [
        (name, ", ".join(factor.features), _number(factor.spread), _percent(factor.clipped), _percent(factor.rate))
        for name, factor in description.factors.items()
    ]
    render.show(_headline(description))
    render.show(render.draw_table("factor", "features", "spread", "clipped", "a cause", rows=rows))
    for note in description.notes:
        render.show(note)


def convert(
    file: FileArgument, out: OutOption, mapping: MappingOption = None, as_json: options.JsonOption = False
) -> None:
    """Turn a CSV or Parquet file of your own into transitions.

    Columns named factor.feature and next.factor.feature are understood as they are, and names such as ball_x and
    ball_x_next are guessed; for others --mapping, or the file FILE.mapping.json that the explorer keeps, says which
    are which.
    """
    from .. import data

    with exit_on_terminate():
        rows = data.convert(file, choose_mapping(file, mapping), out)
    if as_json:
        print_json({"out": str(out), "rows": rows})
    else:
        print(f"{rows:,} transitions in {out}")


def replay(
    file: FileArgument, out: OutOption, episode: EpisodeOption = None, as_json: options.JsonOption = False
) -> None:
    """Write an episode of a recording as a film, GIF or MP4, with an arrow from each cause to the outcome.

    Causes that 'actcause predict' found are drawn as dashed arrows. Of whole states those of the domain's own outcome
    are drawn.
    """
    from ..data import film_recording

    film = film_recording(file, out, episode=episode)
    if as_json:
        print_json({"out": str(out), "episode": film.episode, "steps": film.steps})
    else:
        print(f"episode {film.episode}, {film.steps} steps, in {out}")


def _describe_whole(recording: Recording, as_json: bool) -> None:
    """Show how often each factor is a cause of each outcome."""
    if as_json:
        print_json(recording.to_json())
        return
    from . import render

    episodes = len(set(recording.episode.tolist()))
    render.show(f"{len(recording):,} rows of whole states in {episodes:,} episodes.")
    rates = recording.rates()
    rows = [
        (outcome, *(_percent(rates[outcome][factor]) if rates else "" for factor in recording.factors))
        for outcome in recording.outcomes
    ]
    render.show(render.draw_table("outcome, caused by", *recording.factors, rows=rows))


# -- helpers ---------------------------------------------------------------------------------------


def _headline(description: Description) -> str:
    episodes = (
        "no episodes"
        if description.episodes is None
        else f"{description.episodes:,} episodes of {description.mean_length:.1f} rows"
    )
    still = "" if description.still is None else f"; it stays as it was in {description.still:.1%} of the rows"
    return f"{description.rows:,} rows, {episodes}; the outcome is {description.outcome_factor}{still}."


def _name_domain(domain: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return domain["name"], domain["title"], ", ".join(_join_numbered(domain["factors"])), domain["outcome"]


def _join_numbered(factors: Sequence[str]) -> Iterator[str]:
    """Name the first and the last of four or more factors that are numbered, and each of the others.

    >>> list(_join_numbered(["ball", *(f"column{number}" for number in range(1, 19))]))
    ['ball', 'column1 to column18']
    """
    for _, group in groupby(factors, lambda name: name.rstrip("0123456789")):
        alike = list(group)
        yield from alike if len(alike) < 4 else [f"{alike[0]} to {alike[-1]}"]


def _write_needs(simulator: str, licence: str, extra: str, installed: bool) -> str:
    """Write what a world takes: its simulator, which extra brings it, and under which licence."""
    there = "installed" if installed else f"pip install 'actcause[{extra}]'"
    return f"{simulator} ({licence}), extra {extra}: {there}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    domains: ("actcause domains", "actcause domains --json"),
    collect: (
        "actcause collect break --frames 20000 --seed 1 --out break.parquet",
        "actcause collect 2-in --frames 20000 --seed 1 --draw 7 --out two.parquet",
        "actcause collect push --frames 20000 --outcome all --out states.parquet",
        "actcause collect push --frames 20000 --set obstacles=5 --set noise=0.02 --out push.parquet",
        'actcause collect 1-in --set "relations=a1, a2 -> y; a3 -> y" --set rate=0.2 --out own.parquet',
    ),
    describe: ("actcause describe break.parquet", "actcause describe mine.csv --mapping mine.toml"),
    replay: ("actcause replay break.parquet --out episode.gif",),
    convert: ("actcause convert mine.csv --mapping mine.toml --out mine.parquet",),
}
