"""Model text: what is read, what is refused and where, and that hostile text is refused at once."""

import pickle
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause.core.declarations
import fuzz_parser
from actcause.core.model import Model
from actcause.core.parser import MAX_BRANCHES, MAX_DEPTH, MAX_HEIGHT
from actcause.core.text import parse_event, parse_formula
from actcause.errors import ActCauseError, MissingExtraError, ModelError, ParseError, suggest
from strategies import models


def refusal(text):
    with pytest.raises(ParseError) as caught:
        Model.from_text(text)
    return caught.value


# -- what is read ----------------------------------------------------------------------------------


def test_the_grammar_of_the_documentation_is_read():
    model = Model.from_text(
        """
        exogenous U in {0, 1}        # context only, never a cause
        ST in {0, 1}                 # a root; the range defaults to {0, 1}
        BT
        m in 0..1000                 # an integer range
        SH = ST
        BH = BT and not SH
        T in {0, 1, 2} = 2 if BH == 1 else U
        """
    )
    assert model.variables == ("U", "ST", "BT", "m", "SH", "BH", "T")
    assert model.exogenous == ("U",)
    assert model.roots == ("U", "ST", "BT", "m")
    assert model.ranges["BT"] == (0, 1)
    assert model.ranges["m"] == tuple(range(1001))
    assert model.ranges["T"] == (0, 1, 2)
    assert model.evaluate({"U": 0, "ST": 0, "BT": 1, "m": 7})["T"] == 2


@given(models(labels=True))
def test_printed_text_gives_the_same_model_back(model):
    again = Model.from_text(str(model))
    assert again == model
    assert hash(again) == hash(model)
    assert str(again) == str(model)


@pytest.mark.parametrize("text", fuzz_parser.VALID)
def test_the_valid_texts_of_the_fuzzer_are_read_and_printed_back(text):
    model = Model.from_text(text)
    assert Model.from_text(str(model)) == model


def test_a_variable_may_be_used_before_it_is_declared():
    assert Model.from_text("B = A\nA").order == ("A", "B")


def test_a_label_may_hold_a_hash_and_an_apostrophe():
    model = Model.from_text('A "Suzy\'s #1 throw" in 0..2  # a comment\nB "" = A')
    assert dict(model.labels) == {"A": "Suzy's #1 throw", "B": ""}
    assert Model.from_text(str(model)) == model


def test_names_may_end_in_primes_and_use_any_alphabet():
    assert Model.from_text("m\nm' = m\nm'' = m'\nпричина = m''").variables == ("m", "m'", "m''", "причина")


def test_a_backslash_continues_a_line_even_before_spaces_and_comments():
    model = Model.from_text("A\nB = A \\\n  or A \\  \n  or 0 \\ # why\n  or 1\nC = B")
    assert str(model) == "A\nB = A or A or 0 or 1\nC = B"


def test_line_ends_of_windows_and_a_byte_order_mark_are_no_part_of_the_text():
    assert Model.from_text("\ufeffA\r\nB = A\r\n") == Model.from_text("A\nB = A")


def test_equal_ranges_are_held_once():
    model = Model.from_text("\n".join(f"A{i} in 0..99999" for i in range(5_000)))
    assert len({id(values) for values in model.ranges.values()}) == 1


