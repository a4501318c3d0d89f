"""Explanations of actions: scripted policies whose dependence is known, and how often the named factors are right.

    actcause reproduce rl_explain

A state of `push` has six factors besides the action: the pusher, the block, the target and three obstacles. Each policy
depends on two of them in some states and on one in others, by a rule that is written below; a set is right if it is
exactly that. Where either of two would have been enough by itself, both are right. Beside `explain_action` stand two
shortcuts: the factors whose exchange alone changes the action (`one by one`), and those in which it has a slope.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actcause.data import collect_recording
from actcause.envs import make
from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.tables import spread, table
from actcause.rl import explain_action

Array = Any
Policy = Callable[[Array], Array]
PUSHER, BLOCK, TARGET, FIRST, SECOND = 1, 2, 3, 4, 5  # factors of push
MIDDLE = 2.5  # of the arena
BAR = 98.0  # per cent of the states
STEP = 1e-4  # of a slope


# -- policies: each returns actions, and one or more sets of factors that each row's action depends on ---------


def toward(states: Array, one: int, other: Any) -> Array:
    """Return the direction from a factor to another, or to a place."""
    goal = states[:, other, :2] if isinstance(other, int) else np.asarray(other)
    way = goal - states[:, one, :2]
    return way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)


def chase_or_home(states: Array) -> tuple[Array, Array]:
    """On the left half go to the block; on the right half go to the middle, wherever the block is."""
    left = states[:, PUSHER, 0] < MIDDLE
    action = np.where(left[:, None], toward(states, PUSHER, BLOCK), toward(states, PUSHER, (MIDDLE, MIDDLE)))
    return action, _read(states, PUSHER, (left, BLOCK))


def block_to_target_or_up(states: Array) -> tuple[Array, Array]:
    """Where the block is low, go the way from it to the target; where it is high, go by its height alone."""
    low = states[:, BLOCK, 1] < MIDDLE
    height = np.stack([np.sin(states[:, BLOCK, 1]), np.cos(states[:, BLOCK, 1])], axis=1)
    action = np.where(low[:, None], toward(states, BLOCK, TARGET), height)
    return action, _read(states, BLOCK, (low, TARGET))


def avoid_one_of_two(states: Array) -> tuple[Array, Array]:
    """On the left flee from the first obstacle, on the right from the second, in a strip between just go down."""
    left, right = states[:, PUSHER, 0] < 2.0, states[:, PUSHER, 0] > 3.0
    down = np.stack([np.sin(states[:, PUSHER, 0]), -np.ones(len(states))], axis=1)
    fled = np.where(left[:, None], -toward(states, PUSHER, FIRST), -toward(states, PUSHER, SECOND))
    return np.where((left | right)[:, None], fled, down), _read(states, PUSHER, (left, FIRST), (right, SECOND))


def back_off_from_either(states: Array) -> tuple[Array, Array]:
    """Back off if the first or the second obstacle is on the left, each of which is enough; else go on."""
    first, second = (states[:, factor, 0] < MIDDLE for factor in (FIRST, SECOND))
    ways = np.zeros((2, *states.shape[:2]), dtype=bool)
    for way, (own, other) in zip(ways, ((FIRST, SECOND), (SECOND, FIRST)), strict=True):
        enough, instead = (first, second) if own == FIRST else (second, first)
        way[:, own] = enough | ~instead
        way[:, other] = ~enough  # alone where only it is on the left, with the own one where neither is
    return np.where((first | second)[:, None], [-1.0, 0.0], [1.0, 0.0]), ways


def _read(states: Array, always: int, *sometimes: tuple[Array, int]) -> Array:
    read = np.zeros((1, *states.shape[:2]), dtype=bool)
    read[:, :, always] = True
    for where, factor in sometimes:
        read[:, where, factor] = True
    return read


POLICIES: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "chase-or-home": chase_or_home,
    "block-to-target-or-up": block_to_target_or_up,
    "avoid-one-of-two": avoid_one_of_two,
    "back-off-from-either": back_off_from_either,
}


# -- the experiment ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arguments:
    """Which policies, and how many states are asked about."""

    policies: tuple[str, ...] = tuple(POLICIES)
    seeds: tuple[int, ...] = tuple(range(5))
    frames: int = 5000
    states: int = 1000


@dataclass(frozen=True)
class Piece:
    """One policy with one seed."""

    policy: str
    seed: int


FULL = Arguments()
QUICK = Arguments(seeds=(0,), frames=1000, states=200)
TINY = Arguments(("chase-or-home",), seeds=(0,), frames=200, states=10)


def pieces(arguments: Arguments) -> list[Piece]:
    """Every policy with every seed."""
    return [Piece(policy, seed) for policy in arguments.policies for seed in arguments.seeds]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and how many states are asked about."""
    return {"frames": arguments.frames, "states": arguments.states}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Let each policy act, and ask about some of its states."""
    return [measure(piece, arguments) for piece in pack]


def measure(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Compare what is named with what the action depends on."""
    scripted = POLICIES[piece.policy]

    def act(generator: np.random.Generator, states: Array) -> Array:
        return scripted(states)[0] + generator.normal(scale=0.3, size=(len(states), 2))  # so that it gets about

    def policy(states: Array) -> Array:
        return scripted(states)[0]

    recording = collect_recording(make("push"), arguments.frames, seed=piece.seed, policy=act, dtype="float64")
    rows = np.random.default_rng(piece.seed).choice(len(recording), arguments.states, replace=False)
    read = scripted(recording.state[rows])[1]
    named, alone = np.zeros((2, *read.shape[1:]), dtype=bool)
    for at, row in enumerate(rows.tolist()):
        found = explain_action(policy, recording, row, seed=piece.seed)
        named[at, [recording.index(factor) for factor in found.factors]] = True
        alone[at] = exchange_one_by_one(policy, recording.state, row)
    slope = find_slopes(policy, recording.state[rows])
    two = read[0].sum(axis=1) == 2
    right, right_alone, right_slope = ((one == read).all(axis=2).any(axis=0) for one in (named, alone, slope))
    return {
        "right": 100 * float(right.mean()),
        "right_two": 100 * float(right[two].mean()),
        "right_one": 100 * float(right[~two].mean()),
        "one_by_one": 100 * float(right_alone.mean()),
        "slope": 100 * float(right_slope.mean()),
        "two": 100 * float(two.mean()),
    }


