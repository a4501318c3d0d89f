r"""The grammar of model text, one line at a time: a safe parser, never `eval`.

The grammar, one declaration a line (`#` starts a comment, a `\` at the end of a line continues it):

    declaration = ["exogenous"] NAME [LABEL] ["in" range] ["=" formula]
    range       = "{" INT {"," INT} "}"  |  INT ".." INT
    formula     = either ["if" either "else" formula]
    either      = both {("or" | "|") both}
    both        = negation {("and" | "&") negation}
    negation    = "not" negation | comparison
    comparison  = sum {("==" | "!=" | "<" | "<=" | ">" | ">=") sum}      # a < b < c chains
    sum         = product {("+" | "-") product}
    product     = unary {("*" | "//" | "%") unary}
    unary       = ("-" | "~" | "!") unary | atom
    atom        = INT | NAME | ("min" | "max" | "abs") "(" formula {"," formula} ")" | "(" formula ")"

A NAME may end in primes, which say the next value, or in `@` and a number, which is a step: `level'`, `level@3`.

Untrusted text is safe to parse: its size, the nesting of its formulas, its names, numbers and ranges
are bounded, and everything that is wrong with it is a `ParseError` with a line and a column.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from ..errors import ParseError, escape
from .arithmetic import FUNCTIONS, Call, Negative, OperatorChain
from .expression import Expression, Name, Number, height
from .logic import COMPARISONS, And, Compare, IfElse, Not, Or
from .ranges import MAX_RANGE, Range

MAX_DEPTH = 50  # parentheses and negations around a part of a formula
MAX_BRANCHES = 200  # of one chain of `else ... if`
MAX_HEIGHT = 250  # nodes on the longest way down a formula: methods of expressions recurse that deep
MAX_DIGITS = 15
MAX_NAME = 200
MAX_RANGE_TOTAL = 4_000_000  # values of all the different ranges of a text together

TRUTH_VALUES = {"True": 1, "False": 0, "true": 1, "false": 0}
KEYWORDS = frozenset({"and", "or", "not", "if", "else", "in", "exogenous", "min", "max", "abs", *TRUTH_VALUES})
# Words, then numbers, then operators, then labels; anything else is a token of its own, refused later.
TOKEN = re.compile(r"""[^\W\d]\w*'*(?:@(?:0|[1-9][0-9]*))?|\d+|==|!=|<=|>=|//|\.\.|[-+*%<>=&|~!(){},]|"[^"\n]*"|\S""")
WORD = re.compile(r"[^\W\d]\w*'*(?:@(?:0|[1-9][0-9]*))?")
END = ""
AFTER_OPERAND = frozenset({"and", "or", "&", "|", ")", ",", "if", "else", END})


def is_name(word: str) -> bool:
    """Return whether model text can have a variable of this name.

    >>> is_name("m'"), is_name("my name"), is_name("not")
    (True, False, False)
    >>> is_name("level@3"), is_name("level@x")
    (True, False)
    """
    return WORD.fullmatch(word) is not None and word not in KEYWORDS and len(word) <= MAX_NAME


@dataclass(frozen=True, slots=True)
class Declaration:
    """One line of model text: a variable, its range if given, its equation if it has one."""

    name: str
    range: Range | None = None
    expression: Expression | None = None
    exogenous: bool = False
    label: str | None = None


class Shared:
    """What the lines of a text have in common: one node for each name, one tuple for each range."""

    def __init__(self) -> None:
        self.literals: dict[str, tuple[Name, Not]] = {}
        self.ranges: dict[tuple[int, int], Range] = {}
        self.range_values = 0