# -- what is refused, and where --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("A\nB = A +", 2, 8, "expected a variable, a number or '(', got the end of the line"),
        ("A\nB = A A", 2, 7, "expected an operator or the end of the line, got 'A'"),
        ("A\n\n# note\nB = (A", 4, 7, "expected ')', got the end of the line"),
        ("A  # note\nB = A ? 1  # note", 2, 7, "expected an operator or the end of the line, got '?'"),
        ('A "a # label" on', 1, 15, "expected 'in', '=' or the end of the line, got 'on'"),
        ("A\nB = 1 + \\\n  A + \\\n  * A", 4, 3, "expected a variable, a number or '(', got '*'"),
        ("A\nB = 1 \\\n + C", 3, 4, "unknown variable 'C'"),
        ("A\nB = A = 1", 2, 7, "'=' is not a comparison; write '=='"),
        ("A\nB = A if A", 2, 11, "expected 'else' after 'if', got the end of the line"),
        ("A in", 1, 5, "expected a range such as {0, 1} or 0..10, got the end of the line"),
        ("A in {0, 1", 1, 11, "expected ',' or '}', got the end of the line"),
        ("A in {0, 0}", 1, 6, "a value stands twice in this range"),
        ("A in 5..2", 1, 6, "the range 5..2 is empty; write the smaller end first"),
        ("A in 1", 1, 7, "expected '..' as in 0..10, got the end of the line"),
        ("A in {0, 0.5}", 1, 11, "expected ',' or '}', got '.'"),
        ("not = 1", 1, 1, "'not' is a word of the language; choose another name"),
        ("exogenous", 1, 10, "expected a variable's name, got the end of the line"),
        (
            "exogenous A = 1",
            1,
            13,
            "the exogenous variable A cannot have an equation; drop 'exogenous' or the equation",
        ),
        ("A\nB = min A", 2, 9, "expected '(' after 'min', got 'A'"),
        ("A\nB = abs(A, A)", 2, 13, "'abs' takes one argument, got 2"),
        ("A\nB\nA in {0, 1}", 3, 1, "A is declared twice, first in line 1"),
        ("A\nexogenous A", 2, 11, "A is declared twice, first in line 1"),
        ("A = \u0663", 1, 5, "expected an integer, got '\u0663'"),
        ("A in \u0663..5", 1, 6, "expected an integer, got '\u0663'"),
        ("A = \ud800", 1, 5, "expected a variable, a number or '(', got '\\ud800'"),
        ("A\0", 1, 2, "expected 'in', '=' or the end of the line, got '\\x00'"),
        ("A\rB", 1, 3, "expected 'in', '=' or the end of the line, got 'B'"),
        ('A "half a label', 1, 3, "this label has no end; close it with another '\"' in the same line"),
        ("A = __import__('os')", 1, 15, "expected an operator or the end of the line, got '('"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_column(text, line, column, reason):
    error = refusal(text)
    assert (error.line, error.column, error.reason) == (line, column, reason)
    assert str(error) == f"line {line}, column {column}: {reason}"


def test_an_error_holds_the_line_it_is_about():
    assert refusal("A\nB = 1 \\\n + C").source == " + C"
    assert len(refusal("A = " + "1 + " * 1_000).source) <= 201


def test_an_error_can_always_be_printed():
    for error in (refusal("A = \ud800"), refusal("A\0\x1b[31m")):
        (str(error) + error.source).encode("utf-8")
        assert "\x1b" not in error.source


def test_a_near_name_is_suggested():
    text = "Suzy_throws\nBilly_throws\nShatters = Suzy_trows or Billy_throws"
    error = refusal(text)
    assert error.reason == "unknown variable 'Suzy_trows'; did you mean 'Suzy_throws'?"
    assert (error.line, error.column) == (3, 12)
    assert refusal("ST\nX = st").reason.endswith("did you mean 'ST'?")
    assert refusal("ST\nX = Quux").reason == "unknown variable 'Quux'"


def test_a_name_that_differs_in_case_only_is_preferred_to_one_that_is_merely_near():
    assert suggest("sh1", ["sha1", "SH1"]) == "; did you mean 'SH1'?"


def test_an_empty_text_is_no_model():
    for text in ("", "\n\n", "  # nothing\n"):
        with pytest.raises(ModelError, match="at least one variable"):
            Model.from_text(text)


def test_bytes_are_not_text():
    with pytest.raises(ModelError, match="expects a string of model text; got bytes"):
        Model.from_text(b"A")


def test_a_cycle_is_named():
    with pytest.raises(ModelError, match="The equations form a cycle: B <- C <- D <- B; a model must be acyclic"):
        Model.from_text("A\nB = A and C\nC = D\nD = B")
    with pytest.raises(ModelError, match="A <- A;"):
        Model.from_text("A = not A")
    with pytest.raises(ModelError, match="A0 <- A1 <- A2 <- A3 <- … <- A97 <- A98 <- A99 <- A0;"):
        Model.from_text("\n".join(f"A{i} = A{(i + 1) % 100}" for i in range(100)))


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("opener", "closer"), [("(", ")"), ("-", ""), ("not ", ""), ("!", ""), ("abs(", ")")])
def test_formulas_may_be_nested_to_a_depth_and_no_deeper(opener, closer):
    depth = MAX_DEPTH - 1  # the formula itself is the first level
    model = Model.from_text(f"A\nB in -1..1 = {opener * depth}A{closer * depth}")
    assert Model.from_text(str(model)) == model
    assert "nested deeper than 50 levels" in refusal(f"A\nB = {opener * MAX_DEPTH}A{closer * MAX_DEPTH}").reason
    assert "nested deeper than 50 levels" in refusal(f"A\nB = {opener * 100_000}A").reason


