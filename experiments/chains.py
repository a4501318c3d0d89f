"""Ours: chains from an event back to actions, held against the simulator by playing episodes again.

    actcause reproduce chains
    actcause reproduce chains --only graphs=true     # without a training

In 1,000 episodes of `push`, `break` and `mujoco-pucks` an event is traced back, through the true local graphs and
through learned ones: `ContactGraphs`, which learn what each factor does by itself and who was there when it did
something else, and `LocalGraphs` after a short training. Then the episode is played again from its beginning with some
of its actions changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import uses_graphs
from actcause.reproduction.tables import list_missing, table

DOMAINS = ("push", "break", "mujoco-pucks")
KINDS = ("true", "contacts", "learned")
EVENTS = {
    "push": "where the block is at the end",
    "break": "the last hit of a block",
    "mujoco-pucks": "the target's motion at the end",
}
METHOD = "jaci-em"


@dataclass(frozen=True)
class Arguments:
    """Which domains, how many episodes, and how long graphs are learned."""

    domains: tuple[str, ...] = DOMAINS
    graphs: tuple[str, ...] = KINDS
    seeds: tuple[int, ...] = (0, 1, 2, 3)
    episodes: int = 250
    frames: int = 10_000
    options: Mapping[str, Any] = field(default_factory=lambda: {"steps": 600, "distil_steps": 300, "width": 32})
    contact_steps: int = 1500


@dataclass(frozen=True)
class Piece:
    """One domain with one kind of graphs and one seed."""

    domain: str
    graphs: str
    seed: int


FULL = Arguments()
SMALL = Arguments(seeds=(0,), episodes=100)
QUICK = Arguments(("push", "break"), KINDS, (0,), 50, 3000, {"steps": 100, "distil_steps": 50, "width": 16}, 300)
TINY = Arguments(("push",), KINDS, (0,), 8, 600, {"steps": 10, "distil_steps": 5, "width": 16, "batch": 64}, 10)


def pieces(arguments: Arguments) -> list[Piece]:
    """List every domain with both kinds of graphs."""
    return [
        Piece(domain, graphs, seed)
        for graphs in arguments.graphs
        for domain in arguments.domains
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Say how many episodes there are, and how graphs are learned."""
    known: dict[str, Any] = {"episodes": arguments.episodes}
    if piece.graphs != "true":
        known["frames"] = arguments.frames
    if piece.graphs == "contacts":
        known["contact_steps"] = arguments.contact_steps
    if piece.graphs == "learned":
        known["options"] = dict(arguments.options)
    return known


def uses(piece: Piece) -> tuple[str, ...]:
    """Name the parts that a result depends on."""
    return uses_graphs(piece.domain, METHOD if piece.graphs == "learned" else None)


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Record episodes, learn graphs where these are asked for, trace events and change actions."""
    return [_run_one(piece, arguments, device) for piece in pack]


def _run_one(piece: Piece, arguments: Arguments, device: str) -> dict[str, int]:
    from actcause.reproduction.chain_checks import check_chains, make_player

    player = make_player(piece.domain)
    graphs = None
    learner = None
    if piece.graphs != "true":
        length = len(player.record(1, 0))
        train = player.record(-(-arguments.frames // length), 1000 + piece.seed)
        learner = _make_learner(piece, arguments, device).fit(train)
    recording = player.record(arguments.episodes, piece.seed)
    if learner is not None:
        graphs = (learner.explain if piece.graphs == "contacts" else learner.predict)(recording)
    found = [player.find_happening(recording, episode) for episode in range(arguments.episodes)]
    return check_chains(player, recording, [one for one in found if one is not None], graphs, piece.seed)


def _make_learner(piece: Piece, arguments: Arguments, device: str) -> Any:
    if piece.graphs == "contacts":
        from actcause.rl import ContactGraphs

        return ContactGraphs(seed=piece.seed, steps=arguments.contact_steps)
    from actcause.learn import LocalGraphs

    return LocalGraphs(METHOD, seed=piece.seed, device=device, **arguments.options)


def page(results: Results) -> Page:
    """Show how often events stay and how often they are undone, and how right the links are."""
    totals = {
        (graphs, domain): total
        for graphs in results.every("graphs")
        for domain in results.every("domain")
        if (total := _add_up(results, graphs, domain))
    }

    def show(columns: Mapping[str, Callable[[Mapping[str, int]], str]]) -> str:
        rows = [[*where, *(column(total) for column in columns.values())] for where, total in totals.items()]
        return table(["graphs", "domain", *columns], rows)

    explained = "; ".join(f"in `{domain}` {EVENTS[domain]}" for domain in results.every("domain"))
    body = "\n\n".join(
        [
            f"An event is {explained}. Events that no action has a part in are left out. Of each the "
            "[chain](../local-graphs.md#chains) is traced back, and the episode is played again from its beginning.",
            "**Actions off the chain** are changed, all of them at once: to *rest* (0), or to others drawn at random. "
            "Neither had a part in the event, but either can bring about a contact that never was: a pusher that goes "
            "elsewhere may hit the block, and one that rests may stand in a puck's way. *New edge* counts the events "
            "that changed with an edge into the chain that was not there before, and *unexplained* those that changed "
            "without one, which must be none with true graphs.",
            show(KEPT),
            *_tell_kept({domain: total for (graphs, domain), total in totals.items() if graphs == "true"}),
            "**Actions on the chain** are changed to others drawn at random: all of them, or one. Beside it what one "
            "changed action off the chain undoes, which is chance.",
            show(UNDONE),
            "**The links** of a chain (this factor caused that one in this step) and the steps of the actions that it "
            "ends in, against those of the true chain.",
            show(LINKS),
            *_tell_missing(results),
        ]
    )
    arguments = results.arguments
    options = ", ".join(f"{name} {value}" for name, value in arguments.options.items())
    return Page(
        body,
        deviations=(
            "This is not in the paper, which names tracing through time as a use of actual causes.",
            f"*Learned* are `LocalGraphs` after a short training: {METHOD} on {arguments.frames:,} frames ({options}); "
            "*contacts* are `ContactGraphs` on as many, which know what became of each factor. They do not see "
            "a touch that changes nothing, such as that of a block which an obstacle holds.",
            "In mujoco-pucks an event counts as it was where the target is within one spread of its change in a step.",
        ),
    )


def _tell_kept(totals: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Say in a sentence whether events stayed as they were wherever no new edge came about, by true graphs."""
    counted = {domain: total for domain, total in totals.items() if "rest_new_edge" in total}
    if not counted:
        return []
    played = sum(2 * total["off"] for total in counted.values())
    changed = sum(2 * total["off"] - total["kept_resting"] - total["kept_random"] for total in counted.values())
    lost = sum(total["unexplained"] + total["rest_unexplained"] for total in counted.values())
    edge = f"{changed - lost:,} have a new edge into the chain, and {lost:,} changed without one"
    others = edge if lost else "all have a new edge into the chain"
    return [
        f"With true graphs, in {_join_names(counted)}: of {played:,} episodes played with other actions off the chain "
        f"{played - changed:,} kept the event; of the {changed:,} others {others}."
    ]


