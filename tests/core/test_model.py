"""Models as values: built, checked, evaluated for one context and for many."""

import pickle
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause.core.equation import vectorized
from actcause.core.expression import Name
from actcause.core.logic import Not
from actcause.core.model import Model
from actcause.core.parser import Declaration
from actcause.core.text import parse_formula
from actcause.errors import ModelError
from strategies import contexts, interventions, models

ROCKS = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH"


def rocks():
    return Model.from_text(ROCKS)


def refusal(build, *arguments, **options):
    with pytest.raises(ModelError) as caught:
        build(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


# -- evaluation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("do", "state"),
    [
        ({}, {"ST": 1, "BT": 1, "SH": 1, "BH": 0, "BS": 1}),
        ({"ST": 0}, {"ST": 0, "BT": 1, "SH": 0, "BH": 1, "BS": 1}),
        ({"ST": 0, "BH": 0}, {"ST": 0, "BT": 1, "SH": 0, "BH": 0, "BS": 0}),
        ({"BS": 0}, {"ST": 1, "BT": 1, "SH": 1, "BH": 0, "BS": 0}),
    ],
)
def test_an_intervention_cuts_a_variable_from_its_parents(do, state):
    assert rocks().evaluate({"ST": 1, "BT": 1}, do) == state


@given(st.data())
def test_evaluation_follows_the_equations(data):
    model = data.draw(models())
    context, do = data.draw(contexts(model)), data.draw(interventions(model))
    state = model.evaluate(context, do)
    assert list(state) == list(model.variables)
    for name, value in state.items():
        assert value in model.ranges[name]
        if name in do:
            assert value == do[name]
        elif name in context:
            assert value == context[name]
        else:
            assert value == model.equations[name].expression.value(state) == model.equation_value(name, state)


@given(st.data())
def test_many_contexts_at_once_agree_with_one_by_one(data):
    model = data.draw(models())
    do = data.draw(interventions(model))
    rows = list(model.contexts())
    assert len(rows) == model.context_count
    columns = {name: np.array([row[name] for row in rows]) for name in model.roots}
    together = model.evaluate_many(columns, do)
    for index, row in enumerate(rows):
        expected = model.evaluate(row, do)
        got = {name: int(np.broadcast_to(values, len(rows))[index]) for name, values in together.items()}
        assert got == expected


@given(st.data())
def test_only_some_variables_are_computed_when_only_these_are_asked_for(data):
    model = data.draw(models())
    wanted = data.draw(st.sampled_from(model.variables))
    context = data.draw(contexts(model))
    needed = model.ancestors([wanted])
    few = model.evaluate_many({name: value for name, value in context.items() if name in needed}, only=[wanted])
    assert set(few) == needed
    assert int(few[wanted]) == model.evaluate(context)[wanted]
    assert model.evaluate_many(context, only=wanted).keys() == few.keys()


def test_a_variable_that_is_set_needs_none_of_its_parents():
    out = rocks().evaluate_many({}, {"SH": [0, 1], "BH": 0}, only=["BS"])
    assert set(out) == {"SH", "BH", "BS"}
    assert out["BS"].tolist() == [0, 1]


def test_arrays_broadcast_against_each_other():
    out = rocks().evaluate_many({"ST": np.array([[0], [1]]), "BT": np.array([0, 1])})
    assert out["BS"].tolist() == [[0, 1], [1, 1]]


def test_truth_values_and_numpy_integers_are_integers():
    assert rocks().evaluate({"ST": True, "BT": np.int8(1)}, {"BH": np.bool_(False)})["BS"] == 1
    assert rocks().evaluate_many({"ST": [True, False], "BT": 0})["BS"].tolist() == [1, 0]


def test_nothing_in_nothing_out():
    assert rocks().evaluate_many({"ST": [], "BT": 1})["BS"].shape == (0,)


