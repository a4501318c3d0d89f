"""All minimal causes, one after another: the first at once, each once, within a budget."""

from __future__ import annotations

from itertools import count, islice

import pytest

from actcause import Answer, Model, Query, Status, causes, is_cause
from actcause.core.definitions import OutOfBudget, Search
from actcause.core.solvers import ENCODINGS


def or_tree(depth: int) -> Model:
    """A binary tree of disjunctions whose leaves are roots; N1 is its top."""
    first_leaf = 2**depth
    return Model.from_text(
        "\n".join(f"N{i} = N{2 * i} or N{2 * i + 1}" if i < first_leaf else f"N{i}" for i in range(1, 2 * first_leaf))
    )


def all_leaves(depth: int) -> dict[str, int]:
    return {f"N{i}": 1 for i in range(2**depth, 2 ** (depth + 1))}


def ask(depth: int, **options) -> Answer:
    return causes(or_tree(depth), context=all_leaves(depth), effect="N1", **options)


def cuts(node: int, depth: int) -> set[frozenset[str]]:
    """The minimal cuts of a tree, by its recurrence: the top alone, or a cut of each half."""
    top = {frozenset([f"N{node}"])}
    if depth == 0:
        return top
    halves = (cuts(2 * node, depth - 1), cuts(2 * node + 1, depth - 1))
    return top | {left | right for left in halves[0] for right in halves[1]}


@pytest.mark.parametrize(("depth", "count"), [(1, 1), (2, 4), (3, 25), (4, 676)])
def test_an_or_tree_has_as_many_causes_as_minimal_cuts_below_its_top(depth: int, count: int) -> None:
    answer = ask(depth)
    found = [frozenset(cause.event) for cause in answer]
    assert len(found) == len(set(found)) == count
    assert set(found) == cuts(1, depth) - {frozenset(["N1"])}
    assert answer.status is Status.COMPLETE


def test_the_first_ten_of_458329_causes_come_after_few_solver_calls() -> None:
    answer = ask(5)
    assert answer.statistics["solver_calls"] == 0  # nothing is searched for before it is read
    first = answer.causes[:10]
    assert len(first) == 10
    assert answer.statistics["solver_calls"] <= 100
    assert answer.statistics["evaluations"] <= 100
    assert len({frozenset(cause.event) for cause in first}) == 10
    for cause in first:
        assert cause.witness.replay(answer.query)
        verdict = is_cause(or_tree(5), context=all_leaves(5), effect="N1", event=cause.event)
        assert verdict.holds


@pytest.mark.parametrize("definition", ENCODINGS)
def test_no_cause_contains_another(definition: str) -> None:
    found = [frozenset(cause.event) for cause in ask(3, definition=definition, max_causes=60)]
    assert found
    assert not any(one < other for one in found for other in found)


# -- a lazy sequence -------------------------------------------------------------------------------


def test_reading_causes_by_index_finds_no_more_than_are_read() -> None:
    answer = ask(5)
    third = answer.causes[2]
    assert repr(answer.causes) == "<Causes: 3 found so far>"
    assert repr(answer) == "<Answer by modified-hp: 3 causes found so far>"
    assert answer.causes[2] is third
    assert [cause is third for cause in answer.causes[1:4]] == [False, True, False]
    assert repr(answer.causes) == "<Causes: 4 found so far>"
    assert answer.causes[1:6:2] == [answer.causes[1], answer.causes[3], answer.causes[5]]
    assert repr(answer.causes) == "<Causes: 6 found so far>"


def test_iterating_twice_gives_the_same_objects() -> None:
    answer = ask(3)
    once, again = list(answer), list(answer.causes)
    assert len(once) == len(again) == len(answer.causes) == 25
    assert all(one is other for one, other in zip(once, again, strict=True))


def test_two_iterations_at_once_share_what_is_found() -> None:
    answer = ask(5)
    pairs = list(islice(zip(answer, answer.causes, strict=True), 5))
    assert all(one is other for one, other in pairs)
    assert repr(answer.causes) == "<Causes: 5 found so far>"


def test_an_answer_is_true_where_one_cause_is_found() -> None:
    answer = ask(5)
    assert answer.causes
    assert repr(answer.causes) == "<Causes: 1 found so far>"
    nothing = causes(or_tree(2), context=all_leaves(2), effect="not N1")
    assert not nothing.causes
    assert nothing.status is Status.COMPLETE
    assert list(nothing) == []


