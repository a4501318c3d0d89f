"""`actcause reproduce --certify`: results outlive a change of code that leaves the bytes as they were."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from actcause.data import domain_names
from actcause.learn import METHODS
from actcause.reproduction import canaries, closure, revisions
from actcause.reproduction.__main__ import main
from actcause.reproduction.catalogue import catalogue, find_folder
from actcause.reproduction.certificates import Certificate, Certificates
from actcause.reproduction.certify import compare_parts
from actcause.reproduction.digest import digest_package, digest_whole, write_needed_parts
from actcause.reproduction.experiment import Record, ReproduceError
from actcause.reproduction.states import Demand, State, judge
from letters import LETTERS

CANARIES = """import json, runpy, sys
from importlib.util import find_spec
from pathlib import Path

PACKAGE = Path(find_spec("actcause").origin).parent


def digest_exact():
    from actcause.worth import WORTH


def digest_domain():
    pass


def digest_method():
    pass


if __name__ == "__main__":
    worth = runpy.run_path(str(PACKAGE / "worth.py"))["WORTH"]
    asked = [f"{part} a_1" if part == "experiment:letters" else part for part in sys.argv[2:]]
    parts = {part: f"worth {worth}" if part == "exact" else "as ever" for part in asked}
    Path(sys.argv[1]).write_text(json.dumps({"package": str(PACKAGE), "parts": parts}))
