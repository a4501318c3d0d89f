"""What `benchmarks/house.py` counts in the sources, and what it must find in ours."""

from __future__ import annotations

from pathlib import Path

import pytest

import house
from import_graph import ROOT


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Two modules with a class of one name, a participle each, and six lines in common."""
    shared = "".join(f"    value = {number} + value\n" for number in range(house.SHARED))
    for name, function in (("one", "found"), ("other", "_tried_again")):
        text = f"class Course:\n    pass\n\ndef {function}(value):\n{shared}    return value\n\ndef seed():\n    pass\n"
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def test_a_class_name_that_stands_twice_is_found(package: Path) -> None:
    assert house.list_classes_defined_twice(package) == ["Course"]


def test_participles_are_found_and_words_that_only_look_like_them_are_not(package: Path) -> None:
    assert house.list_participles(package) == ["_tried_again", "found"]


def test_lines_are_repeated_if_enough_of_them_stand_elsewhere_too(package: Path) -> None:
    assert house.count_repeated_lines(package) >= 2 * house.SHARED
    (package / "other.py").unlink()
    assert house.count_repeated_lines(package) == 0


def test_no_two_classes_of_the_package_have_one_name() -> None:
    assert house.list_classes_defined_twice(ROOT) == []


def test_a_question_passes_at_most_ten_files() -> None:
    stations = [file for file in house.walk_question(house.HERE) if Path(file).stem not in house.VOCABULARY]
    assert len(stations) <= 10, stations


def test_hardly_any_function_of_the_package_is_named_by_a_participle() -> None:
    """Those that are left are properties, adjectives and public names."""
    found = house.list_participles(ROOT)
    assert len(found) <= 27, found
