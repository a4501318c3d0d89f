"""Formulas: one value, many values, bounds, possible values and text agree."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause.core.arithmetic import OperatorChain
from actcause.core.expression import Name, Number, StepBudget, height
from actcause.core.facts import facts
from actcause.core.logic import And, Compare, IfElse, Not, Or
from actcause.core.text import parse_formula
from actcause.errors import ModelError
from strategies import expressions, reachable

NAMES = ("A", "B", "C")
RANGES = {"A": (0, 1), "B": (0, 1, 2), "C": (-1, 0, 3)}
ROWS = [dict(zip(NAMES, values, strict=True)) for values in product(*RANGES.values())]
COLUMNS = {name: np.array([row[name] for row in ROWS]) for name in NAMES}


def value(text, **env):
    return parse_formula(text).value(env)


def array(text, **env):
    columns = {name: np.asarray(values) for name, values in env.items()}
    return parse_formula(text).array(columns, np.asarray(True)).tolist()


# -- properties ----------------------------------------------------------------------------------


@given(expressions(NAMES))
def test_one_value_and_many_values_agree(expression):
    one_by_one = [expression.value(row) for row in ROWS]
    assert np.broadcast_to(expression.array(COLUMNS), len(ROWS)).tolist() == one_by_one
    assert np.broadcast_to(expression.array(COLUMNS, np.asarray(True)), len(ROWS)).tolist() == one_by_one


@given(expressions(NAMES))
def test_printing_and_reading_gives_the_same_formula(expression):
    again = parse_formula(str(expression))
    assert again == expression
    assert hash(again) == hash(expression)


@given(expressions(NAMES))
def test_bounds_hold_every_value(expression):
    low, high = expression.bounds({name: (values[0], values[-1]) for name, values in RANGES.items()})
    assert all(low <= expression.value(row) <= high for row in ROWS)


@given(expressions(NAMES))
def test_possible_values_hold_every_value_and_are_exact_when_no_name_occurs_twice(expression):
    sets = {name: frozenset(values) for name, values in RANGES.items()}
    try:
        possible = expression.possible(sets, StepBudget(10**6, at_once=4_096, free=16))
    except ModelError:
        pytest.fail("the strategy draws no division by zero")
    reached = set(reachable(expression, RANGES))
    assert reached <= possible
    if facts(expression).read_once:
        assert reached == possible


@given(expressions(NAMES))
def test_a_boolean_formula_takes_only_0_and_1(expression):
    if expression.boolean:
        assert set(reachable(expression, RANGES)) <= {0, 1}


@given(expressions(NAMES), expressions(NAMES))
def test_formulas_are_equal_exactly_when_their_texts_are(one, other):
    assert (one == other) == (str(one) == str(other))


@given(expressions(NAMES))
def test_facts_say_what_a_walk_would_find(expression):
    nodes = list(expression.walk())
    found = facts(expression)
    names = [node.name for node in nodes if isinstance(node, Name)]
    assert found.names == tuple(dict.fromkeys(names)) == expression.names()
    assert found.read_once == (len(names) == len(set(names)))
    assert found.nodes == len(nodes)
    assert height(expression) <= len(nodes)


@given(expressions(NAMES, arithmetic=False))
def test_formulas_without_arithmetic_have_none(expression):
    assert not facts(expression).arithmetic


# -- precedence ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("A or B and C", "A or (B and C)"),
        ("not A and B", "(not A) and B"),
        ("not A == B", "not (A == B)"),
        ("~A == B", "(not A) == B"),
        ("A + B * C", "A + (B * C)"),
        ("A - B - C", "(A - B) - C"),
        ("-A * B", "(-A) * B"),
        ("A + 1 < B * 2", "(A + 1) < (B * 2)"),
        ("A if B else B if C else A", "A if B else (B if C else A)"),
        ("A or B if C else A and B", "(A or B) if C else (A and B)"),
        ("A & B == 1", "A and (B == 1)"),
    ],
)
def test_operators_bind_as_in_python(text, meaning):
    for row in ROWS:
        assert value(text, **row) == value(meaning, **row)


@pytest.mark.parametrize("text", ["A - B - C", "7 // 2 * 2 % 5", "-7 // 2", "-7 % 3", "7 % -3", "2 * B // -2 - 1"])
def test_arithmetic_is_that_of_python(text):
    for row in ROWS:
        assert value(text, **row) == eval(text, {}, row)


def test_signs_ampersands_and_words_are_the_same_operators():
    assert parse_formula("!A & ~B | C") == parse_formula("not A and not B or C")
    assert parse_formula("!A & ~B | C") == Or((And((Not(Name("A")), Not(Name("B")))), Name("C")))


def test_true_and_false_are_1_and_0():
    assert parse_formula("True") == parse_formula("true") == Number(1)
    assert parse_formula("False") == parse_formula("false") == Number(0)


def test_logic_gives_0_and_1_whatever_the_operands():
    assert value("A and B", A=2, B=3) == 1
    assert value("A or B", A=0, B=3) == 1
    assert value("not A", A=3) == 0
    assert array("A and B", A=[2, 0], B=[3, 3]) == [1, 0]


def test_a_chain_of_comparisons_holds_when_each_link_does():
    assert parse_formula("A < B <= C") == And((Compare(Name("A"), "<", Name("B")), Compare(Name("B"), "<=", Name("C"))))
    assert [value("0 < B < 2", B=b) for b in (0, 1, 2)] == [0, 1, 0]


def test_parentheses_around_a_sum_inside_a_sum_survive_printing():
    for text in ("(A + B) + C", "(A * B) * C", "A - (B - C)", "(A and B) and C", "A // (B * C)"):
        assert str(parse_formula(text)) == text


def test_negative_numbers_survive_printing():
    assert str(parse_formula("A - -2")) == "A - -2"
    assert parse_formula("-2") == Number(-2)
    assert parse_formula("--2") == Number(2)


def test_functions_take_one_or_many_arguments():
    assert value("min(B)", B=4) == 4
    assert value("max(1, B, 3)", B=2) == 3
    assert value("abs(0 - B)", B=2) == 2
    assert array("min(B, 1, 2)", B=[0, 5]) == [0, 1]
    assert array("max(3, B)", B=[0, 5]) == [3, 5]
    assert array("abs(B)", B=[-3, 5]) == [3, 5]


# -- division by zero ------------------------------------------------------------------------------

GUARDED = [
    "7 // A if A else -1",
    "7 % A if A != 0 else -1",
    "A != 0 and 6 // A == 3",
    "A == 0 or 6 // A == 3",
    "1 if A == 0 else 2 if 6 // A == 3 else 6 % A",
    "not (A != 0 and 6 // A == 3)",
    "(A and 5 // A) + 1",
]


@pytest.mark.parametrize("text", GUARDED)
def test_a_guarded_division_by_zero_is_never_made(text):
    values = [0, 1, 2, 3]
    assert array(text, A=values) == [value(text, A=a) for a in values]


@pytest.mark.parametrize("text", ["7 // A", "7 % A", "7 // A if A == 0 else 1", "A or 7 // A", "min(1, 7 // A)"])
def test_an_unguarded_division_by_zero_is_refused_with_the_remedy(text):
    for evaluate in (lambda: value(text, A=0), lambda: array(text, A=[1, 0])):
        with pytest.raises(ModelError, match=r"division by zero.* guard it"):
            evaluate()


# -- size ----------------------------------------------------------------------------------------


def test_values_that_could_pass_the_largest_integer_are_refused():
    with pytest.raises(ModelError, match=r"could pass 2\*\*62; use smaller ranges"):
        parse_formula("A * A * A * A").bounds({"A": (0, 10**6)})


def test_a_sum_of_many_votes_is_bounded_without_trying_all_of_them():
    votes = OperatorChain(Name("V0"), tuple(("+", Name(f"V{i}")) for i in range(1, 5_000)))
    sets = {f"V{i}": frozenset({0, 1}) for i in range(5_000)}
    assert votes.possible(sets, StepBudget(10**5, at_once=4_096, free=16)) == frozenset(range(5_001))


def test_looking_for_possible_values_stops_when_the_work_is_spent():
    wide = parse_formula("A * B")
    sets = {"A": frozenset(range(100)), "B": frozenset(range(100))}
    assert wide.possible(sets, StepBudget(10**6, at_once=9_999, free=16)) is None
    assert wide.possible(sets, StepBudget(9_999, at_once=10**6, free=16)) is None
    work = StepBudget(10_000, at_once=10_000, free=16)
    assert wide.possible(sets, work) is not None
    assert work.left == 0


def table_of(rows):
    tree = Number(0)
    for number in range(rows):
        tree = IfElse(Number(number), Compare(Name("A"), "==", Number(number)), tree)
    return tree


def test_a_long_chain_of_else_needs_no_deep_stack():
    tree = table_of(5_000)
    assert tree.value({"A": 17}) == 17
    assert tree.array({"A": np.array([17, 4_000])}).tolist() == [17, 4_000]
    assert tree.bounds({"A": (0, 1)}) == (0, 4_999)
    assert str(tree).count("else") == 5_000
    assert tree == table_of(5_000)
    assert hash(tree) == hash(table_of(5_000))
    assert height(tree) == 5_002


@given(st.integers(-3, 3), st.integers(-3, 3))
def test_comparisons_agree_with_python(a, b):
    for symbol in ("==", "!=", "<", "<=", ">", ">="):
        assert value(f"A {symbol} B", A=a, B=b) == int(eval(f"{a} {symbol} {b}"))