# -- mistakes in a context or an intervention ----------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "do", "message"),
    [
        ({"ST": 1}, None, "The context must set every root; missing: BT."),
        ({"ST": 1, "BT": 2}, None, "BT must be in {0, 1}; got 2."),
        ({"ST": 1, "BT": 0.5}, None, "BT must be in {0, 1}; got 0.5."),
        ({"ST": 1, "BT": "1"}, None, "BT must be in {0, 1}; got '1'."),
        ({"ST": 1, "BT": None}, None, "BT must be in {0, 1}; got None."),
        ({"ST": 1, "BT": 10**5000}, None, "BT must be in {0, 1}; got a very large int."),
        ({"ST": 1, "BT": 1, "SH": 1}, None, "The context sets SH, which has an equation; pass do={'SH': ...} instead."),
        ({"ST": 1, "bt": 1}, None, "Unknown variable 'bt'; did you mean 'BT'?"),
        ({"ST": 1, "BT": 1, 7: 1}, None, "Unknown variable 7."),
        ({"ST": 1, "BT": 1}, {"BSS": 1}, "Unknown variable 'BSS'; did you mean 'BS'?"),
        ({"ST": 1, "BT": 1}, {"BS": 3}, "BS must be in {0, 1}; got 3."),
        ([1, 1], None, "context must map names of variables to values, such as {'A': 1}; got [1, 1]."),
        (None, None, "context must map names of variables to values, such as {'A': 1}; got None."),
        ({"ST": 1, "BT": 1}, "BS=1", "do must map names of variables to values, such as {'A': 1}; got 'BS=1'."),
    ],
)
def test_a_mistake_in_a_context_is_refused_in_one_sentence(context, do, message):
    assert refusal(rocks().evaluate, context, do) == message


@pytest.mark.parametrize(
    ("columns", "do", "message"),
    [
        ({"ST": [1, 0]}, None, "The contexts must set every root; missing: BT."),
        ({"ST": [0, 2], "BT": 1}, None, "ST must be in {0, 1}; got 2."),
        ({"ST": [0.5], "BT": 1}, None, "ST must be given as integers; got an array of float64."),
        ({"ST": [[0], [0, 1]], "BT": 1}, None, "ST must be given as an array of integers; got [[0], [0, 1]]."),
        ({"ST": [0, 1], "BT": 1, "SH": 1}, None, "The contexts set SH, which has an equation; pass it in do instead."),
        (
            {"ST": [0, 1], "BT": [0, 1, 1]},
            None,
            "The arrays must broadcast against each other; ST has the shape (2,), BT has the shape (3,).",
        ),
        ({"ST": 1, "BT": 1}, {"BH": [0, 7]}, "BH must be in {0, 1}; got 7."),
        (7, None, "contexts must map names of variables to values, such as {'A': 1}; got 7."),
    ],
)
def test_a_mistake_in_many_contexts_is_refused_in_one_sentence(columns, do, message):
    assert refusal(rocks().evaluate_many, columns, do) == message


def test_many_missing_roots_are_counted_not_listed():
    model = Model.from_text("\n".join(f"A{i}" for i in range(100)))
    assert refusal(model.evaluate, {}) == ("The context must set every root; missing: A0, A1, A2, A3, A4 and 95 more.")


def test_a_long_range_is_cut_short_in_a_message():
    model = Model({"A": range(0, 200_000, 2)})
    message = refusal(model.evaluate, {"A": 1})
    assert message == "A must be in {0, 2, 4, 6, 8, 10, 12, 14, …, 199998}; got 1."
    assert refusal(model.evaluate_many, {"A": [0, 1]}) == message


def test_an_equation_that_leaves_its_range_is_refused_when_it_does():
    model = Model.from_text("A in 0..2\nB\nC in {0, 1} = A + B")
    message = "The equation of C gives 2 at A=2, B=0, outside {0, 1}; widen the range of C or change its equation."
    assert model.evaluate({"A": 0, "B": 1})["C"] == 1
    assert refusal(model.evaluate, {"A": 2, "B": 0}) == message
    assert refusal(model.evaluate_many, {"A": [0, 2], "B": 0}) == message


def test_a_division_by_zero_names_its_equation():
    model = Model.from_text("A\nB in 0..9 = 4 // A")
    assert refusal(model.evaluate, {"A": 0}).startswith("In the equation of B: division by zero; guard it")
    assert refusal(model.evaluate_many, {"A": [1, 0]}).startswith("In the equation of B: division by zero; guard it")


# -- from Python -----------------------------------------------------------------------------------


def test_parents_are_read_from_the_parameters():
    model = Model(
        {"ST": (0, 1), "BT": (0, 1)},
        {"SH": lambda ST: ST, "BH": lambda BT, SH: BT and not SH, "BS": lambda SH, BH: SH or BH},
    )
    assert model.parents("BH") == ("BT", "SH")
    assert model.roots == ("ST", "BT")
    assert model.ranges["BS"] == (0, 1)
    for context in model.contexts():
        assert model.evaluate(context) == rocks().evaluate(context)
    many = model.evaluate_many({"ST": [[0], [1]], "BT": [0, 1]})
    assert many["BS"].tolist() == rocks().evaluate_many({"ST": [[0], [1]], "BT": [0, 1]})["BS"].tolist()


def test_an_expression_can_be_an_equation():
    model = Model({"A": (0, 1)}, {"B": Not(Name("A")), "C": parse_formula("A + B")})
    assert model == Model.from_text("A\nB = not A\nC = A + B")


