"""The benchmarks at tiny sizes: they run, and their answers are right. Nothing here looks at a clock."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import re
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import actcause as ac
import cause_sets
import external
import measure
import models
import or_tree
import run
import state_spaces


@pytest.fixture(autouse=True)
def no_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the garbage collection before every measurement: here it would look at all that other tests hold."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


@cache
def tiny(name: str) -> list[measure.Figure]:
    return list(run.run(name, importlib.import_module(name).TINY))


def test_the_loop_is_measured_beside_two_bare_ones_and_as_it_grows() -> None:
    loop = importlib.import_module("loop")
    figures = list(run.run("loop", loop.TINY))
    assert len(figures) == 2 + len(loop.TINY.factors)
    assert all(figure.ours is not None and figure.ours > 0 for figure in figures)


def test_learning_is_timed_in_every_domain_that_has_a_bar() -> None:
    learning = importlib.import_module("learning")
    assert set(learning.SECONDS) == set(learning.BARS) == set(learning.Arguments().domains)


@pytest.mark.parametrize("name", run.BENCHMARKS)
def test_every_benchmark_gives_right_answers(name: str) -> None:
    assert tiny(name)
    for figure in tiny(name):
        assert figure.benchmark == name
        assert figure.right, figure
        assert figure.ours is not None, figure


def test_published_sizes_are_those_of_the_bars() -> None:
    rock_throwers = importlib.import_module("rock_throwers")
    halpern_pearl = importlib.import_module("halpern_pearl")
    sizes = rock_throwers.Arguments()
    for form, size in (*rock_throwers.QUERY_BARS, *rock_throwers.TOTAL_BARS):
        assert size in getattr(sizes, form)
    assert set(halpern_pearl.BARS) <= set(halpern_pearl.Arguments().sizes)
    assert or_tree.causes_of_or_tree(or_tree.Arguments().all_causes_depth) == 458_329
    assert models.plain_tree(or_tree.Arguments().depth).size == 8_191
    assert models.plain_tree(cause_sets.Arguments().depth).size == 4_095


# -- models and their known answers ------------------------------------------------------------------


@pytest.mark.parametrize("build", [models.rock_throwers, models.rock_throwers_linear])
def test_among_rock_throwers_the_first_throw_and_its_hit_are_the_causes(build) -> None:
    scenario = build(4)
    model = ac.Model.from_text(scenario.text)
    assert len(model.variables) == 9
    found = ac.causes(model, context=scenario.context, effect=scenario.effect, solver="exhaustive")
    assert [dict(cause.event) for cause in found] == [{"T1": 1}, {"H1": 1}]


@pytest.mark.parametrize("seed", range(12))
def test_the_second_computation_on_trees_agrees_with_the_oracle(seed: int) -> None:
    rng = Random(seed)
    tree = models.Tree(tuple(rng.choices(["and", "or"], k=3)), tuple(rng.choices([0, 1], k=4)))
    scenario = tree.scenario
    model = ac.Model.from_text(scenario.text)
    for event in chain.from_iterable(combinations(range(2, 8), size) for size in (1, 2, 3)):
        verdict = ac.is_cause(
            model, context=scenario.context, effect=scenario.effect, event=tree.event(event), solver="exhaustive"
        )
        assert verdict.holds is cause_sets.tree_verdict(tree, event)


@pytest.mark.parametrize("seed", range(12))
def test_a_tree_of_random_gates_comes_with_a_cause_of_leaves(seed: int) -> None:
    tree, cause = models.mixed_tree(6, 5, seed)
    assert len(set(cause)) == 5
    assert set(cause) <= set(tree.leaf_nodes)
    assert cause_sets.tree_verdict(tree, cause)


def test_cause_sets_hold_causes_and_events_that_fail_by_each_condition() -> None:
    answers = {figure.answer for figure in run.run("cause_sets", cause_sets.TINY)}
    assert answers == {"yes", "no (AC2a)", "no (AC3)"}


def test_a_cut_is_told_from_what_is_none() -> None:
    assert or_tree.is_cut(frozenset({"N2", "N3"}))
    assert or_tree.is_cut(frozenset({"N2", "N6", "N7"}))
    assert not or_tree.is_cut(frozenset({"N2", "N6"}))
    assert not or_tree.is_cut(frozenset({"N2", "N3", "N6", "N7"}))


@pytest.mark.parametrize("name", state_spaces.FUNCTIONS)
def test_the_least_cost_of_a_binary_function_is_that_of_algorithm_0(name: str) -> None:
    variables = 2 if name == "parity" else 3  # of parity, three have more pairs than Algorithm 0 agrees to try
    ranges = {f"X{i}": (0, 1) for i in range(variables)}
    space = ac.StateSpace.from_function(ranges, state_spaces.function(name, variables))
    fast = ac.partitions(space, alpha_sufficiency=1)
    literal = ac.partitions(space, alpha_sufficiency=1, solver="algorithm-0")
    assert fast.cost == literal.cost


# -- measuring and showing ---------------------------------------------------------------------------


def forever() -> None:
    while True:
        pass


def test_a_fresh_process_gives_a_result_and_its_memory() -> None:
    outcome = measure.isolated(sum, [1, 2])
    assert (outcome.result, outcome.failure) == (3, None)
    assert outcome.peak_bytes > 1_000_000


def test_a_fresh_process_that_takes_too_long_or_fails_is_reported() -> None:
    assert measure.isolated(forever, seconds=0.5).failure.startswith("over")
    assert "not a number" in measure.isolated(int, "not a number").failure


def test_machine_facts_name_no_host_and_no_path() -> None:
    facts = " ".join(measure.machine().values())
    assert "/" not in facts.replace(measure.machine()["CPU"], "")
    assert set(measure.machine()) == {"CPU", "cores", "memory", "system", "Python"}


def test_a_missed_bar_and_a_wrong_answer_show() -> None:
    missed = measure.Figure("or_tree", "slow", 3.0, bar=1.0, answer="no", right=False)
    unfinished = measure.Figure("or_tree", "endless", None, limit=60.0, bar=60.0)
    assert "**missed**" in run.markdown([missed])
    assert "**(wrong)**" in run.markdown([missed])
    assert "> 60 s" in run.markdown([unfinished])
    assert "(not checked)" in run.markdown([measure.Figure("or_tree", "unknown", 1.0)])
    assert "**missed**" in run.markdown([unfinished])


def test_figures_survive_being_written_and_read() -> None:
    figures = tiny("or_tree")
    assert figures
    written = json.loads(json.dumps(run.gathered(figures)))
    assert [run.cells(run.read_figure(entry)) for entry in written["figures"]] == [
        run.cells(run.read_figure(entry)) for entry in run.gathered(figures)["figures"]
    ]


@pytest.mark.parametrize(("path", "only"), [(run.README, ()), (run.SCALE, run.SCALING)])
def test_documents_show_the_results_as_they_are_written_down(path: Path, only: tuple[str, ...]) -> None:
    results = json.loads(run.RESULTS.read_text())
    document = path.read_text()
    assert run.with_report(document, results, only) == document, "run: python benchmarks/run.py --readme"


def test_figures_that_are_kept_stand_in_the_place_of_earlier_ones() -> None:
    earlier = run.gathered([measure.Figure("or_tree", "one", 1.0), measure.Figure("domains", "other", 2.0)])
    found = run.kept(earlier, [measure.Figure("or_tree", "new", 3.0)])
    assert [entry["what"] for entry in found["figures"]] == ["other", "new"]
    with pytest.raises(SystemExit, match="another machine"):
        run.kept({**earlier, "machine": {"CPU": "other"}}, [])


def test_the_results_are_of_every_benchmark_and_none_is_wrong() -> None:
    figures = [run.read_figure(entry) for entry in json.loads(run.RESULTS.read_text())["figures"]]
    named = dict.fromkeys(figure.benchmark for figure in figures)
    assert tuple(name for name in named if name not in run.LONG) == run.BENCHMARKS
    assert [figure.what for figure in figures if figure.right is False] == []


# -- the HP2SAT data set, in a likeness of ours --------------------------------------------------------


def test_the_external_formats_are_read(tmp_path: Path) -> None:
    endogenous = [
        {"name": "1", "formula": "1_exo"},
        {"name": "2", "formula": "2_exo & $true"},
        {"name": "0", "formula": "1 | ~(~2)"},
    ]
    exogenous = ["1_exo", "2_exo"]
    asked = {"context": {"1_exo": 1, "2_exo": 1}, "phi": "0", "cause": {"1": 1, "2": 1}}
    model = {"kind": "model", "id": 0, "name": "either", "exos": exogenous, "endos": endogenous}
    query = {"kind": "query", "model": 0, "is_cause": True, **asked}
    hp2sat = tmp_path / "hp2sat_cases.jsonl"
    hp2sat.write_text(f"{json.dumps(model)}\n{json.dumps(query)}\n")
    verdicts = {"original_hp": False, "updated_hp": False, "modified_hp": True}
    three = tmp_path / "three_definitions_cases.jsonl"
    three.write_text(json.dumps({"model": "either", "exos": exogenous, "endos": endogenous, **asked, **verdicts}))
    for tally, total in (
        (external.ask(external.hp2sat_queries(hp2sat)), 1),
        (external.ask(external.three_definition_queries(three)), 3),
    ):
        assert (tally.right, tally.total) == (total, total)
    accident = tmp_path / "either.causalmodel"
    accident.write_text(json.dumps({"name": "either", "exos": exogenous, "endos": endogenous}))
    found = external.accident(accident, "0", seconds=10.0)
    assert (found.sizes, found.basic_sizes, found.status) == ((2,), (), "complete")


def load_worlds() -> Any:
    """Load the benchmark of that name: an experiment has it too, and may have been imported before."""
    spec = importlib.util.spec_from_file_location("benchmark_of_worlds", run.HERE / "worlds.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_labels_are_counted_beside_what_speaks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("minigrid")
    load_worlds().main(["labels", "door-key", "--frames", "60", "--seed", "3"])
    printed = capsys.readouterr().out
    assert "door-key, 60 rows, seed 3, minigrid" in printed
    assert re.search(r"^\| agent \| (\d+) \| fac \| \1 \| 0 \| 0 \|$", printed, re.MULTILINE)


def test_effects_are_counted_beside_contacts_and_factors_of_one_class_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("mujoco")
    measured = load_worlds()
    measured.main(["effects", "mujoco-pucks", "--frames", "200"])
    printed = capsys.readouterr().out
    assert re.search(r"^spread of the change: x 0\.0\d+, y 0\.0\d+, vx 0\.\d+, vy 0\.\d+$", printed, re.MULTILINE)
    assert re.search(r"^pusher: \d+ contacts; effects: \d+ above 0\.01, .* above 0\.2$", printed, re.MULTILINE)
    measured.main(["labels", "mujoco-pucks", "--frames", "25", "--classes"])
    assert re.search(r"^\| other \| \d+ \| contact \|", capsys.readouterr().out, re.MULTILINE)


def test_rows_are_counted_in_which_the_own_state_alone_tells_what_comes() -> None:
    own = np.repeat([0.0, 1.0], 10)[:, None]  # a ball in two states; in the first the wall nearly always turns it
    cause = np.zeros((20, 2), dtype=bool)
    cause[:9, 0] = cause[10:12, 0] = True
    state = np.stack([np.zeros_like(own), own], axis=1)
    data = ac.Transitions(
        factors=["wall", "ball"], state=state, outcome=-own, own="ball", cause=cause, metadata={"classes": {}}
    )
    told = list(load_worlds().describe_usual(data))
    assert told[0] == "2 own states; 20 rows share theirs with 4 or more"
    assert told[1].startswith("wall: a cause in 11 rows; of 11 that can be compared, 82% have an own state")
    assert told[1].endswith("half of them in 90% of its rows")