def exchange_one_by_one(policy: Policy, states: Array, row: int, tries: int = 64) -> Array:
    """Name each factor whose exchange, with all others as they are, changes the action more often than 5%."""
    others = states[np.random.default_rng(row).choice(len(states), tries)]
    actual = policy(states[row : row + 1])
    named = np.zeros(states.shape[1], dtype=bool)
    for factor in range(1, states.shape[1]):
        tried = np.repeat(states[row : row + 1], tries, axis=0)
        tried[:, factor] = others[:, factor]
        named[factor] = bool((np.abs(policy(tried) - actual) > 0.01).any(axis=1).mean() > 0.05)
    return named


def find_slopes(policy: Policy, states: Array) -> Array:
    """Name each factor in which the action changes where it is moved a little."""
    actual, named = policy(states), np.zeros(states.shape[:2], dtype=bool)
    for factor in range(1, states.shape[1]):
        for feature in (0, 1):
            moved = states.copy()
            moved[:, factor, feature] += STEP
            named[:, factor] |= (np.abs(policy(moved) - actual) > STEP * 1e-6).any(axis=1)
    return named


def page(results: Results) -> Page:
    """Show how often each way is right."""
    rows = []
    for policy in results.every("policy"):
        shown = [spread(results.values(name, policy=policy)) for name in
                 ("two", "right", "right_two", "right_one", "one_by_one", "slope")]  # fmt: skip
        rows.append([policy.replace("-", " "), *shown])
    headings = [
        "policy", "states with two, %", "right, %", "of two", "of one", "one by one", "slope",
    ]  # fmt: skip
    return Page(
        "\n\n".join(
            [
                "Which factors of the state made the policy act so? Asked of scripted policies that depend on two of "
                "six factors in some states and on one in others, so that the answer is known. *Right* means that "
                "exactly these are named. The last two columns are shortcuts: to exchange one factor at a time, and to "
                "look at slopes. They do as well as long as each factor matters by itself and actions are smooth. "
                "`back off from either` has two reasons of which one is enough: exchanging one of them changes "
                "nothing, and there is no slope.",
                table(headings, rows),
            ]
        ),
        deviations=("The paper proposes to explain policies in its last appendix and has no experiment.",),
    )


def missed(results: Results) -> list[str]:
    """List policies below the bar."""
    found = {policy: results.values("right", policy=policy) for policy in results.every("policy")}
    return [
        f"{policy}: {min(values):.1f}% of the states right, below {BAR:g}%"
        for policy, values in found.items()
        if values and min(values) < BAR
    ]


EXPERIMENT = Experiment(
    name="rl_explain",
    title="Explanations of actions",
    paper="Ours: the paper's last appendix proposes to explain what a policy did.",
    expected="2 min on two CPU cores",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: ("domain:push",),
    missed=missed,
    order=31,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