"""
WORTHY = LETTERS.replace(
    "    return text * factor",
    "    if factor < 0:\n        from actcause.worth import WORTH\n    return text * factor",
)


class Clone:
    """A repository with a package of few files, one experiment, and canaries that take no time."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.package, self.results = home, home / "src" / "actcause", home / "results"
        self._capsys = capsys
        (self.package / "reproduction").mkdir(parents=True)
        (home / "experiments").mkdir()
        (home / ".gitignore").write_text("__pycache__/\n")
        (home / "experiments" / "letters.py").write_text(WORTHY)
        self.write("", "__init__.py")
        self.write('"""What something is worth."""\n\nWORTH = 1\n')
        self.write(CANARIES, "reproduction/canaries.py")
        subprocess.run(["git", "init", "-q", str(home)], check=True)
        self.first = self.commit()

    def write(self, text: str, name: str = "worth.py") -> None:
        (self.package / name).write_text(text)

    def commit(self) -> str:
        git = ["git", "-C", str(self.home), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "add", "src", "experiments"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
        found = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True)
        return found.stdout.strip()

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output and notes of a command, as of a process that begins now."""
        for each in (closure.digest_closure, closure._expand, closure._read_statements, closure._list_entries):
            each.cache_clear()
        code = main([*words, "--experiments", str(self.home / "experiments")])
        return (code, *self._capsys.readouterr())

    def certify(self, base: str) -> dict[str, Any]:
        code, printed, notes = self.run("--certify", base, "--json")
        assert code == 0, notes
        return json.loads(printed)

    def state(self) -> dict[str, Any]:
        [document] = json.loads(self.run("--json")[1])
        return {name: document[name] for name in ("state", "current", "certified", "stale", "reasons")}

    @property
    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.results.glob("*.jsonl")}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Clone:
    made = Clone(tmp_path / "clone", capsys)
    monkeypatch.setattr("actcause.reproduction.catalogue.PACKAGE", made.package)
    return made


CURRENT = {"state": "done", "current": 4, "certified": 0, "stale": 0, "reasons": {}}
CERTIFIED = {"state": "done", "current": 0, "certified": 4, "stale": 0, "reasons": {}}


def test_results_outlive_a_refactoring_and_no_more(clone: Clone) -> None:
    assert clone.run("letters", "--device", "cpu")[0] == 0
    records = clone.files["letters.jsonl"]
    assert {json.loads(line)["commit"] for line in records.splitlines()} == {clone.first}
    clone.write('"""Other words."""\n\nWORTH = 1  # and a comment\n')
    assert clone.state() == CURRENT

    clone.write("ONE = 1\nWORTH = ONE\n")
    reason = f"code not certified: run `actcause reproduce --certify {clone.first}`"
    assert clone.state() == {"state": "stale", "current": 0, "certified": 0, "stale": 4, "reasons": {reason: 4}}
    certificate = clone.certify("HEAD")
    assert certificate["from_commit"] == clone.first
    assert certificate["to_commit"] == f"{clone.first}+changes"
    assert certificate["canaries"] == {"exact": ["worth 1"] * 2, "experiment:letters a_1": ["as ever"] * 2}
    assert set(certificate["equal"]) == {*certificate["same_code"], "exact", "experiment:letters"}
    assert "domain:push" in certificate["same_code"]
    assert certificate["different"] == []
    assert clone.state() == CERTIFIED

    second, before = clone.commit(), clone.files
    clone.write("ONE = 2\nWORTH = ONE\n")
    code, printed, _ = clone.run("--certify", second)
    assert code == 1
    assert "gave the same bytes in 1 others" in printed
    assert "They differ in exact." in printed
    reason = f"canaries of exact differ from {second}"
    assert clone.state() == {"state": "stale", "current": 0, "certified": 0, "stale": 4, "reasons": {reason: 4}}
    assert clone.run("letters", "--device", "cpu")[0] == 0
    assert clone.state() == CURRENT
    assert all(clone.files[name].startswith(content) for name, content in before.items())
    assert before["letters.jsonl"] == records


def test_code_that_a_result_does_not_need_leaves_it_current(clone: Clone) -> None:
    clone.run("letters", "--device", "cpu")
    clone.write("OTHER = 1\n", "other.py")
    assert clone.state() == CURRENT
    certificate = clone.certify("HEAD")
    assert (certificate["codes"], certificate["canaries"]) == ({}, {})
    assert certificate["equal"] == certificate["same_code"]


def test_results_that_name_the_whole_package_are_led_on(clone: Clone) -> None:
    clone.run("letters", "--device", "cpu")
    whole = digest_whole(clone.package, clone.home / "experiments" / "letters.py", "run")
    lines = clone.files["letters.jsonl"].decode().splitlines()
    [code] = {json.loads(line)["code"] for line in lines}
    (clone.results / "letters.jsonl").write_text("".join(f"{line.replace(code, whole)}\n" for line in lines))
    assert clone.state()["stale"] == 4
    clone.write("ONE = 1\nWORTH = ONE\n")
    clone.certify("HEAD")
    assert clone.state() == CERTIFIED
    joined, compared = map(json.loads, clone.files["certificates.jsonl"].decode().splitlines())
    assert joined["from_commit"] == joined["to_commit"] == compared["from_commit"]
    assert joined["codes"] == {"letters exact": {whole: code}}
    assert list(compared["codes"]["letters exact"]) == [code]
    clone.certify("HEAD")
    assert len(clone.files["certificates.jsonl"].splitlines()) == 3  # it is said once


def test_pages_show_states_and_stay_as_they_are_when_code_changes(clone: Clone, tmp_path: Path) -> None:
    clone.run("letters", "--device", "cpu")
    clone.write("ONE = 1\nWORTH = ONE\n")
    second = clone.commit()
    clone.certify(clone.first)
    texts = []
    for worth in ("WORTH = 1\n", "WORTH = 3\n"):
        clone.write(worth)
        assert clone.run("--pages", "--docs", str(tmp_path / "docs"))[0] == 0
        texts.append((tmp_path / "docs" / "letters.md").read_text())
    assert f"**State**: 4 certified at `{second}`" in texts[0]
    assert texts[0] == texts[1]


def test_a_mistake_is_one_line(clone: Clone) -> None:
    for base in ("nothing", "-x"):
        code, printed, notes = clone.run(f"--certify={base}")
        assert (code, printed) == (2, "")
        assert f"--certify takes a commit of the clone, such as HEAD~1 or 1a2b3c4. Got '{base}'." in notes
    clone.write("raise ValueError('no worth')\n")
    code, printed, notes = clone.run("--certify", "HEAD")
    assert (code, printed) == (2, "")
    assert "ended with an error on the present tree: ValueError: no worth\n" in notes
    assert "Traceback" not in notes
    assert not clone.results.exists()


@dataclass(frozen=True)
class Named:
    """A piece of an experiment."""

    name: str


@pytest.mark.parametrize(
    ("changed", "equal"),
    [
        ({}, ["method:a", "method:b", "experiment:two"]),
        ({"method:a": "x", "experiment:two a": "x"}, ["method:b", "experiment:two"]),
        ({"experiment:two b": "x"}, ["method:a", "method:b"]),
        ({"method:a": "x", "method:b": "x", "experiment:two a": "x"}, []),
    ],
)
def test_what_one_method_changes_says_nothing_of_the_others(changed: dict[str, str], equal: list[str]) -> None:
    two = SimpleNamespace(tiny="ab", pieces=lambda tiny: [Named(one) for one in tiny])
    two.uses = lambda piece: (f"method:{piece.name}",)
    parts = ["method:a", "method:b", "experiment:two", "method:new"]
    first = dict.fromkeys(("method:a", "method:b", "experiment:two a", "experiment:two b"), "y")
    found, different = compare_parts(
        parts, first, {**first, **changed}, {"two": cast("Any", SimpleNamespace(experiment=two))}
    )
    assert found == equal
    assert {*found, *different} == {*parts} - {"method:new"}


# -- certificates and states -------------------------------------------------------------------------


def joining(before: str, after: str, equal: list[str], different: tuple[str, ...] = ()) -> Certificate:
    return Certificate(f"commit-{before}", f"commit-{after}", {"letters": {before: after}}, equal, different)


ALL = ["exact", "experiment:letters", "domain:push"]
DEMAND = Demand("letters", {"factor": 2}, {"exact": 1}, "d")


def make_record(code: str, **changed: Any) -> Record:
    given = {"settings": {"factor": 2}, "revisions": {"exact": 1}, **changed}
    return Record(
        "letters", {"letter": "a"}, value=1, versions={}, machine={}, seconds=0, commit=None, code=code, **given
    )


def test_certificates_make_chains_in_both_directions() -> None:
    known = Certificates((joining("b", "a", ALL), joining("c", "d", ALL), joining("b", "c", ALL[:2])))
    assert judge([make_record("a")], DEMAND, known).state is State.CERTIFIED
    assert known.reach("letters", "a", frozenset(ALL[:2])) == {"a", "b", "c", "d"}
    assert known.reach("letters", "a", frozenset(ALL)) == {"a", "b"}
    assert known.reach("other", "a", frozenset(ALL)) == {"a"}


def test_a_code_where_other_parts_are_used_leads_nowhere() -> None:
    codes = {"letters domain:push exact": {"a": "b"}, "letters exact": {"a": "c"}}
    known = Certificates((Certificate("one", "two", codes, ALL, ()),))
    assert known.reach("letters", "a", frozenset(ALL)) == {"a", "b"}
    assert known.reach("letters", "a", frozenset(ALL[:2])) == {"a", "c"}
    assert known.newest("letters", ["exact"], [make_record("a")]) == ("c", "two")


def test_a_result_from_before_there_were_revisions_is_of_the_first() -> None:
    raised = Demand("letters", {"factor": 2}, {"exact": 2}, "d")
    standing = judge([make_record("d", revisions=None)], raised, Certificates())
    assert standing.reason == "revision of exact was 1, now 2"


@pytest.mark.parametrize(
    ("record", "state", "reason"),
    [
        (make_record("d"), State.CURRENT, ""),
        (make_record("c"), State.CERTIFIED, ""),
        (make_record("c", revisions=None), State.CERTIFIED, ""),
        (make_record("d", revisions={"exact": 0}), State.STALE, "revision of exact was 0, now 1"),
        (make_record("c", settings={"factor": 3}), State.STALE, "other settings"),
        (make_record("b"), State.STALE, "canaries of exact differ from commit-b"),
        (make_record("z"), State.STALE, "code not certified: run `actcause reproduce --certify COMMIT`"),
    ],
)
def test_a_result_has_a_state_and_a_stale_one_a_reason(record: Record, state: State, reason: str) -> None:
    known = Certificates((joining("b", "c", ALL[1:], ("exact",)), joining("c", "d", ALL)))
    found = judge([record], DEMAND, known)
    assert (found.state, found.reason) == (state, reason)


def test_the_newest_good_result_counts_and_none_is_missing() -> None:
    known = Certificates((joining("c", "d", ALL),))
    records = [make_record("c"), make_record("d"), make_record("z"), make_record("d", settings={})]
    assert judge(records, DEMAND, known).record is records[1]
    assert judge([records[3], records[2], records[3]], DEMAND, known).record is records[2]
    assert judge([], DEMAND, known).state is State.MISSING


# -- revisions ---------------------------------------------------------------------------------------


def test_revisions_are_those_of_the_classes() -> None:
    known = revisions.list_revisions()
    assert {f"method:{name}" for name in METHODS} == {part for part in known if part.startswith("method:")}
    assert all(known[f"method:{name}"] == kind.revision > 0 for name, kind in METHODS.items())
    assert {f"domain:{name}" for name in domain_names()} == {part for part in known if part.startswith("domain:")}


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(ReproduceError, match="Got 'method:nothing'"):
        revisions.read_revisions(["exact", "method:nothing"])


def test_a_result_is_stale_once_a_revision_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = catalogue(find_folder())["mover"]
    [piece, *_] = listed.experiment.pieces(listed.experiment.arguments)
    monkeypatch.setattr(revisions, "list_revisions", lambda: {"exact": 2})
    demand = Demand.of(listed.experiment, piece, listed.experiment.arguments, listed.digest_code(piece))
    record = make_record(demand.code, settings=demand.settings)
    assert judge([record], demand, Certificates()).reason == "revision of exact was 1, now 2"


# -- digests and canaries ----------------------------------------------------------------------------


def small_package(folder: Path) -> Path:
    (folder / "page").mkdir(parents=True)
    (folder / "one.py").write_text('"""One."""\n\ndef one() -> int:\n    "Gives 1."\n    return 1\n')
    (folder / "lazy.py").write_text("VALUE = f'a{1}b'\n")
    (folder / "page" / "server.py").write_text("PORT = 8000\n")
    return folder


def test_the_digest_of_whole_packages_stays_what_it_was(tmp_path: Path) -> None:
    """Certificates name digests: if they were computed otherwise, no chain would lead anywhere."""
    package = small_package(tmp_path / "package")
    experiment = tmp_path / "experiment.py"
    experiment.write_text(
        "TIMES = 2\n\n\ndef run(pack):\n    return [TIMES * one for one in pack]\n\n\nTITLE = 'Twice'\n"
    )
    assert digest_package(package) == "b00b60d6394f926c"
    assert digest_whole(package, experiment, "run") == "bd41135af4332c93"


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("one.py", "def one(): return 1  # one", True),
        ("one.py", "def one(): return 2", False),
        ("lazy.py", "VALUE = 'a1b'", False),
        ("page/server.py", "PORT = 9000", True),
        ("new.py", "pass", False),
    ],
)
def test_every_module_counts_but_front_ends_and_layout_do_not(tmp_path: Path, file: str, text: str, same: bool) -> None:
    before, after = small_package(tmp_path / "before"), small_package(tmp_path / "after")
    (after / file).write_text(text)
    assert (digest_package(before) == digest_package(after)) is same


def test_a_file_is_followed_from_the_name_that_is_needed(tmp_path: Path) -> None:
    (tmp_path / "letters.py").write_text(LETTERS)
    whole = "".join(write_needed_parts(tmp_path / "letters.py", "run"))
    assert "doubled" in whole
    assert "PAUSE" in whole
    assert "The letters" not in whole


def test_there_are_canaries_of_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("domain", "method"):
        monkeypatch.setattr(canaries, f"digest_{name}", lambda each: each)
    monkeypatch.setattr(canaries, "digest_exact", lambda: "")
    monkeypatch.setattr(canaries, "digest_experiments", lambda names: ((name, "") for name in names))
    parts = [*revisions.list_revisions(), "experiment:mover"]
    assert list(canaries.digest_parts([*parts, "method:future"], lambda part: None)) == parts


def test_a_canary_repeats_and_sees_a_change_of_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = canaries.digest_domain("mover-1d")
    assert canaries.digest_domain("mover-1d") == before
    collect = canaries.collect

    def nudge(*given: Any, **options: Any) -> Any:
        data = collect(*given, **options)
        return data.replaced(state=data.state + (data.state == 0) * 1e-45)

    monkeypatch.setattr(canaries, "collect", nudge)
    assert canaries.digest_domain("mover-1d") != before


def test_times_do_not_count() -> None:
    value = {"error": 1, "training_seconds": 3, "parts": [{"seconds": 2, "n": 1}]}
    assert canaries.without_times(value) == {"error": 1, "parts": [{"n": 1}]}
