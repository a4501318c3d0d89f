"""What went wrong, in sentences."""

from __future__ import annotations

import pytest

from actcause.learn.training.diagnostics import diagnose

WELL = {"full_error": 0.1, "blind_error": 0.8}


def test_a_training_that_went_well_needs_no_words() -> None:
    assert diagnose(shares={"a": 0.0, "b": 0.4}, **WELL) == []
    assert diagnose(shares={"a": 1.0, "b": 0.4}, **WELL) == []


@pytest.mark.parametrize(
    ("shares", "others", "said"),
    [
        ({"a": 0.0, "b": 0.0}, WELL, "all zeros"),
        ({"a": 1.0, "b": 1.0}, WELL, "all ones"),
        ({"a": 0.5}, {"full_error": 0.78, "blind_error": 0.8}, "has not learned"),
        ({"a": 0.5}, {**WELL, "stopped": True}, "stopped before its end"),
    ],
)
def test_each_failure_is_one_sentence_with_what_to_try(
    shares: dict[str, float], others: dict[str, float], said: str
) -> None:
    (sentence,) = diagnose(shares=shares, **others)  # type: ignore[arg-type]
    assert said in sentence
    assert sentence.endswith(".")
    assert "try" in sentence or "resume" in sentence


def test_several_failures_are_all_told() -> None:
    assert len(diagnose(shares={"a": 0.0}, full_error=1.0, blind_error=1.0, stopped=True)) == 3
