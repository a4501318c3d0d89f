"""Seven small worlds with known rules, each of a kind that no domain here is of.

They are there to see how a learner does where nobody looked while it was built. All episodes of a recording are played
side by side; a world yields, step by step, what every factor is, what the outcome becomes, and which factors cause it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.transitions import Transitions

Array = np.ndarray[Any, Any]
Generator = np.random.Generator
Step = tuple[dict[str, Any], Any, dict[str, Array]]  # features of each factor, the outcome, and who caused it


@dataclass(frozen=True)
class RuleWorld:
    """A world: the features of its factors, what the outcome is, and how `count` episodes are played."""

    summary: str
    features: Mapping[str, tuple[str, ...]]
    outcome: tuple[str, ...]
    play: Callable[[Generator, int], Iterator[Step]]
    steps: int
    categorical: tuple[str, ...] = ()

    @property
    def own(self) -> str:
        """The factor whose next value is the outcome: the first."""
        return next(iter(self.features))

    @property
    def classes(self) -> dict[str, str]:
        """Factors that are called alike but for a number are of one class."""
        return {name: name.rstrip("0123456789") for name in self.features}


def record_rules(name: str, rows: int, seed: int) -> Transitions:
    """Record so many rows of a world, in whole episodes.

    >>> record_rules("pursuit", 200, seed=0)
    <Transitions: 200 rows in 5 episodes of prey, hunter1, hunter2, hunter3, hunter4, hunter5; outcome prey, true causes known>
    """  # noqa: E501
    world = RULE_WORLDS[name]
    count = -(-rows // world.steps)
    names, width = list(world.features), max(map(len, world.features.values()))
    state = np.zeros((count, world.steps, len(names), width))
    outcome = np.zeros((count, world.steps, len(world.outcome)))
    cause = np.zeros((count, world.steps, len(names)), bool)
    cause[:, :, 0] = True
    played = world.play(np.random.default_rng(seed), count)
    for step, (seen, came, caused) in zip(range(world.steps), played, strict=False):
        for position, factor in enumerate(names):
            for feature, values in enumerate(np.atleast_2d(np.asarray(seen[factor], dtype=float))):
                state[:, step, position, feature] = values
            if factor in caused:
                cause[:, step, position] = caused[factor]
        outcome[:, step] = np.atleast_2d(np.asarray(came, dtype=float)).T
    return Transitions(
        factors=names,
        state=state.reshape(-1, len(names), width)[:rows],
        outcome=outcome.reshape(-1, len(world.outcome))[:rows],
        cause=cause.reshape(-1, len(names))[:rows],
        episode=np.repeat(np.arange(count), world.steps)[:rows],
        own=world.own,
        features=world.features,
        outcome_features=world.outcome,
        classes=world.classes,
        categorical=list(world.categorical),
    )


def _stay_inside(places: Array, velocities: Array, size: float) -> tuple[Array, Array]:
    """Bounce off the walls of a square."""
    out = (places < 0) | (places > size)
    return np.clip(places, 0, size), np.where(out, -velocities, velocities)


def _find_nearest(places: Array, mine: Array, counts: Array | bool = True) -> tuple[Array, Array]:
    """Find who is nearest of those that count, (episodes,), and how far it is."""
    apart = np.where(counts, np.linalg.norm(places - mine[:, None], axis=-1), np.inf)
    return apart.argmin(axis=1), apart.min(axis=1)


def _blame(names: list[str], who: Array, when: Array) -> dict[str, Array]:
    """Name the one of several that did it, in the episodes in which somebody did."""
    return {name: when & (who == position) for position, name in enumerate(names)}


# -- the worlds ------------------------------------------------------------------------------------


def _play_pursuit(random: Generator, count: int) -> Iterator[Step]:
    """Let a prey drift until a hunter comes near; then it runs from the nearest. Two of five hunters follow it."""
    size, hunters = 10.0, [f"hunter{k + 1}" for k in range(5)]
    prey, speed = random.uniform(0, size, (count, 2)), random.normal(0, 0.3, (count, 2))
    places, speeds = random.uniform(0, size, (count, 5, 2)), random.normal(0, 0.6, (count, 5, 2))
    follows = (np.arange(5) < 2)[None, :, None]
    while True:
        seen = {"prey": [*prey.T, *speed.T]} | {h: [*places[:, k].T, *speeds[:, k].T] for k, h in enumerate(hunters)}
        who, far = _find_nearest(places, prey)
        near = far < 1.8
        away = (prey - places[np.arange(count), who]) / np.maximum(far, 0.1)[:, None]
        speed = np.where(near[:, None], 0.8 * away, 0.9 * speed) + random.normal(0, 0.02, (count, 2))
        moved = prey + speed
        speed = np.where((moved < 0) | (moved > size), -0.5 * speed, speed)
        prey = np.clip(moved, 0, size)
        yield seen, [*prey.T, *speed.T], _blame(hunters, who, near)
        speeds = 0.9 * speeds + random.normal(0, 0.3, speeds.shape) + 0.03 * (prey[:, None] - places) * follows
        places, speeds = _stay_inside(places + speeds, speeds, size)


def _play_crafting(random: Generator, count: int) -> Iterator[Step]:
    """Make an axe at a table, by the right action, from wood and stone; it breaks at a tree."""
    size, moves = 4, np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0], [0, 0]])
    agent, table, tree = (random.integers(0, size, (count, 2)) for _ in range(3))
    wood, stone = random.integers(0, 3, (2, count))
    axe, mood = random.integers(0, 2, count), random.integers(0, 4, count)
    while True:
        target = np.where(axe[:, None] == 0, table, tree) - agent
        sideways = np.abs(target[:, 0]) > np.abs(target[:, 1])
        step = np.where(sideways, np.where(target[:, 0] > 0, 2, 3), np.where(target[:, 1] > 0, 0, 1))
        wise = np.where(np.abs(target).sum(axis=1) > 1, step, np.where(axe == 0, 4, 5))
        action = np.where(random.random(count) < 0.4, wise, random.integers(0, 6, count))
        seen = {
            "axe": axe, "action": action, "agent": agent.T, "table": table.T, "tree": tree.T, "bag": [wood, stone],
            "mood": mood,
        }  # fmt: skip
        at_table, at_tree = (np.abs(agent - place).sum(axis=1) <= 1 for place in (table, tree))
        made = (axe == 0) & (action == 4) & at_table & (wood > 0) & (stone > 0)
        broke = (axe == 1) & (action == 5) & at_tree
        axe = np.where(made, 1, np.where(broke, 0, axe))
        event = made | broke
        yield seen, axe, {"action": event, "agent": event, "table": made, "tree": broke, "bag": made}
        found = random.random((2, count)) < 0.1
        wood, stone = (
            np.where(made, had - 1, np.minimum(had + f, 2)) for had, f in zip((wood, stone), found, strict=True)
        )
        agent = np.clip(agent + moves[action], 0, size - 1)


def _play_contagion(random: Generator, count: int) -> Iterator[Step]:
    """Six people walk about, some of them sick; the nearest sick one, if near, gives a dose by how near it is."""
    size, others = 6.0, [f"person{k + 1}" for k in range(6)]
    places, speeds = random.uniform(0, size, (count, 7, 2)), random.normal(0, 0.4, (count, 7, 2))
    sick, dose = random.random((count, 7)) < 0.4, random.uniform(0, 0.3, count)
    while True:
        seen: dict[str, Any] = {"me": [*places[:, 0].T, sick[:, 0], dose]}
        seen |= {name: [*places[:, k + 1].T, sick[:, k + 1]] for k, name in enumerate(others)}
        who, far = _find_nearest(places[:, 1:], places[:, 0], sick[:, 1:])
        near = far < 1.2
        dose = 0.8 * dose + np.where(near, 0.5 * (1.2 - np.minimum(far, 1.2)), 0) + random.normal(0, 0.005, count)
        yield seen, dose, _blame(others, who, near)
        speeds = 0.8 * speeds + random.normal(0, 0.25, speeds.shape)
        places, speeds = _stay_inside(places + speeds, speeds, size)
        sick = sick ^ (random.random(sick.shape) < 0.05)


def _brake_for(gap: Array, closing: Array, speed: Array) -> Array:
    """Compute the braking term of the Intelligent Driver Model (Treiber, Hennecke & Helbing 2000)."""
    wanted = np.maximum(2 + speed + speed * closing / (2 * np.sqrt(3)), 0)
    return np.asarray(1.5 * (wanted / np.maximum(gap, 0.5)) ** 2)


def _play_traffic(random: Generator, count: int) -> Iterator[Step]:
    """Brake for what asks for most: the car ahead, a red light, or somebody on the road."""
    walkers = [f"walker{k + 1}" for k in range(3)]
    mine, speed = random.uniform(-60, 0, count), random.uniform(3, 12, count)
    ahead, its_speed = mine + random.uniform(8, 60, count), random.uniform(3, 12, count)
    light, red = random.uniform(20, 80, count), random.integers(0, 2, count)
    along, across = random.uniform(0, 120, (count, 3)), random.uniform(-6, 6, (count, 3))
    pace = random.choice([-1.0, 1.0], (count, 3)) * random.uniform(0.5, 1.5, (count, 3))
    while True:
        seen: dict[str, Any] = {"ego": [mine, speed], "lead": [ahead, its_speed], "light": [light, red]}
        seen |= {name: [along[:, k], across[:, k], pace[:, k]] for k, name in enumerate(walkers)}
        terms = np.zeros((count, 5))
        terms[:, 0] = np.where(ahead > mine, _brake_for(ahead - mine - 4, speed - its_speed, speed), 0)
        terms[:, 1] = np.where((red == 1) & (light > mine), _brake_for(light - mine, speed, speed), 0)
        on_road = (np.abs(across) < 2) & (along > mine[:, None])
        gap, pressed = along - mine[:, None] - 1, np.broadcast_to(speed[:, None], along.shape)
        terms[:, 2:] = np.where(on_road, _brake_for(gap, pressed, pressed), 0)
        freely = 1.5 * (1 - (speed / 12) ** 4)
        free, braked = (np.maximum(speed + 0.3 * np.clip(a, -6, 2), 0) for a in (freely, freely - terms.max(axis=1)))
        speed = braked
        yield seen, speed, _blame(["lead", "light", *walkers], terms.argmax(axis=1), free - braked > 0.09)
        mine, ahead = mine + 0.3 * speed, ahead + 0.3 * its_speed
        its_speed = np.clip(its_speed + random.normal(0, 0.8, count), 0, 14)
        red = np.where(random.random(count) < 0.05, 1 - red, red)
        across = across + 0.3 * pace
        pace = np.where(np.abs(across) > 6, -np.sign(across) * np.abs(pace), pace)
        light = np.where(light < mine - 5, mine + random.uniform(20, 80, count), light)
        along = np.where(along < mine[:, None] - 5, mine[:, None] + random.uniform(10, 100, along.shape), along)
        ahead = np.where(ahead < mine + 3, mine + random.uniform(10, 60, count), ahead)


def _play_room(random: Generator, count: int) -> Iterator[Step]:
    """Warm a room by a heater and by three people; an open window lets in what is outside."""
    warmth, power, outside = (
        random.uniform(10, 28, count),
        random.uniform(0.5, 3, count),
        random.uniform(-10, 30, count),
    )
    heater, lamp, people = random.integers(0, 2, count), random.integers(0, 2, count), random.integers(0, 4, count)
    window = random.random(count) < 0.2
    while True:
        seen = {
            "room": warmth, "heater": [heater, power], "window": window, "outside": outside, "people": people,
            "lamp": lamp,
        }  # fmt: skip
        warmed, crowded = heater == 1, people == 3
        change = 0.03 * (18 - warmth) + 0.5 * warmed * power + 0.15 * window * (outside - warmth) + 0.4 * crowded
        warmth = warmth + change + random.normal(0, 0.02, count)
        yield seen, warmth, {"heater": warmed, "window": window, "outside": window, "people": crowded}
        heater = np.where(random.random(count) < 0.15, warmth < 20, heater).astype(int)
        power = np.clip(power + random.normal(0, 0.3, count), 0.5, 3)
        window = window ^ (random.random(count) < np.where(window, 0.25, 0.05))
        outside = np.clip(outside + random.normal(0, 2, count), -10, 30)
        people = np.where(random.random(count) < 0.3, random.integers(0, 4, count), people)
        lamp = random.integers(0, 2, count)


def _play_wheel(random: Generator, count: int) -> Iterator[Step]:
    """Turn a wheel, whose angle begins anew after a turn; the nearest of four hands, if near, changes its spin."""
    hands = [f"hand{k + 1}" for k in range(4)]
    angle, spin = random.uniform(-np.pi, np.pi, count), random.normal(0, 0.2, count)
    centre, places = random.uniform(1, 5, (count, 2)), random.uniform(0, 6, (count, 4, 2))
    kick = random.uniform(-0.6, 0.6, (count, 4))
    while True:
        seen: dict[str, Any] = {"wheel": [*centre.T, angle, spin]}
        seen |= {name: [*places[:, k].T, kick[:, k]] for k, name in enumerate(hands)}
        who, far = _find_nearest(places, centre)
        given = np.where(far < 1, kick[np.arange(count), who], 0)
        turning = 0.95 * spin + given
        angle = (angle + turning + np.pi) % (2 * np.pi) - np.pi
        yield seen, angle, _blame(hands, who, np.abs(given) > 0.03)
        spin = np.clip(turning, -1.5, 1.5)
        places = np.clip(places + random.normal(0, 0.5, places.shape), 0, 6)
        kick = np.clip(kick + random.normal(0, 0.15, kick.shape), -0.6, 0.6)


def _play_impacts(random: Generator, count: int) -> Iterator[Step]:
    """Let a charge decay; the nearest of four beams, if near, adds a dose whose variance is infinite."""
    beams = [f"beam{k + 1}" for k in range(4)]
    charge, cell = random.exponential(1, count), random.uniform(1, 5, (count, 2))
    places, dose = random.uniform(0, 6, (count, 4, 2)), random.pareto(1.1, (count, 4)) + 0.2
    while True:
        seen: dict[str, Any] = {"cell": [*cell.T, charge]}
        seen |= {name: [*places[:, k].T, dose[:, k]] for k, name in enumerate(beams)}
        who, far = _find_nearest(places, cell)
        charge = 0.8 * charge + np.where(far < 1, dose[np.arange(count), who], 0)
        yield seen, charge, _blame(beams, who, far < 1)
        places = np.clip(places + random.normal(0, 0.5, places.shape), 0, 6)
        dose = np.where(random.random(dose.shape) < 0.1, random.pareto(1.1, dose.shape) + 0.2, dose)


def _alike(name: str, count: int, *features: str) -> dict[str, tuple[str, ...]]:
    return {f"{name}{k + 1}": features for k in range(count)}


RULE_WORLDS: Mapping[str, RuleWorld] = {
    "pursuit": RuleWorld(
        "a prey runs from the nearest hunter",
        {"prey": ("x", "y", "vx", "vy"), **_alike("hunter", 5, "x", "y", "vx", "vy")},
        ("x", "y", "vx", "vy"), _play_pursuit, 40,
    ),
    "crafting": RuleWorld(
        "five things have to come together, all of them discrete",
        {
            "axe": ("has",), "action": ("kind",), "agent": ("x", "y"), "table": ("x", "y"), "tree": ("x", "y"),
            "bag": ("wood", "stone"), "mood": ("kind",),
        },
        ("has",), _play_crafting, 25, ("axe.has", "action.kind", "mood.kind"),
    ),
    "contagion": RuleWorld(
        "a dose from the nearest sick person",
        {"me": ("x", "y", "sick", "dose"), **_alike("person", 6, "x", "y", "sick")},
        ("dose",), _play_contagion, 20, ("me.sick", *(f"person{k + 1}.sick" for k in range(6))),
    ),
    "traffic": RuleWorld(
        "braking for the car ahead, a red light, or somebody on the road",
        {"ego": ("x", "v"), "lead": ("x", "v"), "light": ("x", "red"), **_alike("walker", 3, "x", "y", "vy")},
        ("v",), _play_traffic, 40, ("light.red",),
    ),
    "room": RuleWorld(
        "several causes that add up, most of the time",
        {
            "room": ("warmth",), "heater": ("on", "power"), "window": ("open",), "outside": ("warmth",),
            "people": ("count",), "lamp": ("on",),
        },
        ("warmth",), _play_room, 40, ("heater.on", "window.open", "lamp.on"),
    ),
    "wheel": RuleWorld(
        "an angle that begins anew after a turn",
        {"wheel": ("x", "y", "angle", "spin"), **_alike("hand", 4, "x", "y", "kick")}, ("angle",), _play_wheel, 40,
    ),
    "impacts": RuleWorld(
        "doses with a heavy tail",
        {"cell": ("x", "y", "charge"), **_alike("beam", 4, "x", "y", "dose")}, ("charge",), _play_impacts, 40,
    ),
}  # fmt: skip
