"""What code a result depends on: names followed through imports, tables by the parts that are used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from actcause.learn.registry import HOMES
from actcause.learn.training import surprises, thresholds
from actcause.reproduction.catalogue import catalogue, find_folder
from actcause.reproduction.closure import PACKAGE, digest_closure, find_closure
from actcause.reproduction.digest import FRONT_ENDS

FILES = {
    "__init__.py": "from . import examples\nfrom .core import ask\n",
    "core/__init__.py": "from .ask import ask\nfrom .other import other\n",
    "core/ask.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import other\n\n\n"
        "def ask():\n    from ..deep import depth\n    return depth()\n"
    ),
    "core/other.py": "def other(): return 2\n",
    "deep.py": "def depth(): return 3\n",
    "lazy/__init__.py": (
        "if TYPE_CHECKING:\n    from .late import late\n    from .later import later\ndef __getattr__(name): ...\n"
    ),
    "lazy/late.py": "late = 1\n",
    "lazy/later.py": "later = 1\n",
    "learn/__init__.py": "from .registry import METHODS\n",
    "learn/registry.py": 'HOMES = {"grad": ("gradient", "Gradient"), "cf": ("counter", "Counter")}\nMETHODS = HOMES\n',
    "learn/methods/__init__.py": "",
    "learn/methods/gradient.py": "from ...deep import depth\n",
    "learn/methods/counter.py": "",
    "envs/__init__.py": (
        "from .drawn import drawn\nfrom .push import Push\nfrom .reactor import Reactor\n"
        'DOMAINS = dict({**drawn, "push": Push, "reactor": Reactor})\n'
        "def make(name): return DOMAINS[name]()\ndef describe(): return 'domains'\n"
    ),
    **{f"envs/{name}.py": f"{name} = {name.title()} = dict\n" for name in ("drawn", "push", "reactor")},
    "examples/__init__.py": "from . import themes\nfrom .table import load\n",
    "examples/table.py": "TABLE = []\ndef load(): return TABLE\n",
    "examples/themes.py": "from .table import TABLE\nTABLE.append(1)\n",
    "cli.py": "from .core import ask\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "package" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "package" / name).write_text(text)
    return tmp_path / "package"


def follow(package: Path, run: str, *parts: str) -> set[str]:
    """The modules that a function needs."""
    file = package.parent / "experiment.py"
    file.write_text(f"import actcause.cli\n\n\ndef run():\n    {run}\n")
    return {module.removeprefix("actcause.") for module in find_closure(package, file, "run", parts)} - {""}


@pytest.mark.parametrize(
    ("run", "needed"),
    [
        ("from actcause import ask", {"actcause", "core", "core.ask", "deep"}),  # re-exported twice, one import lazy
        ("import actcause as ac; ac.ask()", {"actcause", "core", "core.ask", "deep"}),
        ("from actcause.core.other import other", {"core.other"}),
        ("from actcause.lazy import late", {"lazy", "lazy.late"}),
        ("from actcause import lazy; lazy.later", {"lazy", "lazy.later"}),
        ("from actcause import lazy; getattr(lazy, 'la' + 'te')", {"lazy", "lazy.late", "lazy.later"}),
        ("from actcause.envs import describe", {"envs"}),
        ("from actcause.examples import load", {"examples", "examples.table", "examples.themes"}),
        ("from actcause.examples.table import load", {"examples", "examples.table", "examples.themes"}),
        ("import numpy", set()),
    ],
)
def test_names_are_followed_to_the_files_that_define_them(package: Path, run: str, needed: set[str]) -> None:
    assert follow(package, run) == needed


def test_of_a_table_the_entries_of_the_parts_count(package: Path) -> None:
    run = "from actcause.learn import METHODS; from actcause.envs import make"
    always = {"learn", "learn.registry", "envs", "envs.drawn"}
    assert follow(package, run) == always
    assert follow(package, run, "domain:push") == {*always, "envs.push"}
    assert follow(package, run, "method:grad") == {*always, "learn.methods.gradient", "deep"}
    assert follow(package, run, "method:cf", "domain:reactor") == {*always, "learn.methods.counter", "envs.reactor"}


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("deep.py", '"""Deep."""\n\ndef depth() -> int:  # deep\n    return 3\n', True),
        ("deep.py", "def depth(): return 4\n", False),
        ("core/ask.py", FILES["core/ask.py"].replace("import other", "import others"), True),
        ("core/other.py", "def other(): return 0\n", True),
        ("core/__init__.py", "from .ask import ask\n", True),
        ("core/__init__.py", "from .other import other as ask\n", False),
        ("envs/reactor.py", "Reactor = list\n", True),
        ("envs/__init__.py", FILES["envs/__init__.py"].replace('"reactor": Reactor', '"new": 1'), True),
        ("envs/__init__.py", FILES["envs/__init__.py"].replace('"push": Push', '"push": Reactor'), False),
        ("learn/registry.py", FILES["learn/registry.py"].replace("counter", "other"), True),
        ("learn/registry.py", FILES["learn/registry.py"].replace("gradient", "other"), False),
    ],
)
def test_code_that_is_not_needed_does_not_count(package: Path, file: str, text: str, same: bool) -> None:
    experiment, parts = package.parent / "experiment.py", frozenset({"method:grad", "domain:push"})
    experiment.write_text("from actcause import ask, learn\nfrom actcause.envs import make\n\ndef run():\n    "
                          "return ask(), learn.METHODS, make()\n")  # fmt: skip
    before = digest_closure(package, experiment, "run", parts)
    changed = package.rename(package.with_name("changed"))
    (changed / file).write_text(text)
    assert (digest_closure(changed, experiment, "run", parts) == before) is same


# -- the experiments ---------------------------------------------------------------------------------

KNOWN = catalogue(find_folder())


def list_needed(name: str, *parts: str) -> set[str]:
    listed = KNOWN[name]
    found = find_closure(PACKAGE, listed.file, listed.experiment.run.__name__, parts)
    return {module.removeprefix("actcause.") for module in found}


def test_a_method_in_a_domain_depends_on_no_other_method_and_no_other_world() -> None:
    found = list_needed("accuracy", "method:jaci-em", "domain:push")
    assert {"learn.methods.mask_jaci", "envs.push", "learn.training.loop", "reproduction.learned"} <= found
    others = {f"learn.methods.{file}" for file, _ in HOMES.values()} - {"learn.methods.mask_jaci"}
    assert found & others == {"learn.methods.trivial"}  # `never` stands for all where recordings are prepared
    assert not [module for module in found if module.startswith(("core", "rl", "worlds.fetch", "envs.breakout"))]


def test_what_is_exact_depends_on_no_learner() -> None:
    found = list_needed("mover", "exact")
    assert {"core.solvers.dynamic_program", "core.spaces.preimages", "examples.published_tables"} <= found
    assert not [module for module in found if module.startswith(("learn", "envs", "data", "core.probabilities"))]


@pytest.mark.parametrize("name", list(KNOWN))
def test_no_result_comes_from_a_front_end(name: str) -> None:
    fronts = tuple(front.removesuffix(".py").replace("/", ".") for front in FRONT_ENDS)
    experiment = KNOWN[name].experiment
    for parts in {frozenset(experiment.uses(piece)) for piece in experiment.pieces(experiment.tiny)}:
        assert not [module for module in list_needed(name, *parts) if f"{module}.".startswith(fronts)]


@contextmanager
def noting_files(passed: set[str]) -> Iterator[None]:
    """Note the files of the package of which a function is called, but for what imports run."""
    known: dict[str, bool] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event != "call" or file in passed or not known.setdefault(file, file.startswith(str(PACKAGE))):
            return
        above: FrameType | None = frame
        while above is not None:
            if above.f_code.co_filename == "<frozen importlib._bootstrap>":
                return
            above = above.f_back
        passed.add(file)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


FEW = {"seeds": (0,), "frames": 1000, "options": {"steps": 2, "distil_steps": 2, "width": 8, "batch": 64}}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("figure_1", {}),
        ("mover", {}),
        ("accuracy", {**FEW, "methods": ("jaci-em",)}),
        ("accuracy", {**FEW, "methods": ("cmi",), "domains": ("push",)}),
        ("rl_explain", {}),
        ("chains", {}),
    ],
)
def test_whatever_runs_is_in_the_closure(name: str, changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (surprises, thresholds):
        monkeypatch.setattr(module, "STEPS", 2)
    experiment = KNOWN[name].experiment
    arguments = replace(experiment.tiny, **changed)
    piece, passed = experiment.pieces(arguments)[0], set[str]()
    with noting_files(passed):
        experiment.run([piece], arguments, "cpu")
    modules = {
        ".".join(Path(file).relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__") for file in passed
    }
    assert len(modules) > 5
    assert modules - {"__init__", "_moved"} <= list_needed(name, *experiment.uses(piece))
