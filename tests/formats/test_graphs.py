"""Graphs of networkx."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import actcause as ac
from actcause.formats import from_networkx, to_networkx


def graph(**about: Any) -> Any:
    made = nx.DiGraph()
    made.add_nodes_from(["a b", 7, "C"])
    made.add_edges_from([("a b", "C"), (7, "C")])
    made.nodes["C"].update(about)
    return made


def test_nodes_of_any_name_become_variables() -> None:
    table = {(a, b): 2 * a + b for a in (0, 1) for b in (0, 1)}
    model = from_networkx(graph(table=table, parents=[7, "a b"]))
    assert model.variables == ("a_b", "_7", "C")
    assert model.labels["_7"] == "7"
    assert model.ranges["C"] == (0, 1, 2, 3)
    assert model.evaluate({"a_b": 0, "_7": 1})["C"] == 2


def test_an_equation_may_stand_in_place_of_a_table() -> None:
    assert from_networkx(graph(equation="a_b + _7 >= 1")).evaluate({"a_b": 0, "_7": 1})["C"] == 1


def test_a_function_is_written_as_its_table() -> None:
    model = ac.Model({"A": (0, 1, 2)}, {"B": lambda A: A * A})
    assert to_networkx(model).nodes["B"]["table"] == {(0,): 0, (1,): 1, (2,): 4}


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "The node C has parents, so it needs a 'table' or an 'equation'"),
        ({"table": {(0, 0): 0}}, r"has no value for \(0, 1\)"),
        ({"table": dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 0.5)}, "must have integers; got 0.5"),
        ({"table": [1, 2]}, "must map tuples"),
        ({"table": {}, "parents": [7]}, "must be those of its edges"),
        ({"equation": "a_b + D"}, "unknown variable 'D'"),
        ({"range": [], "equation": "1"}, "C"),
    ],
)
def test_a_wrong_graph_is_refused_in_one_sentence(about: dict[str, Any], said: str) -> None:
    with pytest.raises(ac.ModelError, match=said):
        from_networkx(graph(**about))


@pytest.mark.parametrize("wrong", [nx.Graph(), nx.MultiDiGraph(), None])
def test_only_a_plain_directed_graph_is_read(wrong: Any) -> None:
    with pytest.raises(ac.ModelError, match="directed graph of networkx"):
        from_networkx(wrong)
