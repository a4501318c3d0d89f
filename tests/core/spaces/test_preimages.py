"""Binary-subset pairs: the fast solver against Algorithm 0, the theorems, and the checks P1, P2, P3."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.definitions import Search
from actcause.core.definitions.direct import fixes_effect
from actcause.core.solvers import dynamic_program, weighted_clauses
from strategies import many, models

ALPHAS = st.sampled_from(
    [None, Fraction(0), Fraction(1, 5), Fraction(2, 5), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
)


def spaces(data, max_states=8, **options):
    model = data.draw(models(max_endogenous=4, max_range=3, **options))
    assume(len(model.endogenous) > 1)
    assume(model.context_count <= max_states)
    return model, ac.StateSpace.from_model(model, data.draw(st.sampled_from(model.endogenous)))


def algorithm_0(space, sufficiency, necessity=None):
    """The oracle's answer; spaces with more pairs than it can try are passed over."""
    try:
        return ac.partitions(space, alpha_sufficiency=sufficiency, alpha_necessity=necessity, solver="algorithm-0")
    except ac.errors.TooLargeError:
        return assume(False)


def both(space, sufficiency, necessity):
    oracle = algorithm_0(space, sufficiency, necessity)
    return oracle, ac.partitions(space, alpha_sufficiency=sufficiency, alpha_necessity=necessity)


def as_set(partitions):
    listed = [tuple(pair.masks.tolist()) for pair in partitions]
    assert len(set(listed)) == len(listed)
    return set(listed)


@many(400)
@given(st.data(), ALPHAS, ALPHAS)
def test_the_fast_solver_finds_just_the_pairs_of_algorithm_0(data, sufficiency, necessity):
    _, space = spaces(data)
    oracle, fast = both(space, sufficiency, necessity)
    assert (fast.cost, fast.count) == (oracle.cost, oracle.count)
    assert as_set(fast) == as_set(oracle)
    for index in range(len(space)):
        assert set(fast.binaries(index)) == set(oracle.binaries(index))


@many(240)
@given(st.data(), ALPHAS)
def test_the_histogram_counts_what_algorithm_0_enumerates(data, sufficiency):
    from actcause.core.solvers.algorithm_0 import algorithm0
    from actcause.core.spaces.valid_pairs import list_admissible

    _, space = spaces(data, max_states=6)
    admissible, group = list_admissible(space, sufficiency, None)
    _, _, histogram = algorithm0(admissible, space.outcomes.tolist(), group)
    assert ac.partitions(space, alpha_sufficiency=sufficiency).histogram() == dict(sorted(histogram.items()))


@pytest.mark.parametrize("engine", ["rc2", "highs"])
@many(320)
@given(data=st.data(), sufficiency=st.sampled_from([None, Fraction(1, 2), Fraction(1)]))
def test_maxsat_finds_the_same_pairs_where_tables_would_be_too_large(engine, data, sufficiency):
    with pytest.MonkeyPatch.context() as patch:
        _, space = spaces(data)
        oracle = algorithm_0(space, sufficiency)
        patch.setattr(dynamic_program, "MOST_OPEN", -1)
        chosen = weighted_clauses.minimize_by_rc2 if engine == "rc2" else weighted_clauses.minimize_by_highs
        patch.setattr(weighted_clauses, "minimize_by_rc2", chosen)
        patch.setattr(weighted_clauses, "minimize_by_highs", chosen)
        fast = ac.partitions(space, alpha_sufficiency=sufficiency)
        assert fast.cost == oracle.cost
        assert as_set(fast) == as_set(oracle)
        for index in range(len(space)):
            assert set(fast.binaries(index)) == set(oracle.binaries(index))


@many(240)
@given(st.data(), ALPHAS, st.lists(st.integers(1, 4), min_size=9, max_size=9))
def test_weighted_states_are_solved_exactly_too(data, sufficiency, weights):
    model, plain = spaces(data, allow_exogenous=False)
    assume(plain.outcome in model.equations)  # a root's value does not follow from the others
    columns = {name: [plain.state(i)[name] for i in range(len(plain))] for name in plain.variables}
    outcomes = [plain.outcome_of(i) for i in range(len(plain))]
    space = ac.StateSpace.from_table(columns, outcomes, weights=weights[: len(plain)])
    oracle, fast = both(space, sufficiency, None)
    assert (fast.cost, fast.count) == (oracle.cost, oracle.count)
    assert as_set(fast) == as_set(oracle)


@many(240)
@given(st.data(), ALPHAS)
def test_every_minimal_pair_passes_its_checks(data, sufficiency):
    _, space = spaces(data)
    found = ac.partitions(space, alpha_sufficiency=sufficiency)
    for pair, _ in zip(found, range(20), strict=False):
        assert pair.check()
        assert pair.cost == found.cost == sum(preimage.cost for preimage in pair.preimages)
        assert sorted(i for preimage in pair.preimages for i in preimage.members) == list(range(len(space)))


