"""Every experiment at a tiny size, end to end; and every page says what its results say."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import FrozenInstanceError, is_dataclass
from pathlib import Path

import pytest

from actcause.cli import main
from actcause.learn.training import surprises, thresholds
from actcause.reproduction import learned, pages
from actcause.reproduction.catalogue import CLONE, ExperimentFile, catalogue, find_folder
from actcause.reproduction.certificates import FILE
from actcause.reproduction.experiment import SIZES, piece_key
from actcause.reproduction.plots import digest
from actcause.reproduction.request import SHOWN
from actcause.reproduction.states import GOOD
from actcause.reproduction.store import Store

KNOWN = catalogue(find_folder())
DOCS = CLONE / "docs" / "results"
RESULTS = CLONE / "results"
BARE = ("typer", "rich", "pyarrow", "pysat", "matplotlib")  # what a machine for training may lack
# Those of which not every result has been made.
GROWING = ("chains", "worlds", "noise", "rl_augment", "rl_relabel", "rl_bonus", "other_kinds")
each = pytest.mark.parametrize("listed", KNOWN.values(), ids=list(KNOWN))


@each
def test_a_file_is_an_experiment_of_its_own_name(listed: ExperimentFile) -> None:
    tree = ast.parse(listed.file.read_text(encoding="utf-8"))
    assert listed.experiment.name == listed.file.stem
    assert listed.experiment.name in (ast.get_docstring(tree) or "")
    assert is_dataclass(listed.experiment.arguments)
    assert type(listed.experiment.arguments).__name__ == "Arguments"
    with pytest.raises(FrozenInstanceError):
        listed.experiment.arguments.anything = 1


@each
@pytest.mark.parametrize("size", SIZES)
def test_pieces_have_names_of_their_own_and_settings_that_json_can_hold(listed: ExperimentFile, size: str) -> None:
    arguments = listed.experiment.size(size)
    found = listed.experiment.pieces(arguments)
    assert len({piece_key(piece) for piece in found}) == len(found) > 0
    assert all(json.dumps(listed.experiment.settings(piece, arguments)) for piece in found[:3])


def test_the_accuracy_table_is_nine_domains_ten_seeds_and_every_method() -> None:
    from actcause.learn import names

    arguments = KNOWN["accuracy"].experiment.arguments
    assert (len(arguments.domains), len(arguments.seeds)) == (9, 10)
    assert set(arguments.methods) == set(names()) - set(learned.NOT_RUN)
    assert arguments.frames is None
    assert not arguments.options


def test_all_of_them_run_end_to_end_and_a_lost_result_is_made_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(surprises, "STEPS", 10)
    monkeypatch.setattr(thresholds, "STEPS", 10)
    asked = ["reproduce", "--size", "tiny", "--device", "cpu", "--results", str(tmp_path), "--json"]
    assert main(asked) == 0
    done = json.loads(capsys.readouterr().out)["experiments"]
    assert [one["name"] for one in done] == list(KNOWN)
    assert {one["state"] for one in done} == {"done"}
    assert {path.stem for path in (tmp_path / "tiny" / "pages").glob("*.md")} == {*KNOWN, "index"}
    loser = tmp_path / "tiny" / "accuracy.jsonl"
    *kept, lost = loser.read_text().splitlines(keepends=True)
    loser.write_text("".join(kept))
    before = {path: path.read_bytes() for path in (tmp_path / "tiny").glob("*.jsonl")}
    assert main(asked) == 0
    assert sum(one["ran"] for one in json.loads(capsys.readouterr().out)["experiments"]) == 1
    again = {path: path.read_bytes() for path in (tmp_path / "tiny").glob("*.jsonl")}
    assert {path for path in before if before[path] != again[path]} == {loser}
    assert again[loser].startswith(before[loser])
    assert json.loads(again[loser].splitlines()[-1])["piece"] == json.loads(lost)["piece"]


def test_numpy_and_torch_are_enough_to_run_from_the_sources(tmp_path: Path) -> None:
    blocked = (
        f"import sys\nfor name in {BARE}: sys.modules[name] = None\n"
        "from actcause.reproduction.__main__ import main\n"
        f"sys.exit(main(['accuracy', '--size', 'tiny', '--only', 'method=never', '--device', 'cpu', '--together', '2',"
        f" '--results', {str(tmp_path)!r}, '--archive', {str(tmp_path / 'all.jsonl')!r}]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(CLONE / "src")}
    ran = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 2


# -- pages -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown() -> dict[str, pages.Document]:
    return {one.name: one for one in pages.write_documents(list(KNOWN.values()), RESULTS, SHOWN)}


@pytest.mark.parametrize("name", [*KNOWN, "index"])
def test_a_page_says_what_its_results_say(name: str, shown: dict[str, pages.Document]) -> None:
    found = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert found == shown[name].text, "run: actcause reproduce --pages"


@pytest.mark.parametrize("name", list(KNOWN))
def test_a_picture_shows_what_its_results_say(name: str, shown: dict[str, pages.Document]) -> None:
    for plot in shown[name].page.plots:
        drawn = (DOCS / f"{plot.name}.svg").read_text(encoding="utf-8")
        assert f"data {digest(plot.data)}" in drawn, "run: actcause reproduce --pages"


def test_there_is_no_picture_that_no_page_shows(shown: dict[str, pages.Document]) -> None:
    names = {plot.name for one in shown.values() for plot in one.page.plots}
    assert {path.stem for path in DOCS.glob("*.svg")} == names


def test_the_readme_shows_the_accuracy_table(shown: dict[str, pages.Document]) -> None:
    readme = (CLONE / "README.md").read_text(encoding="utf-8")
    assert all(mark in readme for mark in pages.README_MARKS)
    assert pages.replace_section(readme, shown["accuracy"].page.summary) == readme, "run: actcause reproduce --pages"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mover", "it is the one that the paper prints"),
        ("mover_weak_sufficiency", "There are 8 minimal pairs of cost 12; the paper prints pair"),
        ("mover_without_invariance", "12 of 12 states are as in the paper"),
        ("appendix_tables", "| [Rock Throwing](#rock-throwing) | 1 | 4 | 32 | 28 | 28 | yes |"),
        ("appendix_tables", "| [Forest Fire](#forest-fire) | 0.2 | 16 | 4 | 4 | 4 | yes |"),
        ("figure_1", "| (b) | 49 | 51 | 50 | `01` |"),
    ],
)
def test_the_exact_tables_are_complete_and_the_papers(name: str, said: str, shown: dict[str, pages.Document]) -> None:
    assert said in shown[name].text
    assert "the rest is missing" not in shown[name].text


def test_results_name_no_place_and_have_one_file_for_each_experiment() -> None:
    records = [record for name in KNOWN for record in Store(RESULTS).read(name)]
    assert len(records) >= 1673
    assert all(set(record.machine) <= {"CPU", "cores", "GPU"} for record in records)
    small = {path.name for path in (RESULTS / "small").glob("*.jsonl")}
    full = {path.name for path in RESULTS.glob("*.jsonl")}
    wanted = {f"{name}.jsonl" for name in KNOWN}
    assert full - {FILE} <= wanted
    assert wanted - full <= small  # what has been run in a small size alone


def test_every_result_of_the_full_size_is_there_and_certified() -> None:
    for name in set(KNOWN) - set(GROWING):
        results = pages.read_results(KNOWN[name].experiment, RESULTS, ("full",))
        assert len(results.records) == results.wanted
        assert set(results.states) <= set(GOOD), name


@pytest.mark.parametrize("name", GROWING)
def test_a_page_that_is_not_complete_says_what_is_missing(name: str, shown: dict[str, pages.Document]) -> None:
    results = pages.read_results(KNOWN[name].experiment, RESULTS, ("full",))
    assert ("Not run yet" in shown[name].text or not results.records) == (len(results.records) < results.wanted)
