"""Black boxes: calls of a simulator for each right answer, beside `actualcauses` on the examples of its own repository.

Both tools get the same simulators, in which every variable but the effect can be set, and are asked by modified
Halpern-Pearl, `actualcauses` with the settings of its example files. What counts is how many runs of the simulator a
right answer took, to the end of the search: a row of a vectorised run is a run; for `actualcauses` it is its own count,
`n_calls`, in which a model that is not vectorised runs twice for each intervention (once for the effect, once for the
heuristic). Its ISI is told the causal graph, ours and its MBS are not. Right answers are those of the exact solver on
the equivalent model. In the noisy example both search 20 times, with other seeds. The last figure is ours alone: a
larger function, in which causes of several inputs are far away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

import actcause as ac
from measure import Figure, Other
from other_tools import available

TITLE = "Black boxes: calls of the function for each right answer (modified HP)"
BINARY = (0, 1)
FLIPPED, RUNS, CANCELS = 0.05, 20, 0.2  # of the noisy example: as in its repository
OUR_RUNS = 60  # in one call of ours, which makes fewer calls
Sets = set[frozenset[str]]


@dataclass(frozen=True)
class Arguments:
    """How many seeds in noise, and how large the function is that is ours alone."""

    voters: int = 40
    majority: int = 36
    seeds: int = 20


TINY = Arguments(voters=9, majority=8, seeds=2)


# -- the simulators ----------------------------------------------------------------------------------


def throw_rocks(ST: Any, BT: Any, SH: Any = None, BH: Any = None) -> dict[str, Any]:  # noqa: N803
    hit = ST if SH is None else SH
    other = int(BT and not hit) if BH is None else BH
    return {"SH": hit, "BH": other, "BS": int(hit or other)}


def throw_rocks_in_noise(seed: int) -> Callable[..., dict[str, Any]]:
    """Run the rock throwers many times, with the same random numbers in each call; what is not set may flip."""

    def simulate(ST: int, BT: int, SH: Any = None, BH: Any = None) -> dict[str, Any]:  # noqa: N803
        rng = np.random.default_rng(seed)

        def settle(value: Any, given: Any = None) -> Any:
            flips = rng.random(OUR_RUNS) < FLIPPED
            return np.full(OUR_RUNS, bool(given)) if given is not None else value ^ flips

        suzy, billy = (settle(np.full(OUR_RUNS, True), None if throw else throw) for throw in (ST, BT))
        hit = settle(suzy, SH)
        other = settle(billy & ~hit, BH)
        shattered = settle(hit | other)
        return {"SH": round(float(hit.mean())), "BH": round(float(other.mean())), "share": float(shattered.mean())}

    return simulate


def burn_forest(MD: int, L: int) -> dict[str, int]:  # noqa: N803
    return {"either": int(MD or L), "both": int(MD and L)}


def light_lamp(A: int, B: int, C: int) -> bool:  # noqa: N803
    return len({A, B, C}) < 3


@dataclass(frozen=True)
class Example:
    """One of their examples: our box and question, the exact model, and what runs theirs."""

    what: str
    box: ac.BlackBox
    context: dict[str, int]
    effect: str
    right: Sets
    theirs: tuple[tuple[str, Callable[[], tuple[Sets, int]]], ...]


def exact(text: str, context: dict[str, int], effect: str) -> Sets:
    answer = ac.causes(ac.Model.from_text(text), context=context, effect=effect, solver="exhaustive")
    return {frozenset(cause.event) for cause in answer}


def examples() -> list[Example]:
    rocks = {"inputs": {"ST": BINARY, "BT": BINARY}, "inner": {"SH": BINARY, "BH": BINARY}}
    thrown, dropped, lamp = {"ST": 1, "BT": 1}, {"MD": 1, "L": 1}, {"A": 1, "B": -1, "C": -1}
    causes_of_shattering = exact("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH", thrown, "BS == 1")
    forest = ac.BlackBox(burn_forest, {"MD": BINARY, "L": BINARY})
    three = "in {-1, 0, 1}"
    lit = exact(f"A {three}\nB {three}\nC {three}\nL = A == B or A == C or B == C", lamp, "L == 1")
    return [
        Example(
            "rock throwing (quickstart.py)",
            ac.BlackBox(throw_rocks, **rocks),
            thrown,
            "BS == 1",
            causes_of_shattering,
            (("MBS", lambda: run_suzy(ISI=False, **QUICKSTART)), ("ISI", lambda: run_suzy(ISI=True, **QUICKSTART))),
        ),
        Example(
            "forest fire, disjunctive (custom_scm.py)",
            forest,
            dropped,
            "either == 1",
            exact("MD\nL\nFF = MD or L", dropped, "FF == 1"),
            (("MBS", lambda: run_forest(max)),),
        ),
        Example(
            "forest fire, conjunctive (custom_scm.py)",
            forest,
            dropped,
            "both == 1",
            exact("MD\nL\nFF = MD and L", dropped, "FF == 1"),
            (("MBS", lambda: run_forest(min)),),
        ),
        Example(
            "rock throwing, the best of four heuristics (custom_heuristic.py)",
            ac.BlackBox(throw_rocks, **rocks),
            thrown,
            "BS == 1",
            causes_of_shattering,
            tuple((f"heuristic {number}", lambda number=number: run_heuristic(number)) for number in range(4)),
        ),
        Example(
            "lamp of three values (vectorized_system_model.py)",
            ac.BlackBox(light_lamp, dict.fromkeys("ABC", (-1, 0, 1))),
            lamp,
            "output",
            lit,
            (("MBS", run_lamp),),
        ),
    ]


# -- theirs ------------------------------------------------------------------------------------------

QUICKSTART: dict[str, Any] = {"max_steps": 5, "beam_size": 20, "epsilon": 0.05, "early_stop": False}
GRAPH = {"ST": [], "BT": [], "SH": ["ST"], "BH": ["BT", "SH"], "BS": ["BH", "SH"]}
NAMES = tuple(GRAPH)


def search(scm: Any, **settings: Any) -> tuple[Sets, int]:
    with redirect_stdout(StringIO()):
        scm.find_causes(**settings)
    return {frozenset(cause) for cause in scm.causes}, int(scm.n_calls)


def run_suzy(**settings: Any) -> tuple[Sets, int]:
    from actualcauses import suzzy_example_scm

    return search(suzzy_example_scm, **settings)


def run_heuristic(number: int) -> tuple[Sets, int]:
    from actualcauses import SCM, SuzzyExampleSystemModel

    actual = [1, 1, 1, 0, 1]
    score = (
        sum,
        lambda state: len(state) - sum(state),
        lambda state: sum(one != other for one, other in zip(state, actual, strict=True)),
        lambda state: sum(one == other for one, other in zip(state, actual, strict=True)),
    )[number]
    model = SuzzyExampleSystemModel()
    model.psi = score
    return search(SCM(V=NAMES, U=("st", "bt"), D=BINARY, u=(1, 1), model=model, dag=GRAPH))


def run_forest(gate: Callable[[int, int], int]) -> tuple[Sets, int]:
    from actualcauses import SCM, SystemModel

    class Forest(SystemModel):
        """A match dropped, lightning, and a fire."""

        def __init__(self) -> None:
            super().__init__(phi=lambda state: state[-1], psi=sum)

        def __call__(self, u: Any, e: Any = ()) -> list[int]:
            self.n_calls += 1
            given = dict(e)
            match, lightning = (given.get(name, value) for name, value in zip(("MD", "L"), u, strict=True))
            return [match, lightning, given.get("FF", gate(match, lightning))]

    graph = {"MD": [], "L": [], "FF": ["MD", "L"]}
    return search(SCM(V=tuple(graph), U=("md", "l"), D=BINARY, u=(1, 1), model=Forest(), dag=graph))


def run_lamp() -> tuple[Sets, int]:
    from actualcauses import SCM, BaseNumpyModel

    class Lamp(BaseNumpyModel):
        """Lit if two of three dials agree."""

        def simulate(self, u: Any) -> None:
            for name, value in zip("ABC", u, strict=True):
                self[name] = value
            self["L"] = (self["A"] == self["B"]) | (self["A"] == self["C"]) | (self["B"] == self["C"])

    names, dials = ["A", "B", "C", "L"], (-1, 0, 1)
    graph = {"A": [], "B": [], "C": [], "L": ["A", "B", "C"]}
    ranges = [dials, dials, dials, BINARY]
    scm = SCM(V=names, U=["a", "b", "c"], D=ranges, u=(1, -1, -1), model=Lamp(names, dtype=int), dag=graph)
    return search(scm, beam_size=-1)


def run_noisy(seed: int, *, adaptive: bool) -> tuple[Sets, int]:
    from actualcauses import SCM, AverageNumpyModel, LUCBNumpyModel

    beam = 10
    rates = {"a": CANCELS, "cause_eps": 0.1, "non_cause_eps": 0.1, "beam_eps": 0.1, "delta": 0.05, "beam_size": beam}
    budget = {"max_iter": RUNS, "init_batch_size": 15, "batch_size": 2, "verbose": 0}
    base, last = (LUCBNumpyModel, {**rates, **budget}) if adaptive else (AverageNumpyModel, RUNS)

    class Rocks(base):  # type: ignore[misc, valid-type]
        """The rock throwers, every value of which may flip."""

        def simulate(self, u: Any) -> None:
            self["ST"], self["BT"] = u
            self["SH"] = self["ST"]
            self["BH"] = self["BT"] & ~self["SH"]
            self["BS"] = self["BH"] | self["SH"]

    np.random.seed(seed)
    model = Rocks(NAMES, FLIPPED, last)
    scm = SCM(V=NAMES, U=("st", "bt"), D=BINARY, u=(1, 1), dag=None, model=model)
    return search(scm, epsilon=CANCELS, beam_size=beam)


# -- side by side ------------------------------------------------------------------------------------


def measure_theirs(example: Example) -> list[Other]:
    others = []
    for setting, runs in example.theirs if available() else ():
        found, calls = runs()
        right, wrong = len(found & example.right), len(found - example.right)
        note = f"{right} of {len(example.right)} right{f', {wrong} wrong' if wrong else ''}, {calls} calls"
        others.append(Other(f"actualcauses ({setting})", calls / right if right else None, note=note))
    return others


def run(arguments: Arguments) -> Iterator[Figure]:
    for example in examples():
        answer = ac.causes(example.box, context=example.context, effect=example.effect)
        found = {frozenset(cause.event) for cause in answer}
        right, calls = len(found & example.right), answer.calls
        others = measure_theirs(example)
        best = min((other.value for other in others if other.value is not None), default=None)
        yield Figure(
            "black_boxes",
            example.what,
            calls / right,
            unit="calls",
            bar=best,
            answer=f"{right} of {len(example.right)} right, proved complete; {calls} calls",
            right=found == example.right and answer.proved_size == len(example.box.handles),
            others=tuple(others),
        )
    yield run_noise(arguments)
    yield run_vote(arguments)


def run_noise(arguments: Arguments) -> Figure:
    """Search the noisy rock throwers with several seeds; what is right is what is right without noise."""
    (example, *_) = examples()
    seeds = range(arguments.seeds)
    ours: list[tuple[Sets, int]] = []
    for seed in seeds:
        box = ac.BlackBox(throw_rocks_in_noise(seed), example.box.inputs, inner=example.box.inner)
        answer = ac.causes(box, context=example.context, effect=f"share >= {CANCELS}")
        ours.append(({frozenset(cause.event) for cause in answer}, answer.calls * OUR_RUNS))
    value, note = judge_noisy(ours, example.right)
    others = []
    for setting, adaptive in (("average", False), ("LUCB", True)) if available() else ():
        theirs, their_note = judge_noisy([run_noisy(seed, adaptive=adaptive) for seed in seeds], example.right)
        others.append(Other(f"actualcauses ({setting})", theirs, note=their_note))
    return Figure(
        "black_boxes",
        f"rock throwing in noise, {len(seeds)} seeds (stochastic_system_model.py)",
        value,
        unit="calls",
        bar=min((other.value for other in others if other.value is not None), default=None),
        answer=note,
        right=sum(found == example.right for found, _ in ours) >= 0.9 * len(seeds),
        others=tuple(others),
    )


def judge_noisy(searches: list[tuple[Sets, int]], right: Sets) -> tuple[float, str]:
    hits = sum(len(found & right) for found, _ in searches)
    wrong = sum(len(found - right) for found, _ in searches)
    calls = sum(calls for _, calls in searches)
    return calls / max(hits, 1), f"{hits} of {len(right) * len(searches)} right, {wrong} wrong, {calls} calls"


def run_vote(arguments: Arguments) -> Figure:
    """Find the first cause of a vote in which several must turn; all smaller sets would be hundreds of thousands."""
    voters, majority = arguments.voters, arguments.majority
    box = ac.BlackBox(lambda **votes: sum(votes.values()) >= majority, {f"V{i}": BINARY for i in range(voters)})
    answer = ac.causes(box, context=dict.fromkeys(box.inputs, 1), effect="output")
    first, calls = answer.causes[0], answer.calls
    size = voters - majority + 1
    return Figure(
        "black_boxes",
        f"{voters} votes for, {majority} needed: first cause",
        calls,
        unit="calls",
        answer=f"{len(first.event)} votes, {first.certainty} minimal",
        right=len(first.event) == size and bool(first.replay()),
    )