def test_a_vectorized_function_is_called_with_arrays():
    sizes = []

    @vectorized
    def final(P, X):
        sizes.append(P.size)
        return np.where((P == 499) & (X != 501), 501, 500)

    model = Model({"P": range(1001), "X": range(1001)}, {"Y": final})
    assert model.ranges["Y"] == (500, 501)
    assert min(sizes) > 1_000
    assert model.evaluate({"P": 499, "X": 3})["Y"] == 501
    assert model.evaluate_many({"P": 499, "X": [3, 501]})["Y"].tolist() == [501, 500]


def test_a_plain_function_is_called_once_for_each_different_row():
    calls = []

    def double(A):
        calls.append(A)
        return 2 * A

    model = Model({"A": (0, 1), "B": (0, 2)}, {"B": double})
    assert model.evaluate_many({"A": [0, 1, 1, 0, 1]})["B"].tolist() == [0, 2, 2, 0, 2]
    assert calls == [0, 1]


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        (lambda C: C, "The equation of Y uses the unknown variable 'C'; declare it or rename the parameter."),
        (lambda *A: 1, "The equation of Y has the parameter '*A'; each parameter must be the name of one parent."),
        (lambda A, **options: 1, "The equation of Y has the parameter '**options'; each parameter must be"),
        (7, "The parents of Y cannot be read from 7; wrap it in a lambda that names them."),
        (
            lambda A: A / 2,
            "In the equation of Y: the function must return an integer or a truth value; it returned 0.0",
        ),
        (
            lambda A: None,
            "In the equation of Y: the function must return an integer or a truth value; it returned None",
        ),
        (
            lambda A: 2**70,
            "In the equation of Y: the function must return an integer or a truth value; it returned 118",
        ),
        (
            vectorized(lambda A: A / 2),
            "In the equation of Y: the function must return integers or truth values; it returned an array of float64",
        ),
        (
            vectorized(lambda A: np.array([1, 2, 3])),
            "In the equation of Y: the function must return one value for each of its inputs; "
            "for inputs of shape (2,) it returned an array of shape (3,)",
        ),
    ],
)
def test_a_function_that_is_no_equation_is_refused(equation, message):
    assert refusal(Model, {"A": (0, 1)}, {"Y": equation}).startswith(message)


def test_a_wrong_value_of_a_function_is_refused_at_evaluation_too():
    wrong = Model({"A": (0, 1), "Y": (0, 1)}, {"Y": lambda A: A / 2})
    for evaluate in (wrong.evaluate, wrong.evaluate_many):
        assert refusal(evaluate, {"A": 0}).startswith("In the equation of Y: the function must return an integer")
    short = Model({"A": (0, 1), "Y": (0, 1)}, {"Y": vectorized(lambda A: A / 2)})
    assert "an array of float64" in refusal(short.evaluate, {"A": 0})


@pytest.mark.parametrize(
    ("ranges", "options", "message"),
    [
        ({}, {}, "A model needs at least one variable; got none."),
        ({"A": ()}, {}, "The range of A is empty; give it at least one value."),
        ({"A": (0, 0.5)}, {}, "The range of A must hold integers of at most 2**62; got 0.5."),
        ({"A": "01"}, {}, "The range of A must hold integers of at most 2**62; got '0'."),
        ({"A": (0, 2**63)}, {}, "The range of A must hold integers of at most 2**62; got 9223372036854775808."),
        ({"A": 5}, {}, "The range of A must be a collection of integers; got 5."),
        ({"A": range(10**12)}, {}, "The range of A has more than 1000000 values; give it a smaller one."),
        ({"A": count()}, {}, "The range of A has more than 1000000 values; give it a smaller one."),
        ({"": (0, 1)}, {}, "A variable's name must be a non-empty string; got ''."),
        ({3: (0, 1)}, {}, "A variable's name must be a non-empty string; got 3."),
        ([("A", (0, 1))], {}, "The ranges must map names of variables to their ranges; got [('A', (0, 1))]."),
        ({"A": (0, 1)}, {"exogenous": "A"}, "exogenous must be a collection of names, such as ['A']; got a string."),
        ({"A": (0, 1)}, {"exogenous": ["B"]}, "Unknown variable 'B'."),
        ({"A": (0, 1)}, {"labels": {"B": "b"}}, "Unknown variable 'B'."),
        (
            {"A": (0, 1)},
            {"labels": {"A": 'say "a"'}},
            "The label of A must be a string without line breaks and quotation marks; got 'say \"a\"'.",
        ),
        (
            {"A": (0, 1)},
            {"equations": {"A": lambda: 1}, "exogenous": ["A"]},
            "The exogenous variable A cannot have an equation.",
        ),
        (
            {"A": (0, 1), "B": (0, 1)},
            {"equations": {"A": lambda B: B, "B": lambda A: A}},
            "The equations form a cycle: A <- B <- A; a model must be acyclic.",
        ),
    ],
)
def test_a_model_that_is_none_is_refused_in_one_sentence(ranges, options, message):
    assert refusal(Model, ranges, **options) == message


