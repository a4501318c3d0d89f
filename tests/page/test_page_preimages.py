from __future__ import annotations

from base64 import b64decode
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

from actcause import examples, partitions
from actcause.page.spaces import answers as preimages
from actcause.page.spaces import cache as spaces
from actcause.page.spaces.pictures import format_count
from actcause.page.spaces.routes import PictureRequest, StateRequest

THREE = "A in 0..9\nB in 0..9\nC in 0..3\nY = A > 4 and B > C"


def question(**given: Any) -> dict[str, Any]:
    """A question as a worker gets it, with what is left open filled in."""
    kind = StateRequest if "context" in given else PictureRequest
    return kind(**given).model_dump()


def picture(**given: Any) -> dict[str, Any]:
    return preimages.picture(question(**given))


def why(**given: Any) -> dict[str, Any]:
    return preimages.why(question(**given))


def cells(grid: dict[str, Any]) -> np.ndarray:
    flat = np.frombuffer(b64decode(grid["cells"]), dtype="<u1" if grid["bytes"] == 1 else "<u2")
    return flat.reshape(1 if grid["up"] is None else len(grid["up"]["values"]), len(grid["across"]["values"]))


# -- over HTTP -------------------------------------------------------------------------------------


def test_a_million_states_come_as_one_byte_each(client) -> None:
    reply = client.post("/api/preimages/picture", json={"example": "pusher-1d"}).json()
    assert (reply["states"], reply["cost"], reply["count"]) == (1_002_001, 2003, "1")
    assert (reply["alpha_sufficiency"], reply["alpha_necessity"]) == ("1/5", "1/100")
    grid = cells(reply["grid"])
    assert grid.shape == (1001, 1001)
    assert reply["grid"]["across"]["name"] == "P"
    at = {place: reply["legend"][grid[place] - 1]["binary"] for place in ((200, 499), (501, 500), (502, 500), (7, 3))}
    assert at == {(200, 499): "10", (501, 500): "01", (502, 500): "11", (7, 3): "00"}


def test_a_state_is_explained(client) -> None:
    asked = {"example": "pusher-1d", "context": {"P": 500, "X": 502}}
    reply = client.post("/api/preimages/why", json=asked).json()
    assert reply["binary"] == "11"
    assert "P=500, X=502" in reply["state"]
    assert reply["neighbour"]["context"] in ({"P": 499, "X": 502}, {"P": 500, "X": 503})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"example": "rock-throwing", "outcome": "BZ"}, "The outcome 'BZ' cannot be read: unknown variable 'BZ'"),
        (
            {"example": "rock-throwing", "alpha_sufficiency": "1.5"},
            "(alpha sufficiency) must be between 0 and 1",
        ),
        (
            {"example": "rock-throwing", "alpha_necessity": "much"},
            "(alpha necessity) must be a number between 0 and 1",
        ),
        ({"example": "rock-throwing", "where": "ST =="}, "The condition 'ST ==' cannot be read"),
        ({"example": "rock-throwing", "where": "ST > 1"}, "No context satisfies"),
        ({"example": "rock-throwing", "pair": 33}, "numbered 1 to 32"),
        ({"example": "no-such"}, "Unknown example 'no-such'"),
        ({"text": THREE, "axes": ["A", "A"]}, "two axes must be different"),
        ({"text": THREE, "axes": ["Y"]}, "'Y' is not a root"),
        ({"text": THREE, "held": {"C": 9}}, "C must be in"),
        ({"text": "A = 1"}, "Nothing is left to be a cause"),
        ({"text": "A = 1\nB = A"}, "The model has no roots"),
        ({}, "There is no model"),
        ({"text": "A", "more": 1}, "more"),
    ],
)
def test_a_mistake_is_answered_in_one_sentence(client, wrong: dict[str, Any], said: str) -> None:
    answer = client.post("/api/preimages/picture", json=wrong)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert answer.json()["line"] is None


def test_a_mistake_in_the_model_names_its_line(client) -> None:
    answer = client.post("/api/preimages/picture", json={"text": "A\nB = A +\nC = B"})
    assert answer.status_code == 422
    assert answer.json()["line"] == 2


# -- pictures --------------------------------------------------------------------------------------


def test_a_small_space_is_a_table_with_every_state() -> None:
    reply = picture(example="rock-throwing")
    assert (reply["show"], reply["count"], reply["pairs"]) == ("table", "32", 32)
    assert reply["table"]["columns"] == ["SH", "ST", "BH", "BT"]
    assert [row["context"] for row in reply["table"]["rows"]] == [
        {"ST": 0, "BT": 0},
        {"ST": 0, "BT": 1},
        {"ST": 1, "BT": 0},
        {"ST": 1, "BT": 1},
    ]


