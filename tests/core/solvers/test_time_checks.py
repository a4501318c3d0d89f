"""No piece of work goes on for long without a check of the time: counted in what is done between two checks."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from pysat.solvers import Glucose4

import actcause as ac
from actcause import Model, Status
from actcause.core.definitions import Deadline
from actcause.core.solvers import ENCODINGS, circuit, single_paths
from actcause.core.solvers.circuit import NEW_BETWEEN_CHECKS, Circuit

WIDE = """
A in 0..40
B in 0..40
C in 0..40 = min(A, B)
D in 0..40 = C if A > 3 or A < 2 else 0
E = D + C >= 30
"""
CONTEXT = "A=30, B=30"


@pytest.fixture
def pigeons() -> Iterator[Glucose4]:
    """Nine pigeons in eight holes: thousands of conflicts until that is known to be impossible."""
    holes = range(8)
    places = [[1 + 8 * pigeon + hole for hole in holes] for pigeon in range(9)]
    apart = [[-one[hole], -other[hole]] for one, other in combinations(places, 2) for hole in holes]
    with Glucose4(bootstrap_with=[*places, *apart]) as solver:
        yield solver


@pytest.mark.parametrize("bound", ["CONFLICTS", "PROPAGATIONS"])
def test_a_solver_checks_the_time_again_and_again(
    pigeons: Glucose4, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver heeds its bounds where it restarts, which it does after some dozens of conflicts or more."""
    for name in ("CONFLICTS", "PROPAGATIONS", "LEAST_PASSES"):
        monkeypatch.setattr(circuit, name, 1 if name == bound else 0 if name == "LEAST_PASSES" else 1 << 30)
    checked: list[int] = []
    assert circuit.solve_with_checks(pigeons, [], lambda: checked.append(pigeons.accum_stats()["restarts"])) is False
    assert len(checked) > 10
    assert checked[-2] == len(checked) - 1  # one restart for each check


def test_a_bound_on_conflicts_ends_a_call(pigeons: Glucose4) -> None:
    assert circuit.solve_with_checks(pigeons, [], lambda: None, conflicts=100) is None
    assert pigeons.accum_stats()["conflicts"] >= 100


def test_clauses_are_handed_over_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit, "CLAUSES", 10)
    seen: list[int] = []
    with Glucose4() as solver:
        circuit.add_with_checks(
            solver, [(number,) for number in range(1, 36)], lambda: seen.append(solver.nof_clauses())
        )
        assert solver.nof_vars() == 35
    assert len(seen) == 3


@pytest.mark.parametrize("definition", ENCODINGS)
def test_no_definition_writes_much_between_two_checks(definition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit, "NEW_BETWEEN_CHECKS", 1 << 8)
    written, most, checked = 0, 0, 0
    conjunction, check = Circuit.conjunction, Deadline.check

    def count(self: Circuit, literals: list[int]) -> int:
        nonlocal written, most
        written += 1
        most = max(most, written)
        return conjunction(self, literals)

    def look(self: Deadline) -> None:
        nonlocal written, checked
        written, checked = 0, checked + 1
        check(self)

    monkeypatch.setattr(Circuit, "conjunction", count)
    monkeypatch.setattr(Deadline, "check", look)
    ac.causes(Model.from_text(WIDE), context=CONTEXT, effect="E", definition=definition, max_seconds=600).causes[:1]
    assert most <= 2 * 41 * 41  # one operation of two ranges
    assert checked > 5


def test_a_circuit_checks_the_time_whenever_it_has_grown() -> None:
    seen: list[int] = []
    grown = Circuit(lambda: seen.append(grown.top))
    for _ in range(3 * NEW_BETWEEN_CHECKS):
        grown.new()
    assert seen == [NEW_BETWEEN_CHECKS, 2 * NEW_BETWEEN_CHECKS, 3 * NEW_BETWEEN_CHECKS]


@pytest.mark.parametrize("definition", ENCODINGS)
def test_time_that_runs_out_within_one_equation_ends_the_search(
    definition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clauses of one wide equation are enough to use up a budget of a few checks."""
    monkeypatch.setattr(circuit, "NEW_BETWEEN_CHECKS", 1 << 5)
    ticks = iter(range(1 << 30))
    monkeypatch.setattr("actcause.core.definitions.search.monotonic", lambda: next(ticks))  # a check takes a second
    answer = ac.causes(Model.from_text(WIDE), context=CONTEXT, effect="E", definition=definition, max_seconds=30)
    assert answer.status is Status.OUT_OF_TIME
    assert next(ticks) < 60


def test_paths_check_the_time_for_each_choice_of_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parents make many choices for each link of a chain."""
    monkeypatch.setattr("actcause.core.solvers.long_models.MANY", 1)
    names = [f"X{number}" for number in range(6)]
    lines = [*names, f"Y = {' + '.join(names)} >= 3", "Z = Y and X0"]
    seen = 0
    check = Deadline.check

    def look(self: Deadline) -> None:
        nonlocal seen
        seen += 1
        check(self)

    monkeypatch.setattr(Deadline, "check", look)
    query = ac.Query(Model.from_text("\n".join(lines)), dict.fromkeys(names, 1), "Z", "strong")
    search = ac.core.definitions.Search(query)
    single_paths.NetworkPaths(search, "X0").find()
    assert seen > 32