def test_a_root_declared_without_a_range_is_binary_in_text_only():
    assert Model.from_declarations([Declaration("A")]).ranges["A"] == (0, 1)


def test_the_order_in_which_exogenous_variables_are_named_does_not_matter():
    ranges = {"U": (0, 1), "W": (0, 1), "A": (0, 1)}
    assert Model(ranges, exogenous=["W", "U", "W"]) == Model(ranges, exogenous=["U", "W"])
    assert Model(ranges, exogenous=["W", "U"]).endogenous == ("A",)


# -- structure -------------------------------------------------------------------------------------


def test_ancestors_and_descendants_include_the_variables_themselves():
    assert rocks().ancestors(["BH"]) == {"BH", "BT", "SH", "ST"}
    assert rocks().descendants(["SH"]) == {"SH", "BH", "BS"}
    assert rocks().parents("ST") == ()
    with pytest.raises(ModelError, match="Unknown variable 'BX'"):
        rocks().parents("BX")


@given(models())
def test_parents_come_before_their_children_in_the_order(model):
    place = {name: index for index, name in enumerate(model.order)}
    assert sorted(place) == sorted(model.variables)
    for name in model.variables:
        assert all(place[parent] < place[name] for parent in model.parents(name))


# -- models are values -------------------------------------------------------------------------------


def test_a_model_cannot_be_changed():
    model = rocks()
    with pytest.raises(AttributeError, match="A model is immutable; pass do="):
        model.ranges = {}
    with pytest.raises(AttributeError, match="A model is immutable"):
        del model.ranges
    with pytest.raises(TypeError):
        model.ranges["ST"] = (0,)
    with pytest.raises(TypeError):
        model.equations["SH"] = None
    with pytest.raises(AttributeError):
        model.equations["SH"].parents = ()
    with pytest.raises(AttributeError):
        model.equations["SH"].expression.name = "BT"


def test_what_is_passed_in_is_neither_changed_nor_kept():
    ranges, equations, labels = {"A": [1, 0]}, {"B": lambda A: A}, {"A": "a"}
    model = Model(ranges, equations, labels=labels)
    ranges["A"].append(2)
    ranges["C"] = [0]
    equations.clear()
    labels.clear()
    assert model.ranges["A"] == (0, 1)
    assert model.variables == ("A", "B")
    assert model.evaluate({"A": 1}) == {"A": 1, "B": 1}
    assert model.labels == {"A": "a"}
    context, do = {"A": 1}, {"B": 0}
    model.evaluate(context, do)
    assert (context, do) == ({"A": 1}, {"B": 0})


@given(models(labels=True))
def test_a_model_survives_pickling(model):
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again.order == model.order


def test_a_model_of_functions_has_no_text_and_says_so():
    model = Model({"A": (0, 1)}, {"B": lambda A: A})
    assert refusal(model.to_text) == (
        "The equation of B is a Python function and has no text; build the model from text."
    )
    assert str(model) == "A\nB = <function of A>"


def test_a_name_that_text_cannot_hold_is_refused_when_it_is_written():
    for name in ("my name", "not", "x" * 500, "1st"):
        assert "Model text cannot have a variable of the name" in refusal(Model({name: (0, 1)}).to_text)


def test_models_are_equal_when_everything_about_them_is():
    assert rocks() == rocks()
    assert hash(rocks()) == hash(rocks())
    assert repr(rocks()) == "<Model of 5 variables, 2 of them roots>"
    for other in (
        ROCKS.replace("BH = BT and not SH", "BH = BT"),
        ROCKS.replace("ST\n", "ST in 0..2\n", 1),
        ROCKS.replace("ST\n", 'ST "Suzy"\n', 1),
        ROCKS.replace("ST\n", "exogenous ST\n", 1),
        ROCKS + "\nX",
    ):
        assert Model.from_text(other) != rocks()
    assert rocks() != ROCKS


def test_a_model_with_a_range_shared_by_thousands_is_compared_and_evaluated_at_once():
    text = "\n".join(f"A{i} in 0..999999" for i in range(2_000))
    model = Model.from_text(text)
    assert model == Model.from_text(text)
    assert model.evaluate(dict.fromkeys(model.roots, 999_999))["A7"] == 999_999
