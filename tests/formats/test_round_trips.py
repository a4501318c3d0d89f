"""What is exported and imported again answers as before."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import formats
from actcause.core.model import Model
from strategies import contexts, interventions, many, models

BOOLEAN = ("open-psa", "bnet", "hp2sat", "bif", "text")


def boolean_models(**options: Any) -> st.SearchStrategy[Model]:
    return models(max_range=2, **options).filter(lambda model: set(model.ranges.values()) == {(0, 1)})


def same_answers(ours: Model, theirs: Model, draw: st.DataObject) -> None:
    """The same variables, ranges and values, under any intervention; and the same causes."""
    assert set(theirs.variables) == set(ours.variables)
    assert theirs.exogenous == ours.exogenous
    assert {name: theirs.ranges[name] for name in ours.variables} == dict(ours.ranges)
    assert set(theirs.roots) == set(ours.roots)
    context = draw.draw(contexts(ours))
    do = draw.draw(interventions(ours))
    expected = ours.evaluate(context, do)
    assert theirs.evaluate(context, do) == {name: expected[name] for name in theirs.variables}
    outcome = ours.order[-1]
    effect = f"{outcome} == {ours.evaluate(context)[outcome]}"
    found = [
        {frozenset(cause.event.items()) for cause in ac.causes(model, context=context, effect=effect)}
        for model in (ours, theirs)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", BOOLEAN)
@many(100)
@given(data=st.data())
def test_a_boolean_model_survives(kind: str, data: st.DataObject) -> None:
    model = data.draw(boolean_models(allow_exogenous=kind != "bnet", labels=kind in ("open-psa", "text")))
    again = formats.parse(formats.export(model, kind), kind).model
    same_answers(model, again, data)


@many(200)
@given(data=st.data())
def test_a_model_of_any_ranges_survives_as_a_bayesian_network(data: st.DataObject) -> None:
    model = data.draw(models())
    same_answers(model, formats.parse(formats.export(model, "bif"), "bif").model, data)


@many(200)
@given(data=st.data())
def test_a_model_of_any_ranges_survives_as_a_graph(data: st.DataObject) -> None:
    model = data.draw(models())
    graph = formats.to_networkx(model)
    same_answers(model, formats.from_networkx(graph), data)
    for name in model.equations:
        graph.nodes[name].pop("equation")  # the tables alone say as much
    same_answers(model, formats.from_networkx(graph), data)


@many(100)
@given(st.data())
def test_what_was_imported_is_model_text(data: st.DataObject) -> None:
    model = data.draw(boolean_models())
    imported = formats.parse(formats.export(model, "open-psa"), "open-psa").model
    assert Model.from_text(imported.to_text()) == imported


@pytest.mark.parametrize("kind", ["dot", "mermaid", "tikz"])
@given(model=models(labels=True))
def test_every_model_can_be_drawn(kind: str, model: Model) -> None:
    text = formats.export(model, kind, title="a & b # c")
    edges = sum(len(model.parents(name)) for name in model.variables)
    arrow = {"dot": '" -> "', "mermaid": " --> ", "tikz": r"  \draw "}[kind]
    assert text.count(arrow) == edges
    assert text.isprintable() or "\n" in text


@pytest.mark.parametrize(("name", "kind"), [("latex", "tikz"), ("graphviz", "dot"), ("openpsa", "open-psa")])
def test_a_format_may_be_named_after_its_tool(name: str, kind: str) -> None:
    model = Model.from_text("A\nB = not A")
    assert formats.export(model, name) == formats.export(model, kind)


@pytest.mark.parametrize("kind", [kind for kind, one in formats.FORMATS.items() if one.read is not None])
@many(400)
@given(text=st.one_of(st.text(max_size=60), st.text('<>/="opsamefdgvrib{}()[];,|&!~01 \n', max_size=80)))
def test_no_text_ends_in_anything_but_a_model_or_one_of_our_errors(kind: str, text: str) -> None:
    with suppress(ac.ActCauseError):
        formats.parse(text, kind)