def test_negative_indices_and_backward_slices_read_to_the_end() -> None:
    answer = ask(2)
    everything = list(ask(2))
    assert answer.causes[-1] == everything[-1]
    assert ask(2).causes[::-1] == everything[::-1]
    assert ask(2).causes[-2:] == everything[-2:]
    assert ask(2).causes[:-1] == everything[:-1]
    assert ask(2).causes[1:] == everything[1:]
    assert everything[1] in answer.causes
    assert answer.causes.index(everything[1]) == 1


@pytest.mark.parametrize("index", [4, 100, -5])
def test_an_index_past_the_last_cause_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError):
        ask(2).causes[index]


# -- budgets ---------------------------------------------------------------------------------------


def test_max_causes_ends_the_search_with_what_was_found() -> None:
    answer = ask(5, max_causes=7)
    assert answer.status is Status.MAX_CAUSES
    assert len(answer.causes) == 7


@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
def test_max_causes_that_are_all_there_are_leave_the_search_complete(solver: str) -> None:
    answer = ask(2, max_causes=4, solver=solver)
    assert answer.status is Status.COMPLETE
    assert len(answer.causes) == 4


@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
def test_max_steps_ends_the_search_with_what_was_found(solver: str) -> None:
    answer = ask(5, max_steps=80, solver=solver)
    assert answer.status is Status.OUT_OF_STEPS
    assert sum(answer.statistics.values()) <= 81
    assert len(answer.causes) == len(set(map(str, answer.causes)))
    if solver == "auto":
        assert len(answer.causes) >= 5
    assert answer.status is Status.OUT_OF_STEPS


@pytest.mark.parametrize("definition", ENCODINGS)
@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
def test_no_time_at_all_ends_in_a_status(definition: str, solver: str) -> None:
    answer = ask(5, max_seconds=1e-9, definition=definition, solver=solver)
    assert answer.status is Status.OUT_OF_TIME
    assert len(answer.causes) == 0


@pytest.mark.parametrize(("solver", "seconds"), [("auto", 23), ("exhaustive", 1_000)])
def test_time_that_runs_out_ends_the_search_with_what_was_found(
    solver: str, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count()
    monkeypatch.setattr("actcause.core.definitions.search.monotonic", lambda: next(ticks))  # a look takes a second
    answer = ask(2, max_seconds=seconds, solver=solver)
    assert answer.status is Status.OUT_OF_TIME
    assert 0 < len(answer.causes) < 4
    assert all(cause.witness.replay(answer.query) for cause in answer)


@pytest.mark.parametrize("definition", ENCODINGS)
@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
def test_a_verdict_out_of_budget_is_not_known(definition: str, solver: str) -> None:
    budgets = (({"max_steps": 1}, Status.OUT_OF_STEPS), ({"max_seconds": 1e-9}, Status.OUT_OF_TIME))
    for budget, status in budgets:
        verdict = is_cause(
            or_tree(4),
            context=all_leaves(4),
            effect="N1",
            event="N2=1, N3=1",
            definition=definition,
            solver=solver,
            **budget,
        )
        assert verdict.status is status
        assert verdict.holds is None
        assert not verdict
        assert verdict.failed is None
        assert verdict.conditions["AC1"] is True
        assert verdict.sentence.startswith("It is not known whether N2=1 and N3=1 ")
        assert verdict.sentence.endswith(status.sentence)


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (Status.MAX_CAUSES, "stopped at max_causes; raise it"),
        (Status.OUT_OF_TIME, "raise max_seconds"),
        (Status.OUT_OF_STEPS, "raise max_steps"),
    ],
)
def test_the_sentence_of_a_spent_budget_names_the_option_to_raise(status: Status, remedy: str) -> None:
    assert remedy in status.sentence


@pytest.mark.parametrize("definition", ENCODINGS)
def test_time_runs_out_while_clauses_are_written_too(definition: str) -> None:
    """Wide ranges take longer to write than to solve."""
    query = Query(or_tree(1), all_leaves(1), "N1", definition)
    with pytest.raises(OutOfBudget):
        ENCODINGS[definition](Search(query, max_seconds=1e-9), query.candidates)
