"""Narrow models: the game of original and updated Halpern-Pearl, played forward, is decided as by the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.definitions import DEFINITIONS, Search
from actcause.core.solvers import long_models, narrow_models
from actcause.core.solvers.narrow_models import NarrowModel
from actcause.core.solvers.open_variables import TooWideError, order_narrowly
from agreement import assert_same_verdict, events, questions
from strategies import many


def unroll_tank(steps: int, stuck_from: int) -> tuple[ac.Model, dict[str, int]]:
    tank = ac.Model.from_text("""
        stuck
        drain
        level in 0..6 = 3
        reading = 0 if stuck else level
        pump = reading < 4
        level' = max(0, min(6, level + 2 * pump - drain))
        alarm = level == 6
    """)
    model = tank.unrolled(steps)
    stuck = [int(step >= stuck_from) for step in range(steps + 1)]
    return model, ac.Trace({"stuck": stuck, "drain": 1}).context(model)


@pytest.mark.parametrize("definition", ["original-hp", "updated-hp"])
def test_the_verdicts_are_those_of_the_oracle(definition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the quick yes by modified Halpern-Pearl, this has to decide it all."""
    monkeypatch.setattr(long_models, "MANY", 1)
    monkeypatch.setattr(long_models.LongModelSolver, "_by_actual_values", lambda *arguments: None)
    decided = []
    decide = NarrowModel.decide
    monkeypatch.setattr(NarrowModel, "decide", lambda self: decided.append(decide(self)) or decided[-1])

    @many(400)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions(definition))
        assert_same_verdict(query, data.draw(events(query)))

    check()
    assert all(is_decided for is_decided, _ in decided)
    assert any(witness for _, witness in decided)


@pytest.mark.parametrize(
    ("definition", "stuck_from", "event", "holds"),
    [
        ("original-hp", 2, "pump@988", True),
        ("updated-hp", 2, "pump@988", True),
        ("updated-hp", 2, "pump@500", True),
        ("original-hp", 988, "stuck@988", True),
        ("updated-hp", 988, "stuck@988", False),
        ("updated-hp", 500, "drain@995", True),
    ],
)
def test_a_thousand_steps_of_a_tank_are_decided(definition: str, stuck_from: int, event: str, holds: bool) -> None:
    model, context = unroll_tank(1_000, stuck_from)
    asked = {"context": context, "effect": "alarm@1000 == 1", "definition": definition, "max_steps": 1_000}
    verdict = ac.is_cause(model, event={event: model.evaluate(context)[event]}, **asked)
    assert verdict.holds is holds
    assert verdict.witness is None or verdict.witness.replay(verdict.query)


def test_steps_that_are_alike_are_worked_out_once() -> None:
    layers = []
    for steps in (200, 400):
        model, context = unroll_tank(steps, 2)
        query = ac.Query(model, context, f"alarm@{steps} == 1", "updated-hp")
        game = NarrowModel(Search(query), ("pump@100",), taking_back=True)
        assert game.decide()[0]
        layers.append(len(game._layers))
    assert layers[0] == layers[1] < 200


@pytest.mark.parametrize("limit", ["MOST_CODES", "MOST_STATES", "MOST_TRIALS"])
def test_nothing_is_decided_where_too_much_is_open_at_a_time(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow_models, limit, 3)
    model, context = unroll_tank(3, 0)
    query = ac.Query(model, context, "alarm@3 == 1", "updated-hp")
    assert NarrowModel(Search(query), ("pump@0",), taking_back=True).decide() == (False, None)


def test_what_is_set_by_hand_is_a_witness_by_the_definition_itself() -> None:
    model, context = unroll_tank(3, 0)
    query = ac.Query(model, context, "alarm@3 == 1", "updated-hp")
    event = {"level@1": query.actual["level@1"]}
    decided, witness = NarrowModel(Search(query), tuple(event), taking_back=True).decide()
    assert decided
    assert witness is not None
    assert DEFINITIONS["updated-hp"].sufficient(Search(query), event, witness)


def test_roots_come_just_before_they_are_read_and_close_when_nobody_reads_them() -> None:
    parents = {"A": (), "B": (), "C": ("A",), "D": ("B", "C")}
    plan = order_narrowly(parents, dict.fromkeys(parents, 2), ("D",), 8)
    assert [part.name for part in plan] == ["A", "C", "B", "D"]
    assert [part.after for part in plan] == [("A",), ("C",), ("C", "B"), ("D",)]
    with pytest.raises(TooWideError):
        order_narrowly(parents, dict.fromkeys(parents, 2), ("D",), 7)
