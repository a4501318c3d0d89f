"""Probabilities of roots, as they are typed."""

import pytest

from actcause.core.root_probabilities import parse_prior
from actcause.errors import QueryError


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "A=",
        "=0.3",
        "A:x=0.3",
        "A:1=0.3, A:x=0.7",
        "A:--1=0.3",
        "A:²=0.3",
        "A=0.3, A=0.7",
        "A:1=0.3, A:1=0.7",
        "A:1=0.3, A=0.7",
        "A=0.3, A:1=0.7",
    ],
)
def test_a_prior_that_is_incomplete_or_says_something_twice_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(QueryError, match=r"^prior must be 'uniform', or written as 'A=0.3"):
        parse_prior(text)


def test_a_root_may_have_values_below_zero() -> None:
    assert parse_prior("A:-1=1/4, A:0=3/4") == {"A": {-1: "1/4", 0: "3/4"}}
