"""Chains: back in time through local graphs, to inputs and to the beginning."""

from __future__ import annotations

import json
from collections.abc import Iterable

from actcause.core.chain import ChainLink, trace_back, write_steps

PARENTS = {
    (4, "block"): ["pusher", "action", "wall"],
    (2, "block"): ["pusher"],
    (3, "pusher"): ["action"],
    (0, "pusher"): ["action"],
    (5, "lamp"): ["action"],
}


def find(step: int, outcome: str) -> Iterable[str]:
    return [outcome, *PARENTS.get((step, outcome), ())]


def test_a_chain_goes_back_to_actions_and_to_the_beginning() -> None:
    chain = trace_back(find, "block", 5, inputs=["action"])
    assert chain.links == (
        ChainLink(0, "pusher", ("action",)),
        ChainLink(2, "block", ("pusher",)),
        ChainLink(3, "pusher", ("action",)),
        ChainLink(4, "block", ("pusher", "action", "wall")),
    )
    assert chain.actions == (("action", 0), ("action", 3), ("action", 4))
    assert chain.action_steps == (0, 3, 4)
    assert chain.initial == ("block", "pusher", "wall")


def test_what_came_later_or_led_elsewhere_is_no_part_of_it() -> None:
    chain = trace_back(find, "block", 3, inputs=["action"])
    assert [link.step for link in chain.links] == [0, 2]
    assert chain.action_steps == (0,)


def test_an_outcome_that_is_not_its_own_cause_has_no_past_beyond() -> None:
    chain = trace_back(lambda step, outcome: ["b"] if outcome == "a" else [outcome], "a", 3, inputs=[])
    assert chain.links == (ChainLink(3, "a", ("b",)),)
    assert chain.initial == ("b",)


def test_a_chain_says_itself_from_the_event_back() -> None:
    chain = trace_back(find, "block", 5, inputs=["action"], change={"x": (1.0, 1.5), "y": (2.0, 2.0)})
    assert str(chain) == (
        "block at step 5 (x 1 to 1.5): because of pusher at steps 2 and 4, action at step 4 and wall at step 4.\n"
        "pusher: because of action at steps 0 and 3."
    )
    assert json.loads(json.dumps(chain.to_json()))["actions"][0] == {"factor": "action", "step": 0}
    assert "nothing but itself" in str(trace_back(find, "wall", 5, inputs=["action"]))


def test_runs_of_steps_are_named_by_their_ends() -> None:
    assert write_steps([7, 1, 2, 3, 9, 10]) == "steps 1 to 3, 7, 9 and 10"