def test_stepping_shows_every_pair_once_and_says_what_changed() -> None:
    found = partitions(examples.load("rock-throwing").model, "BS", alpha_sufficiency=1, alpha_necessity=0.01)
    expected = [tuple(row.binary for row in pair) for pair in islice(found, 32)]
    seen = []
    for number in range(1, 33):
        reply = picture(example="rock-throwing", pair=number)
        rows = tuple(row["binary"] for row in reply["table"]["rows"])
        if seen:
            differing = sum(a != b for a, b in zip(seen[-1], rows, strict=True))
            assert reply["changes"]["count"] == differing == sum(row["changed"] for row in reply["table"]["rows"])
        seen.append(rows)
    assert seen == expected
    assert picture(example="rock-throwing", pair=3)["table"]["rows"][3]["binary"] == expected[2][3]  # a step back


def test_the_grid_agrees_with_the_partition() -> None:
    reply = picture(text=THREE, axes=["B", "A"], held={"C": 2}, alpha_sufficiency="0.2", show="picture")
    found = partitions(spaces.Model.from_text(THREE), "Y", alpha_sufficiency=0.2)
    pair, grid = found.first(), cells(reply["grid"])
    for b in range(10):
        for a in range(10):
            here = pair[found.space.find({"A": a, "B": b, "C": 2})].binary
            assert reply["legend"][grid[a, b] - 1]["binary"] == here
    assert reply["held"] == {"C": 2}


def test_a_restriction_narrows_the_picture_and_leaves_holes() -> None:
    reply = picture(text=THREE, where="A >= 3 and A <= 6 and B != 5", show="picture", axes=["A", "B"])
    assert reply["grid"]["across"]["values"] == [3, 4, 5, 6]
    grid = cells(reply["grid"])
    assert (grid[5] == 0).all()
    assert (np.delete(grid, 5, axis=0) > 0).all()


def test_a_slice_without_a_state_gives_way_to_one_that_has_some() -> None:
    reply = picture(text=THREE, where="C == 3", show="picture", axes=["A", "B"])
    assert reply["held"] == {"C": 3}
    assert reply["grid"]["states"] == 100
    chosen = picture(text=THREE, where="C == 3", show="picture", axes=["A", "B"], held={"C": 0})
    assert chosen["grid"]["states"] == 0


def test_one_variable_makes_a_strip() -> None:
    reply = picture(text="A in 0..200\nY = A > 100")
    assert reply["show"] == "picture"
    assert reply["grid"]["up"] is None
    assert cells(reply["grid"]).shape == (1, 201)


def test_a_cell_of_several_states_shows_the_rarest_binary() -> None:
    reply = picture(
        text="A in 0..1999\nB in 0..3\nY = B if A == 1234 else 0", alpha_sufficiency="0.1", alpha_necessity="0.1"
    )
    grid = reply["grid"]
    assert (grid["across"]["each"], len(grid["across"]["values"])) == (2, 1000)
    rare = {one["code"] + 1 for one in reply["legend"] if one["length"]}
    assert rare
    assert (np.isin(cells(grid), list(rare)).any(axis=0) == (np.arange(1000) == 617)).all()


def test_the_legend_counts_every_state_and_the_lengths_sum_to_the_cost() -> None:
    reply = picture(example="rocket-ship")
    assert sum(one["states"] for one in reply["legend"]) == reply["states"] == 4004
    assert sum(one["states"] * one["length"] for one in reply["lengths"]) == reply["cost"]
    assert "T1 (the first thruster) alone" in [one["words"] for one in reply["legend"]]
    for one in reply["legend"]:
        assert why(example="rocket-ship", context=one["sample"])["binary"] == one["binary"]


def test_exogenous_roots_are_columns_and_axes_too() -> None:
    reply = picture(text="exogenous U\nA = U\nB\nC = A or B", show="table")
    assert reply["table"]["columns"] == ["U", "A", "B"]
    assert picture(text="exogenous U\nA = U\nB\nC = A or B", show="picture")["axes"] == ["U", "B"]


def test_shares_of_none_are_asked_for_by_name() -> None:
    assert picture(example="binary-and")["alpha_sufficiency"] == "1"
    assert picture(example="binary-and", alpha_sufficiency="none")["alpha_sufficiency"] is None
    assert picture(example="binary-and", alpha_sufficiency="1/3")["alpha_sufficiency"] == "1/3"


def test_a_space_that_was_forgotten_begins_with_new_time() -> None:
    asked = PictureRequest(example="mover-1d").model_dump()
    preimages.picture(asked)
    first = spaces.SpaceQuestion.of(asked).load_space()
    for other in ("rock-throwing", "forest-fire"):  # as many spaces as are kept
        preimages.picture(PictureRequest(example=other).model_dump())
    first.clock.start(1e-9)
    assert preimages.histogram(asked)["total"] == "1,024"


def test_a_huge_number_of_pairs_is_told_exactly_if_it_can_be() -> None:
    assert format_count(2**40) == "2^40"
    assert format_count(2**41 * 3 * 5**2) == "2^41 · 3 · 5^2"
    assert format_count(2**100_000 * 3) == "2^100000 · 3"
    assert format_count(10**9 + 7) == "about 2^29"


# -- reasons ---------------------------------------------------------------------------------------


