"""Contacts: what a factor does by itself is learned, who makes it do otherwise is named, and exchanges are exact."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from actcause.data import collect_recording, trace
from actcause.envs import make
from actcause.errors import QueryError
from actcause.rl import ContactGraphs, OnlineGraphs, TrueGraphs, augment
from actcause.rl.mode_network import fit_mode

PUSH = make("push")
TRUTH = TrueGraphs(PUSH)


@pytest.fixture(scope="module")
def recording():
    return collect_recording(PUSH, 2000, seed=0, dtype="float64")


@pytest.fixture(scope="module")
def contacts():
    return ContactGraphs(steps=400).fit(collect_recording(PUSH, 10_000, seed=1, dtype="float64"))


def test_nearly_all_exchanges_that_are_allowed_are_exact(recording, contacts):
    made = augment(recording, contacts, pairs=8000)
    blind = augment(recording, None, pairs=2000)
    assert made.measure_exactness(TRUTH) > 0.96
    assert blind.measure_exactness(TRUTH) < 0.4
    assert made.share > 5 * 0.0035  # five times what proximity keeps


def test_without_the_check_of_the_new_state_they_are_not(recording, contacts):
    made = augment(recording, contacts, pairs=4000, recheck=False)
    assert made.measure_exactness(TRUTH) < 0.8


def test_who_moved_the_block_is_named_in_hindsight_and_nobody_where_it_stayed(recording, contacts):
    block, pusher = recording.outcome_index("block"), recording.index("pusher")
    moved = (recording.next_state[:, 2] != recording.state[:, 2]).any(axis=1)
    found = contacts.explain(recording)[:, block]
    assert found[moved, pusher].mean() > 0.95
    assert found[~moved, pusher].mean() < 0.01
    assert found[:, recording.index("block")].all()
    assert contacts.predict(recording)[:, recording.outcome_index("pusher"), 0].all()  # its action drives it


def test_the_action_is_named_where_another_would_not_have_moved_the_block(recording, contacts):
    block, action = recording.outcome_index("block"), recording.index("action")
    found = contacts.explain(recording)[:, block]
    touched = found[:, recording.index("pusher")]
    assert found[touched, action].mean() > 0.9
    assert not found[~touched, action].any()


def test_of_those_nearby_only_the_one_is_named_that_accounts_for_what_happened(recording, contacts):
    pusher = recording.outcome_index("pusher")
    found, joined, true = contacts.explain(recording), contacts.find_joined(recording), recording.cause
    wrong, cautious = ((graphs & ~true)[:, pusher].sum() for graphs in (found, joined))
    assert wrong < 0.6 * cautious
    assert (found != true)[:, pusher].sum() < 0.8 * (joined != true)[:, pusher].sum()


def test_a_single_row_is_answered_as_among_others(recording, contacts):
    every, one = contacts.predict(recording), contacts.predict(recording.subset(slice(7, 8)))
    assert (one[0] == every[7]).all()


def test_chains_by_learned_contacts_name_the_actions_behind_the_block(recording, contacts):
    graphs = contacts.explain(recording)
    found, true = set(), set()
    for episode in range(100):
        asked = {"episode": episode, "step": 19, "factor": "block"}
        found |= {(episode, step) for step in trace(recording, graphs=graphs, **asked).action_steps}
        true |= {(episode, step) for step in trace(recording, **asked).action_steps}
    assert len(found & true) / len(found) > 0.95
    assert len(found & true) / len(true) > 0.8


def test_a_state_that_never_occurs_is_not_allowed(contacts, recording):
    state = recording.state.copy()
    state[:, recording.index("obstacle1"), :2] = state[:, recording.index("obstacle2"), :2]  # one inside the other
    exchanged = np.zeros((len(recording), len(recording.factors)), dtype=bool)
    exchanged[:, recording.index("obstacle1")] = True
    odd = contacts.allow_exchanges(recording.replaced(state=state, next_state=state), exchanged)
    usual = contacts.allow_exchanges(recording, exchanged)
    assert usual.mean() > 0.05
    assert odd.mean() < usual.mean() / 10


def test_a_row_that_nobody_accounts_for_is_not_settled(recording, contacts):
    assert contacts.find_settled(recording).mean() > 0.7
    thrown = recording.next_state.copy()
    thrown[:, recording.index("block"), 0] += 3.0
    assert contacts.find_settled(recording.replaced(next_state=thrown)).mean() < 0.02


def test_the_mode_is_learned_where_the_average_is_right_nowhere():
    torch.manual_seed(0)
    inputs = torch.rand(4000, 1)
    stopped = torch.rand(4000, 1) < 0.4
    wanted = torch.where(stopped, torch.zeros(4000, 1), inputs)
    network = fit_mode(inputs, wanted, torch.arange(4000), steps=300, width=16)
    with torch.no_grad():
        off = (network(inputs) - inputs).abs()
    assert float(off.median()) < 0.01


def test_the_same_seed_gives_the_same_answers_and_the_callers_randomness_is_left_alone(recording):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, two = (ContactGraphs(steps=20, seed=3).fit(recording).predict(recording) for _ in range(2))
    assert (one == two).all()
    assert torch.rand(1) == expected


@pytest.mark.parametrize("options", [{"steps": 0}, {"width": 1.5}, {"wrong": 1}, {"wrong": "few"}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(QueryError, match="must be"):
        ContactGraphs(**options)


def test_what_cannot_be_learned_from_is_refused_in_a_sentence(recording):
    with pytest.raises(QueryError, match="call fit"):
        ContactGraphs().predict(recording)
    with pytest.raises(QueryError, match="two episodes"):
        ContactGraphs().fit(recording.subset(slice(0, 20)))
    still = recording.replaced(next_state=recording.state)
    with pytest.raises(QueryError, match="Nothing in the recording"):
        ContactGraphs().fit(still)
    other = collect_recording(make("push", obstacles=1), 100, dtype="float64")
    with pytest.raises(QueryError, match="were fitted to"):
        ContactGraphs(steps=2).fit(recording).predict(other)


# -- going on with further rows ----------------------------------------------------------------------------


def split_rows(rows):
    """Return two recordings of half of the episodes each, as an agent would see them one after the other."""
    half = int(np.median(rows.episode))
    return rows.subset(rows.episode < half), rows.subset(rows.episode >= half)


def measure_block(graphs, recording):
    """Return the share of rows in which the pusher is rightly named, or not named, for the block."""
    block, pusher = recording.outcome_index("block"), recording.index("pusher")
    moved = (recording.next_state[:, 2] != recording.state[:, 2]).any(axis=1)
    found = graphs.predict(recording)[:, block, pusher]
    return (found[moved].mean() + (~found[~moved]).mean()) / 2


def test_learning_goes_on_from_the_networks_that_there_are(recording):
    first, later = split_rows(collect_recording(PUSH, 6000, seed=1, dtype="float64"))
    warm = ContactGraphs(steps=300).fit(first)
    judges = set(warm._judges)
    assert warm._still_fits(later)
    warm.partial_fit(later)  # in a third of the steps
    assert len(warm._seen) == 6000
    assert judges <= set(warm._judges)  # what was held out stays so
    assert max(warm._judges) > max(judges)
    cold = ContactGraphs(steps=100).fit(warm._seen)
    assert measure_block(warm, recording) > measure_block(cold, recording)


def test_what_was_not_learned_yet_or_looks_otherwise_is_learned_anew(monkeypatch):
    first, later = split_rows(collect_recording(PUSH, 6000, seed=1, dtype="float64"))
    fitted = ContactGraphs(steps=5).partial_fit(first)
    assert (fitted.predict(later) == ContactGraphs(steps=5).fit(first).predict(later)).all()
    learned = []
    learn = ContactGraphs._learn
    monkeypatch.setattr(
        ContactGraphs, "_learn", lambda self, seen, *, warm: learned.append(warm) or learn(self, seen, warm=warm)
    )
    fitted.partial_fit(later)
    far = later.replaced(state=later.state * 10, next_state=later.next_state * 10)
    fitted.partial_fit(far)
    still = collect_recording(make("push", obstacles=0), 300, seed=2, dtype="float64")
    with pytest.raises(QueryError, match="fitted to action, pusher"):
        fitted.partial_fit(still)
    assert learned == [True, False]


def test_an_agent_s_graphs_go_on_from_where_they_are(monkeypatch):
    parts = split_rows(collect_recording(PUSH, 6000, seed=1, dtype="float64"))
    online, learned = OnlineGraphs(ContactGraphs(steps=5), first=500), []
    learn = ContactGraphs._learn
    monkeypatch.setattr(
        ContactGraphs, "_learn", lambda self, seen, *, warm: learned.append(warm) or learn(self, seen, warm=warm)
    )
    for part in parts:
        online.partial_fit(part)
    assert learned == [False, True]
    assert online.fits_ == 2
