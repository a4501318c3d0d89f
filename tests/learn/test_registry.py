"""Methods by name."""

from __future__ import annotations

import pytest

from actcause.learn import METHODS, LearnError, make, names


def test_every_method_is_known_by_its_name_with_the_default_first() -> None:
    assert names()[0] == "jaci-auto"
    assert all(kind.method == name for name, kind in METHODS.items())
    assert all(kind.summary and len(kind.summary) < 100 for kind in METHODS.values())


@pytest.mark.parametrize("name", METHODS)
def test_a_learner_is_made_with_its_options(name: str) -> None:
    learner = make(name, seed=3)
    assert type(learner) is METHODS[name]
    assert learner.seed == 3


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(LearnError, match="did you mean 'never'"):
        make("nevr")
    with pytest.raises(LearnError, match="choose one of jaci-auto, "):
        make("xyz")
    with pytest.raises(LearnError, match="Unknown method 3"):
        make(3)  # type: ignore[arg-type]


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        LearnError, match=r"The method jaci-em does not take the option 'widht'; did you mean 'width'\?"
    ):
        make("jaci-em", widht=3)
    with pytest.raises(LearnError, match="does not take the option 'zzz'; it takes seed, "):
        make("never", zzz=1)
