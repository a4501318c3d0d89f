"""What holds for every domain."""

from __future__ import annotations

import pytest

from actcause.envs import make, names
from actcause.envs.base import Domain


@pytest.mark.parametrize("name", names())
def test_a_domain_has_a_revision_with_a_line_for_each_time_it_was_raised(name: str) -> None:
    domain = make(name)
    assert domain.revision == len(domain.revisions) > 0
    assert all(line and "\n" not in line for line in domain.revisions)


def test_a_revision_is_raised_by_one_more_line() -> None:
    class Other(Domain):
        revisions = ("first recorded revision", "the floor is slippery")

    assert Other.revision == 2