def test_a_binary_is_explained_by_its_conditions_and_what_is_shorter() -> None:
    found = why(example="mover-1d", context={"m": 0, "o": 1})
    assert found["binary"] == "11"
    assert found["reasons"][0].startswith("Necessary: 11 of 12 settings of m and o (91.7%) change m'")
    assert found["reasons"][1].startswith("Sufficient: with m=0, o=1 held")
    assert found["shorter"] == [
        "m: not sufficient: with m=0 held, 2 of 3 settings of the others (66.7%) change m'; at most 40% may.",
        "o: not sufficient: with o=1 held, 3 of 4 settings of the others (75.0%) change m'; at most 40% may.",
    ]


def test_a_witness_is_named_where_something_must_be_held() -> None:
    found = why(example="rock-throwing", context={"ST": 1, "BT": 1}, pair=2)
    assert found["binary"] == "0100"
    assert "while BH=0 stays" in found["reasons"][0]
    assert found["others"] == ["1000"]


def test_an_empty_binary_says_why_nothing_passes() -> None:
    found = why(example="pusher-1d", context={"P": 3, "X": 4})
    assert found["reasons"] == []
    assert found["shorter"][0] == (
        "P: not necessary: only 2 of 1,001 settings of P (0.2%) change Y; at least 1% is asked."
    )


def test_competition_is_told() -> None:
    found = why(example="mover-1d", alpha_sufficiency="0.7", context={"m": 0, "o": 1})
    assert found["binary"] == "11"
    assert found["shorter"][0].startswith("m: passes both conditions, but states that agree on m and not on m' compete")


@pytest.mark.parametrize("name", ["rock-throwing", "mover-1d", "forest-fire", "trumping", "ranch"])
def test_what_is_said_of_each_state_holds(name: str) -> None:
    """Every binary passes both conditions where it is given, and the neighbour has another."""
    reply = picture(example=name, show="table")
    given = {tuple(row["context"].values()): row["binary"] for row in reply["table"]["rows"]}
    for row in reply["table"]["rows"]:
        found = why(example=name, context=row["context"])
        assert found["binary"] == row["binary"]
        assert [reason.split(":")[0] for reason in found["reasons"]] in ([], ["Necessary", "Sufficient"])
        if len(set(given.values())) > 1:
            assert given[tuple(found["neighbour"]["context"].values())] != row["binary"]


def test_a_state_alone_has_no_neighbour() -> None:
    assert why(text="A\nY = A", context={"A": 0})["neighbour"] is None


def test_a_picture_explains_the_state_that_is_looked_at() -> None:
    context = {"m": 0, "o": 1}
    kind = PictureRequest
    reply = preimages.picture(kind(example="mover-1d", context=context).model_dump())
    assert reply["why"] == why(example="mover-1d", context=context)
    elsewhere = kind(example="mover-1d", context=context, where="m == 2").model_dump()
    assert preimages.picture(elsewhere)["why"] is None


# -- histograms and limits -------------------------------------------------------------------------


def test_all_valid_pairs_are_counted_by_cost() -> None:
    found = preimages.histogram(question(example="mover-1d"))
    assert found["total"] == "1,024"
    assert found["costs"][0] == {"cost": 14, "pairs": "1", "part": 1 / 1024}


def test_a_histogram_of_a_large_space_is_refused() -> None:
    with pytest.raises(spaces.QueryError, match="up to 64 states; this space has 4,004"):
        preimages.histogram(question(example="rocket-ship"))


def test_a_space_too_large_is_refused_with_the_remedy() -> None:
    text = "\n".join(f"A{i} in 0..999" for i in range(3)) + "\nY = A0 > A1"
    with pytest.raises(spaces.QueryError, match=r"has 1000000000 states.*smaller ranges"):
        picture(text=text)


def test_a_space_too_slow_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "SECONDS", 1e-9)
    text = "\n".join(f"A{i}" for i in range(14)) + "\nY = " + " + ".join(f"A{i}" for i in range(14))
    with pytest.raises(spaces.QueryError, match=r"takes longer than 1e-09 seconds; fill in 'Only states in which'"):
        picture(text=text, alpha_sufficiency="none")


def test_the_time_of_a_space_that_is_kept_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    picture(example="mover-1d")
    asked = spaces.SpaceQuestion.of(question(example="mover-1d"))
    asked.load_space().clock.deadline = spaces.Deadline(1e-9)  # as if the first question were long ago
    assert preimages.histogram(question(example="mover-1d"))["total"] == "1,024"
    asked.load_space().clock.deadline = spaces.Deadline(1e-9)
    assert why(example="mover-1d", context={"m": 0, "o": 1}, alpha_sufficiency="0.45")["binary"] == "11"


def test_a_space_is_built_once_for_all_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    built: Counter[str] = Counter()
    original = spaces.StateSpace.from_model

    def counting(*given: Any, **more: Any) -> Any:
        built["spaces"] += 1
        return original(*given, **more)

    monkeypatch.setattr(spaces.StateSpace, "from_model", counting)
    text = "A in 0..5\nB in 0..6\nY = A < B"
    for share in ("0.1", "0.2", "0.3"):
        picture(text=text, alpha_sufficiency=share)
        why(text=text, alpha_sufficiency=share, context={"A": 1, "B": 2})
    assert built["spaces"] == 1