def test_a_chain_of_branches_has_a_limit():
    model = Model.from_text("A\nB = " + "0 if A else " * MAX_BRANCHES + "A")
    assert model.evaluate({"A": 1})["B"] == 0
    error = refusal("A\nB = " + "0 if A else " * (MAX_BRANCHES + 1) + "A")
    assert error.reason.startswith("more than 200 'if' in one chain")


def test_what_is_nested_in_many_ways_at_once_has_a_limit_too():
    text = "A\nB = " + ("0 if A else " * 100 + "(") * 10 + "A" + ")" * 10
    assert refusal(text).reason.startswith(f"nested deeper than {MAX_HEIGHT} operators")


def test_the_deepest_formula_that_is_read_can_be_used():
    layers = 24
    text = "A\nB = " + "1 if A or A and A == A + A * -(" * layers + "A" + ") else 0" * layers
    model = Model.from_text(text)
    assert Model.from_text(str(model)) == model
    assert model.evaluate({"A": 1}) == {"A": 1, "B": 1}
    assert model.evaluate_many({"A": [0, 1]})["B"].shape == (2,)


@pytest.mark.parametrize(
    "pair", [("-~", ""), ("(0 < A < ", " and A)"), ("~(A + ", ")"), ("-(", ")"), ("abs(-1 - ", ")")]
)
def test_a_formula_that_is_read_can_be_read_again_when_printed_however_deep_it_is(pair):
    for depth in range(1, 52):
        try:
            model = Model.from_text(f"A\nB in 0..9 = {pair[0] * depth}A{pair[1] * depth}")
        except ParseError as error:
            assert "nested deeper than" in error.reason  # noqa: PT017
            assert depth > 16
            return
        assert Model.from_text(str(model)) == model


def test_chained_comparisons_cannot_double_a_formula_again_and_again():
    nested = "A\nB = " + "0 < (" * 40 + "A" + ") < 2" * 40
    assert "a chain of comparisons in the middle of another" in refusal(nested).reason
    at_the_ends = Model.from_text("A\nB = (0 < A < 2) < 1 < (0 < A < 2)")
    assert at_the_ends.evaluate({"A": 1})["B"] == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A = 1234567890123456", "a number of 16 digits; at most 15 are allowed"),
        ("A in 0..1000000", "a range of 1000001 values; at most 1000000 are allowed"),
        ("x" * 201, "a name of 201 characters; at most 200 are allowed"),
        ("A = " + "x" * 201, "a name of 201 characters; at most 200 are allowed"),
        (
            "\n".join(f"A{i} in {i}..{i + 999_999}" for i in range(5)),
            "the ranges up to here hold more than 4000000 values; use smaller ranges",
        ),
    ],
)
def test_numbers_names_and_ranges_have_limits(text, reason):
    assert refusal(text).reason == reason


def test_the_text_and_the_number_of_variables_have_limits(monkeypatch):
    monkeypatch.setattr(actcause.core.declarations, "MAX_CHARACTERS", 10)
    assert refusal("A = 1 + 1 + 1").reason == "the text has 13 characters; at most 10 are read"
    monkeypatch.setattr(actcause.core.declarations, "MAX_VARIABLES", 2)
    assert refusal("A\nB\nC").reason == "more than 2 variables"


def test_long_chains_are_no_deep_trees():
    for joint in (" and ", " or ", " + ", " * ", " < "):
        model = Model.from_text("A\nB = " + joint.join(["A"] * 20_000))
        assert model.parents("B") == ("A",)


def test_a_caller_with_little_stack_left_gets_the_parsers_own_error():
    text = "A\nB = (A and (A or (A and (A or A))))"

    def dig(levels):
        return dig(levels - 1) if levels else Model.from_text(text)

    seen = set()
    limit = sys.getrecursionlimit()
    for levels in range(limit - 200, limit):
        try:
            dig(levels)
        except ParseError as error:
            seen.add(error.reason.split(";")[0])
            break
        except RecursionError:  # there was not even room for the call
            break
    assert seen == {"too little of Python's stack is left to read this text"}