class Parser:
    """A recursive-descent parser over the tokens of one logical line."""

    def __init__(self, source: str, line: int, shared: Shared | None = None) -> None:
        self.source = source
        self.line = line
        self.tokens: list[str] = TOKEN.findall(source)
        self.tokens.append(END)
        self.at = 0
        self.depth = 0
        self.tall = False  # whether the formula may be taller than MAX_HEIGHT
        self.chained = 0  # comparisons such as a < b < c so far
        self.shared = Shared() if shared is None else shared
        # Names seen so far and their negations.
        self.literals = self.shared.literals

    # -- errors ------------------------------------------------------------------------------

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        index = self.at if at is None else at
        column, line, source = len(self.source) + 1, self.line, self.source
        for position, match in enumerate(TOKEN.finditer(self.source)):
            if position == index:
                column = match.start() + 1
                break
        before = self.source[: column - 1]
        if "\n" in source:  # a continued line: report the physical one
            line += before.count("\n")
            column = len(before) - (before.rfind("\n") + 1) + 1
            source = source.split("\n")[before.count("\n")]
        raise ParseError(message, line=line, column=column, source=source)

    def fail_expecting(self, what: str) -> NoReturn:
        token = self.tokens[self.at]
        came = "the end of the line" if token == END else f"'{escape(token[:40])}'"
        self.fail(f"expected {what}, got {came}")

    def take(self, token: str, what: str | None = None) -> None:
        if self.tokens[self.at] != token:
            self.fail_expecting(what or f"'{token}'")
        self.at += 1

    def enter(self, levels: int = 1) -> None:
        self.depth += levels
        self.tall = self.tall or self.depth > MAX_DEPTH // 3
        if self.depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels; name a part of it in a line of its own")

    # -- expressions -------------------------------------------------------------------------

    def whole_formula(self) -> Expression:
        """Read a formula that is not a part of another."""
        start = self.at
        result = self.formula()
        if self.tall:
            if height(result) > MAX_HEIGHT:
                self.fail(f"nested deeper than {MAX_HEIGHT} operators; name a part of it in a line of its own", start)
            try:  # printing can add parentheses, and what is printed must be readable
                Parser(str(result), self.line).formula()
            except ParseError as error:
                self.fail(error.reason, start)
        return result

    def formula(self) -> Expression:
        self.enter()
        branches: list[tuple[Expression, Expression]] = []
        result = self.either()
        while self.tokens[self.at] == "if":
            if len(branches) == MAX_BRANCHES:
                self.fail(f"more than {MAX_BRANCHES} 'if' in one chain; name a part of it in a line of its own")
            self.at += 1
            branches.append((result, self.either()))
            self.take("else", "'else' after 'if'")
            result = self.either()
        self.tall = self.tall or len(branches) > 5
        for then, condition in reversed(branches):
            result = IfElse(then, condition, result)
        self.depth -= 1
        return result

    def either(self) -> Expression:
        first = self.both()
        if self.tokens[self.at] not in ("or", "|"):
            return first
        operands = [first]
        while self.tokens[self.at] in ("or", "|"):
            self.at += 1
            operands.append(self.both())
        return Or(tuple(operands))

    def both(self) -> Expression:
        first = self.negation()
        if self.tokens[self.at] not in ("and", "&"):
            return first
        operands = [first]
        while self.tokens[self.at] in ("and", "&"):
            self.at += 1
            operands.append(self.negation())
        return And(tuple(operands))

    def negation(self) -> Expression:
        start = self.at
        tokens = self.tokens
        # The commonest operands by far are a name and its negation; skipping the calls below for
        # them makes large models load several times faster.
        negated = tokens[start] == "not"
        literal = self.literals.get(tokens[start + negated])
        if literal is not None and tokens[start + negated + 1] in AFTER_OPERAND:
            self.at = start + negated + 1
            return literal[negated]
        while tokens[self.at] == "not":
            self.at += 1
        count = self.at - start
        self.enter(count)
        result = self.comparison()
        self.depth -= count
        for _ in range(count):
            result = self.literals[result.name][1] if isinstance(result, Name) else Not(result)
        return result

    def comparison(self) -> Expression:
        left = self.sum()
        if self.tokens[self.at] not in COMPARISONS:
            if self.tokens[self.at] == "=":
                self.fail("'=' is not a comparison; write '=='")
            return left
        links: list[Expression] = []
        while (symbol := self.tokens[self.at]) in COMPARISONS:
            self.at += 1
            start, chained = self.at, self.chained
            right = self.sum()
            links.append(Compare(left, symbol, right))
            left = right
            # Every operand but the outer two stands in two links; were chains to nest there, each
            # level would double the formula.
            if chained != self.chained and self.tokens[self.at] in COMPARISONS:
                self.fail("a chain of comparisons in the middle of another; join them by 'and'", start)
        if len(links) == 1:
            return links[0]
        self.chained += 1
        return And(tuple(links))

    def sum(self) -> Expression:
        return self.chain(("+", "-"), self.product)

    def product(self) -> Expression:
        return self.chain(("*", "//", "%"), self.unary)

    def chain(self, symbols: tuple[str, ...], operand: Callable[[], Expression]) -> Expression:
        first = operand()
        if self.tokens[self.at] not in symbols:
            return first
        steps = []
        while (symbol := self.tokens[self.at]) in symbols:
            self.at += 1
            steps.append((symbol, operand()))
        return OperatorChain(first, tuple(steps))

    def unary(self) -> Expression:
        token = self.tokens[self.at]
        if token in ("-", "~", "!"):
            self.at += 1
            self.enter()
            operand = self.unary()
            self.depth -= 1
            if token != "-":
                return Not(operand)
            return Number(-operand.number) if isinstance(operand, Number) else Negative(operand)
        return self.atom()

    def atom(self) -> Expression:
        token = self.tokens[self.at]
        if token.isdecimal():
            return Number(self.integer())
        if token in FUNCTIONS:
            return self.call(token)
        if token == "(":
            self.at += 1
            inside = self.formula()
            self.take(")", "')'")
            return inside
        if token in TRUTH_VALUES:
            self.at += 1
            return Number(TRUTH_VALUES[token])
        if token in KEYWORDS or not WORD.fullmatch(token):
            self.fail_expecting("a variable, a number or '('")
        self.check_name(token)
        self.at += 1
        if token not in self.literals:
            name = Name(token)
            self.literals[token] = (name, Not(name))
        return self.literals[token][0]

    def call(self, function: str) -> Expression:
        self.at += 1
        self.take("(", f"'(' after '{function}'")
        arguments = [self.formula()]
        while self.tokens[self.at] == ",":
            self.at += 1
            arguments.append(self.formula())
        if function == "abs" and len(arguments) != 1:
            self.fail(f"'abs' takes one argument, got {len(arguments)}")
        self.take(")", "',' or ')'")
        return Call(function, tuple(arguments))

    # -- parts of declarations -----------------------------------------------------------------

    def integer(self) -> int:
        """Read an unsigned integer literal."""
        token = self.tokens[self.at]
        if not (token.isdecimal() and token.isascii()):
            self.fail_expecting("an integer")
        if len(token) > MAX_DIGITS:
            self.fail(f"a number of {len(token)} digits; at most {MAX_DIGITS} are allowed")
        self.at += 1
        return int(token)

    def integer_with_sign(self) -> int:
        negative = self.tokens[self.at] == "-"
        self.at += negative
        return -self.integer() if negative else self.integer()

    def name(self) -> str:
        token = self.tokens[self.at]
        if token in KEYWORDS:
            self.fail(f"'{token}' is a word of the language; choose another name")
        if not WORD.fullmatch(token):
            self.fail_expecting("a variable's name")
        self.check_name(token)
        self.at += 1
        return token

    def check_name(self, token: str) -> None:
        if len(token) > MAX_NAME:
            self.fail(f"a name of {len(token)} characters; at most {MAX_NAME} are allowed")

    def range(self) -> Range:
        start = self.at
        if self.tokens[self.at] == "{":
            self.at += 1
            values = [self.integer_with_sign()]
            while self.tokens[self.at] == ",":
                self.at += 1
                values.append(self.integer_with_sign())
            self.take("}", "',' or '}'")
        else:
            if self.tokens[self.at] != "-" and not self.tokens[self.at].isdecimal():
                self.fail_expecting("a range such as {0, 1} or 0..10")
            low = self.integer_with_sign()
            self.take("..", "'..' as in 0..10")
            high = self.integer_with_sign()
            if high < low:
                self.fail(f"the range {low}..{high} is empty; write the smaller end first", start)
            if high - low >= MAX_RANGE:
                self.fail(f"a range of {high - low + 1} values; at most {MAX_RANGE} are allowed", start)
            ranges = self.shared.ranges
            if (low, high) not in ranges:
                self.count_values(high - low + 1, start)
                ranges[low, high] = tuple(range(low, high + 1))
            return ranges[low, high]
        if len(set(values)) != len(values):
            self.fail("a value stands twice in this range", start)
        if len(values) > MAX_RANGE:
            self.fail(f"a range of {len(values)} values; at most {MAX_RANGE} are allowed", start)
        self.count_values(len(values), start)
        return tuple(sorted(values))

    def count_values(self, count: int, at: int) -> None:
        self.shared.range_values += count
        if self.shared.range_values > MAX_RANGE_TOTAL:
            self.fail(f"the ranges up to here hold more than {MAX_RANGE_TOTAL} values; use smaller ranges", at)

    def declaration(self) -> Declaration:
        exogenous = self.tokens[self.at] == "exogenous"
        self.at += exogenous
        name = self.name()
        label = None
        if self.tokens[self.at][:1] == '"':
            if len(self.tokens[self.at]) == 1:
                self.fail("this label has no end; close it with another '\"' in the same line")
            label = self.tokens[self.at].strip('"')
            self.at += 1
        values = None
        if self.tokens[self.at] == "in":
            self.at += 1
            values = self.range()
        expression = None
        if self.tokens[self.at] == "=":
            if exogenous:
                self.fail(f"the exogenous variable {name} cannot have an equation; drop 'exogenous' or the equation")
            self.at += 1
            expression = self.whole_formula()
        self.end("'in', '=' or the end of the line" if expression is None else "an operator or the end of the line")
        return Declaration(name, values, expression, exogenous, label)

    def end(self, what: str) -> None:
        if self.tokens[self.at] != END:
            self.fail_expecting(what)
