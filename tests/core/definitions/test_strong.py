"""What strong sufficiency settles: the same, however what can occur is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause import Model
from actcause.core.definitions import Search, strong
from actcause.core.query import Query
from agreement import events, questions
from strategies import many


def test_all_that_can_occur_is_what_trying_every_setting_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put together from parts where no name occurs twice, or tried one by one: two values of an equation, or one."""
    found: list[bool] = []
    tried_one_by_one = strong.VERY_MANY

    def settle_with(very_many: int, *arguments: object) -> dict[str, int]:
        monkeypatch.setattr(strong, "VERY_MANY", very_many)
        settle: Callable[..., dict[str, int]] = strong.settle
        return settle(*arguments)

    @many(400)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions("strong"))
        event = data.draw(events(query))
        network = tuple(name for name in query.relevant if name in query.model.equations and name not in event)
        asked = (Search(query), event, network)
        settled = settle_with(0, *asked)
        assert settled == settle_with(tried_one_by_one, *asked)
        found.append(bool(settled))

    check()
    assert any(found)
    assert not all(found)


def test_an_equation_of_very_many_values_is_settled_in_one_look() -> None:
    names = [f"C{number}" for number in range(100)]
    model = Model.from_text(
        "\n".join([*(f"{name} in 0..1000" for name in names), "Y in 0..1 = " + " or ".join(f"{n} > 7" for n in names)])
    )
    search = Search(Query(model, dict.fromkeys(names, 9), "Y == 1", "strong"))
    assert strong.settle(search, {"C0": 9}, ()) == {"Y": 1}
    assert strong.settle(search, {"C0": 5}, ()) == {}
    assert search.statistics["evaluations"] == 2