HOSTILE = [
    "\n".join(f"A{i} in 0..999999" for i in range(10_000)),
    "A in 0..999999\n" + "\n".join(f"Y{i} = not A" for i in range(2_000)),
    "A in 0..999999\n" + "\n".join(f"Y{i} = A == {i} or A == 2" for i in range(2_000)),
    "A in 0..999999\n" + "\n".join(f"Y{i} = A * A + {i}" for i in range(2_000)),
    "K in 0..99\nQ in 0..99999\nY = Q * K * Q\nZ = K * K * Q + Q",
    "\n".join(f"A{i} in 0..63" for i in range(5_000)) + f"\nY = min({', '.join(f'A{i}' for i in range(5_000))})",
    "A in 0..99\nB in 0..99\n" + "\n".join(f"Y{i} = (A + {i}) * B - A" for i in range(2_000)),
    "\n".join("a" * 190 + str(i) for i in range(2_000)) + "\nY = " + "a" * 189 + "b",
    "A\nY = " + "A < " * 50_000 + "A",
    "\n".join(f"A{i}" for i in range(20_000)) + "\nY = A0 + " + " + ".join(f"A{i}" for i in range(20_000)),
]


def read_or_refused(read, text):
    try:
        return read(text)
    except ActCauseError as error:
        return str(error)


def cpu_seconds(text):
    """The time that this process works on a text, however busy the machine is."""
    start = time.process_time()
    outcome = read_or_refused(Model.from_text, text)
    assert isinstance(outcome, Model) or len(outcome) < 500
    return time.process_time() - start


@pytest.fixture(scope="module")
def plain_seconds():
    names = [f"A{i}" for i in range(20_000)]
    return cpu_seconds("\n".join([*names, *(f"Y{i} = A{i} and not A{i + 1}" for i in range(19_000))]))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_no_longer_than_plain_text_of_forty_thousand_lines(text, plain_seconds):
    assert cpu_seconds(text) < 5 * plain_seconds  # 0.8 of it or less when nothing else runs


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    for read in (Model.from_text, parse_formula, parse_event):
        assert read_or_refused(read, text) != ""


def test_a_thousand_mutated_texts_are_read_or_refused():
    report = fuzz_parser.run(fuzz_parser.Arguments(texts=1_000, seed=1))
    assert report.failures == []
    assert sum(report.outcomes.values()) == 1_000
    assert report.outcomes["read and evaluated"] > 70


@pytest.mark.slow
def test_a_hundred_thousand_mutated_texts_are_read_or_refused():
    report = fuzz_parser.run(fuzz_parser.Arguments(texts=100_000, seed=0))
    assert report.failures == []


# -- formulas and events ---------------------------------------------------------------------------


def test_a_formula_is_checked_against_the_names_it_may_use():
    names = {"BS": None, "X": None}
    assert str(parse_formula("!BS & X == 2", names)) == "not BS and X == 2"
    with pytest.raises(ParseError, match="column 5: unknown variable 'BT'; did you mean 'BS'"):
        parse_formula("not BT", names)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the formula is empty; write one such as 'BS == 1'"),
        ("BS = 1", "'=' is not a comparison; write '=='"),
        ("BS == 1)", "expected an operator or the end of the formula, got ')'"),
        ("(" * 1_000, "nested deeper than 50 levels; name a part of it in a line of its own"),
    ],
)
def test_a_formula_that_is_none_is_refused(text, reason):
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    assert caught.value.reason == reason


def test_an_event_is_a_list_of_assignments():
    assert parse_event("ST=1, BH=0") == {"ST": 1, "BH": 0}
    assert parse_event("ST == 1 and m = -3 & T=true,") == {"ST": 1, "m": -3, "T": 1}
    assert parse_event("") == {}


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("ST", 3, "expected '=' after ST, got the end of the line"),
        ("ST=1, ST=0", 7, "ST is set twice"),
        ("ST=1 BH=0", 6, "expected ',' or the end, got 'BH'"),
        ("ST=x", 4, "expected an integer, got 'x'"),
        ("SX=1", 1, "unknown variable 'SX'; did you mean 'ST'?"),
        ("1=ST", 1, "expected a variable's name, got '1'"),
    ],
)
def test_an_event_that_is_none_is_refused(text, column, reason):
    with pytest.raises(ParseError) as caught:
        parse_event(text, {"ST": None, "BH": None})
    assert (caught.value.column, caught.value.reason) == (column, reason)


# -- errors as values ------------------------------------------------------------------------------


def test_errors_survive_pickling():
    error = refusal("A\nB = A +")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column, again.source) == (str(error), 2, 8, "B = A +")
    missing = MissingExtraError("The command line", "cli")
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)
    assert "pip install 'actcause[cli]'" in str(missing)


def test_every_error_is_a_value_error_of_one_family():
    assert issubclass(ParseError, ModelError)
    assert issubclass(ModelError, ActCauseError)
    assert issubclass(ActCauseError, ValueError)