@many(400)
@given(st.data(), ALPHAS)
def test_theorem_4_6_no_state_of_a_minimal_pair_could_do_with_fewer_of_its_variables(data, sufficiency):
    _, space = spaces(data)
    found = ac.partitions(space, alpha_sufficiency=sufficiency)
    pair = next(iter(found), None)
    assume(pair is not None)
    for index in range(len(space)):
        mask = int(pair.masks[index])
        for smaller in range(1, mask):
            if smaller & mask == smaller and smaller != mask:
                moved = pair.masks.copy()
                moved[index] = smaller
                check = ac.Pair(found, moved).check()
                assert check.invariance or check.necessity


@many(400)
@given(st.data(), ALPHAS)
def test_theorem_4_8_functional_is_direct_sufficiency_under_complete_invariance(data, sufficiency):
    model = data.draw(models(max_endogenous=4, max_range=3, allow_exogenous=False))
    outcome = model.endogenous[-1]
    # The theorem speaks of all assignments of the state variables: each must be a state.
    assume(outcome in model.equations)
    assume(all(name in model.roots for name in model.endogenous if name != outcome))
    space = ac.StateSpace.from_model(model, outcome)
    pair = next(iter(ac.partitions(space, alpha_sufficiency=sufficiency)), None)
    assume(pair is not None)
    for preimage in pair.preimages:
        if preimage.mask and preimage.completely_invariant:
            for state in preimage:
                value = model.evaluate(state)[outcome]
                search = Search(ac.Query(model, state, f"{outcome} == {value}"))
                event = {name: state[name] for name in preimage.variables}
                assert fixes_effect(search, event, {n: v for n, v in state.items() if n not in event})


def test_a_check_names_the_offending_states():
    model = ac.Model.from_text("A\nB\nC = A and B")
    found = ac.partitions(model, "C")
    spoiled = found.pair(["11", "10", "01", "10"])  # the states are 00, 01, 10, 11
    assert spoiled.check()
    clash = found.pair(["11", "01", "01", "01"]).check()
    assert clash.invariance == ((1, 3),)
    assert clash.necessity == (1,)  # at 01, B alone changes nothing
    dear = found.pair(["11", "11", "11", "11"]).check()
    assert (dear.invariance, dear.necessity, dear.excess) == ((), (), 3)
    with pytest.raises(ac.QueryError, match="2 digits"):
        found.pair(["1", "1", "1", "1"])


def test_counts_are_exact_however_large():
    space = ac.StateSpace.from_function({f"x{i}": (0, 1) for i in range(10)}, lambda *x: (sum(x) >= 5).astype(int))
    found = ac.partitions(space, alpha_sufficiency=1)
    assert isinstance(found.count, int)
    assert found.count > 10**100
    first, second = [pair for pair, _ in zip(found, range(2), strict=False)]
    assert (first.masks != second.masks).any()
    assert first.check()
    assert second.check()


def test_states_that_compete_are_solved_with_a_proof():
    table = np.random.default_rng(1).integers(0, 2, 256)
    space = ac.StateSpace.from_function(
        {f"x{i}": (0, 1) for i in range(8)}, lambda *x: table[sum(v << i for i, v in enumerate(x))]
    )
    found = ac.partitions(space, alpha_sufficiency=1)
    assert found.status is ac.Status.COMPLETE
    assert found.count is None  # out of reach, and said so
    pair = found.first()
    assert pair.check()
    assert pair.cost == found.cost


def test_a_budget_that_runs_out_is_a_status():
    table = np.random.default_rng(1).integers(0, 3, 1024)
    space = ac.StateSpace.from_function(
        {f"x{i}": (0, 1) for i in range(10)}, lambda *x: table[sum(v << i for i, v in enumerate(x))]
    )
    found = ac.partitions(space, alpha_sufficiency=1, max_seconds=0.2)
    assert found.status is ac.Status.OUT_OF_TIME
    assert (found.cost, found.count, list(found), found.binaries(0)) == (None, None, [], ())
    with pytest.raises(ac.QueryError, match="ran out of time"):
        found.first()


def test_a_state_at_which_nothing_is_necessary_gets_the_empty_binary():
    found = ac.partitions(ac.Model.from_text("A\nB\nC in {0, 1} = 0"), "C")
    assert (found.cost, found.count) == (0, 1)
    assert {row.binary for row in next(iter(found))} == {"00"}
    assert next(iter(found)).check()


def test_preimages_say_what_they_are():
    found = ac.partitions(ac.Model.from_text("A\nB\nC = A and B"), "C", alpha_sufficiency=1)
    pair = found.first()
    by_binary = {preimage.binary: preimage for preimage in pair.preimages}
    assert by_binary["11"].variables == ("A", "B")
    assert [dict(state) for state in by_binary["11"]] == [{"A": 0, "B": 0}]
    assert by_binary["11"].completely_invariant
    assert sum(len(preimage) for preimage in pair.preimages) == 4


def test_the_document_has_the_contract_s_keys():
    found = ac.partitions(ac.Model.from_text("A\nB\nC = A and B"), "C", alpha_sufficiency=1)
    document = found.to_json(max_pairs=1)
    assert {"outcome", "variables", "cost", "count", "pairs", "status"} <= document.keys()
    assert len(document["pairs"]) == 1
    assert document["pairs"][0][0] == {"state": {"A": 0, "B": 0}, "outcome": 0, "binary": "11"}