def _join_names(names: Iterable[str]) -> str:
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _tell_missing(results: Results) -> list[str]:
    """List the seeds of which no result is there."""
    there = {(one.piece["graphs"], one.piece["domain"], one.piece["seed"]) for one in results.records}
    lost: dict[str, list[str]] = {}
    for piece in pieces(results.arguments):
        if (piece.graphs, piece.domain, piece.seed) not in there:
            lost.setdefault(f"{piece.domain}, {piece.graphs} graphs", []).append(str(piece.seed))
    told = list_missing({where: f"seed {', '.join(seeds)}" for where, seeds in lost.items()})
    return [told] if told else []


def _add_up(results: Results, graphs: str, domain: str) -> dict[str, int]:
    """Add up what the seeds gave; empty where there is none."""
    found = [one.value for one in results.where(domain=domain, graphs=graphs)]
    # What a result of an older revision does not have is left out.
    names = [name for name in (found[0] if found else {}) if all(name in value for value in found)]
    return {name: sum(value[name] for value in found) for name in names}


def _count(name: str) -> Callable[[Mapping[str, int]], str]:
    return lambda total: str(total.get(name, "—"))


def _share(part: str, whole: str) -> Callable[[Mapping[str, int]], str]:
    return lambda total: f"{total[part] / total[whole]:.1%}" if total[whole] else "—"


KEPT = {
    "events": _count("off"),
    "as it was, resting": _share("kept_resting", "off"),
    "new edge, resting": _count("rest_new_edge"),
    "unexplained, resting": _count("rest_unexplained"),
    "as it was, random": _share("kept_random", "off"),
    "new edge, random": _count("new_edge"),
    "unexplained, random": _count("unexplained"),
}
UNDONE = {
    "events": _count("on"),
    "undone, all": _share("undone_on_all", "on"),
    "undone, one": _share("undone_on_one", "on"),
    "undone, one off the chain": _share("undone_off_one", "off_one"),
}
LINKS = {
    "events": _count("events"),
    "reach actions": _share("reach_actions", "events"),
    "precision, links": _share("true_links", "links"),
    "recall, links": _share("true_links", "known_links"),
    "precision, actions": _share("true_steps", "steps"),
    "recall, actions": _share("true_steps", "known_steps"),
}


def missed(results: Results) -> list[str]:
    """Name what does not hold of true graphs."""
    wrong = []
    for domain in results.every("domain"):
        total = _add_up(results, "true", domain)
        lost = total.get("unexplained", 0) + total.get("rest_unexplained", 0)
        if lost:
            wrong.append(f"{domain}: {lost} events changed without a new edge")
    return wrong


EXPERIMENT = Experiment(
    name="chains",
    title="Chains held against the simulator",
    paper="Ours; the paper has no such table.",
    expected="30 min on two CPU cores",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=uses,
    order=32,
    missed=missed,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
