"""Mutated model texts against the parser: each is read or refused, at once.

Every text is made from a corpus of valid and nasty ones by a few random mutations, and can be made
again from the seed and its number. Reading it may raise an `ActCauseError` and nothing else; a model
that results must print to text that gives the same model back, and must evaluate or refuse to. No
call may take a second.

    python benchmarks/fuzz_parser.py --texts 100000 --seed 0
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from actcause.core.model import Model
from actcause.core.text import parse_event, parse_formula
from actcause.errors import ActCauseError

VALID = [
    "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH",
    "exogenous U in {0, 1}  # context\nA in 0..5\nB = A + U\nC in {0, 1, 2} = 2 if B == 1 else U",
    "MD in {0, 1}\nL\nFF = MD or L\n",
    'M "who is\'s to blame"\nF "the # fire" in {0, 1, 2} = 2 * M\n',
    "m in 0..1000\no in 0..1000\nm' = m + 1 if m + 1 != o else m",
    "A\nB\nC = min(A, B, 2) + max(A, abs(B - 3)) * 2 // 3 % 5",
    "A\nB = !A & ~A | A\nC = 0 < A <= B != 3\nD = A if B else C if A else not B",
    "V1\nV2\nV3\nMajority = V1 + V2 + V3 >= 2\nUnanimous = V1 and V2 and V3",
    "A = 1 + \\\n  2 \\\n  + 3\nB = A == 6",
    "P in 0..99\nX in 0..99\nY = P + 2 if P == 49 and X != 51 else 51 if P == 50 else 50",
    "x in {-3, 0, 7}\ny = -x * --x - -3\nz = (x if y else -y) % 4\n",
    "A\nB\nC = A // B if B else 0\nD = B != 0 and A % B == 0",
]
WORDS = """
    and or not if else in exogenous min max abs true False __import__ eval A B C Y ST x é ß ² ٣ Ⅷ 变量
    & | ~ ! == != < <= > >= = + - * // % ( ) { } , .. ; @ $ ^ : . ... ? ` ' " # \\ "label" not( -( (( )) )(
    0 1 2 7 99 999999 1000000 999999999999999 1000000000000000 0..999999 {0} {} 0x10 1e9 1_000 1.5
"""
TOKENS = [*WORDS.split(), *"\n\t\r\f\v\0\u200b\ufeff\u2028\x85\ud800\U0001f600", "\\\n"]
LETTERS = "".join(map(chr, range(32, 127))) + "\0\t\n\r\f\\é²٣\u2028\ud800\U0001f600"


@dataclass(frozen=True)
class Arguments:
    """What the command line sets."""

    texts: int = 100_000
    seed: int = 0
    limit: float = 1.0


@dataclass
class Report:
    """What became of the texts."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    slowest_text: str = ""
    failures: list[str] = field(default_factory=list)


# -- texts that are large or awkward from the start ----------------------------------------------


def nasty() -> Iterator[str]:
    n = 100_000
    for opener, closer in (("(", ")"), ("-", ""), ("not ", ""), ("!", ""), ("abs(", ")"), ("not (", ")")):
        for depth in (24, 48, 60, 3_000, n):
            yield f"A\nY = {opener * depth}A{closer * depth}"
    for joint in (" + ", " - ", " * ", " // ", " % ", " or ", " and ", " < ", " == ", " | ", " & not "):
        for length in (100, 5_000, n):
            yield f"A\nY = {joint.join(['A'] * length)}"
    yield f"A\nY = min({', '.join(['A'] * n)})"
    yield "A\nY = " + "1 < (" * 45 + "A" + ") < 1" * 45
    yield "A\nY = " + "(" * 45 + "A" + " < 1 < 2)" * 45
    yield "A\nY = " + "0 if A else " * 200 + "A"
    yield "A\nY = " + ("0 if A else " * 190 + "(") * 40 + "A" + ")" * 40
    yield "A\nY = " + "1 if A or A and A == A + A * -(" * 24 + "A" + ") else 0" * 24
    for size in (1_000, 20_000):
        names = [f"A{i}" for i in range(size)]
        yield "\n".join(names) + f"\nY = {' + '.join(names)}"
        yield "\n".join(names) + f"\nY = {' + '.join(names)} + A0 * 2"
        yield "\n".join(f"{name} in 0..63" for name in names) + f"\nY = max({', '.join(names)})"
    yield "\n".join(f"A{i} in 0..999999" for i in range(10_000))
    yield "\n".join(f"A{i} in {i}..{i + 999_999}" for i in range(10_000))
    for body in ("not A", "A < {i}", "-A", "A * A + {i}", "A if A else {i}", "A", "A == {i} or A == 2", "A % 7 + A"):
        yield "A in 0..999999\n" + "\n".join(f"Y{i} = {body.format(i=i)}" for i in range(2_000))
    for body in ("A * B + {i} - A", "(A + {i}) // (B + 1) + B", "A + B + A", "min(A, B, {i}) * A"):
        for size in (99, 999):
            lines = "\n".join(f"Y{i} = {body.format(i=i)}" for i in range(2_000))
            yield f"A in 0..{size}\nB in 0..{size}\n{lines}"
    yield "A0 in 0..9\n" + "\n".join(f"A{i} = A{i - 1} * 2 + A{i - 1} % 3" for i in range(1, 200))
    yield "A0\nB0\n" + "\n".join(f"A{i} = A{i - 1} * 2 + B{i - 1}\nB{i}" for i in range(1, 60))
    yield "\n".join("a" * 190 + str(i) for i in range(2_000)) + "\nY = " + "a" * 189 + "b"
    yield "\n".join(f"variable_{i}" for i in range(5_000)) + "\nY = varable_x"
    yield "\n".join(f"A{i} = A{(i + 1) % 20_000}" for i in range(20_000))
    yield "A in {" + ", ".join(map(str, range(0, 400_000, 2))) + "}\nY = A == 4"
    yield from ('A "' + "#" * n, "A " + '"' * n, "A = 1 " + "\\\n" * n + "+ ", "A in 0.." + "9" * n, "x" * n, "#" * n)
    yield from ("", "\n" * n, " " * n, "\0", "\ufeffA", "A\r\nB = A\r\n", "A\rB", "A = \ud800", "A in ٣..٥", "A = ²")


# -- mutations -----------------------------------------------------------------------------------

Mutation = Callable[[random.Random, str], str]


def replace_characters(rng: random.Random, text: str) -> str:
    characters = list(text)
    for _ in range(rng.randint(1, 4)):
        characters[rng.randrange(len(characters))] = rng.choice(LETTERS)
    return "".join(characters)


def flip_bits(rng: random.Random, text: str) -> str:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode("utf-8", "surrogateescape")


def splice_tokens(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    inserted = rng.choice(["", " "]).join(rng.choices(TOKENS, k=rng.randint(1, 5)))
    return f"{text[:at]} {inserted} {text[at:]}" if rng.random() < 0.7 else text[:at] + inserted + text[at:]


def delete_part(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randint(1, 12) :]


def repeat_part(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    part = text[at : at + rng.randint(1, 12)]
    return text[:at] + part * rng.choice([2, 3, 10, 60, 300]) + text[at:]


def shuffle_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    lines += rng.choices(lines, k=rng.randint(0, 2))
    rng.shuffle(lines)
    return "\n".join(lines)


def join_texts(rng: random.Random, text: str) -> str:
    other = rng.choice(VALID)
    cut, other_cut = rng.randrange(len(text) + 1), rng.randrange(len(other))
    return rng.choice([text + "\n" + other, text[:cut] + other[other_cut:]])


def nest(rng: random.Random, text: str) -> str:
    head, equals, tail = text.partition("= ")
    body, newline, rest = tail.partition("\n")
    depth = rng.choice([1, 3, 20, 47, 49, 51, 200, 2_000])
    opener, closer = rng.choice(
        [("(", ")"), ("-", ""), ("not ", ""), ("~(", ")"), ("min(", ", 1)"), ("1 < (", ") < 2")]
    )
    return head + equals + opener * depth + body + closer * depth + newline + rest


def enlarge_numbers(rng: random.Random, text: str) -> str:
    grown = rng.choice(["9" * rng.randint(1, 30), "999999", "999999999999999", "-1", "0", "٣", "9" * 5_000])
    at = rng.randrange(len(text))
    ahead = next((i for i in range(at, len(text)) if text[i].isdigit()), None)
    return text if ahead is None else text[:ahead] + grown + text[ahead + 1 :]


def heavy_ranges(rng: random.Random, text: str) -> str:
    names = rng.sample("KLMNOPQR", rng.randint(1, 6))
    lines = [f"{name} in 0..{rng.choice([1, 9, 63, 99, 999, 99_999, 999_999])}" for name in names]
    for index in range(rng.randint(1, 4)):
        terms = ["*".join(rng.choices(names, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 5))]
        lines.append(f"heavy{index} = {rng.choice([' + ', ' - ', ' // ', ' % ', ' or ', ' < ']).join(terms)}")
    return text + "\n" + "\n".join(lines)


def misspell(rng: random.Random, text: str) -> str:
    words = [word for word in text.replace("\n", " ").split(" ") if word.isidentifier()]
    if not words:
        return text
    word = rng.choice(words)
    return text.replace(word, rng.choice([word + "x", word[::-1], word.swapcase(), word * 50, word * 300]), 1)


MUTATIONS: list[Mutation] = [
    replace_characters, flip_bits, splice_tokens, splice_tokens, delete_part, repeat_part, shuffle_lines,
    join_texts, nest, enlarge_numbers, heavy_ranges, misspell,
]  # fmt: skip


def mutate(seed: int, number: int) -> str:
    """Return the text with this number: always the same for the same seed."""
    rng = random.Random(f"{seed}:{number}")
    text = rng.choice(VALID)
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        text = rng.choice(MUTATIONS)(rng, text or "A")
    return text


def texts(count: int, seed: int) -> Iterator[str]:
    """`count` texts: the nasty ones as they are, each mutated once where there is room, then mutated valid ones."""
    rng = random.Random(seed)
    first = list(nasty())
    rng.shuffle(first)
    first = first[: max(1, count // 300)]
    first += [rng.choice(MUTATIONS[:6])(rng, text or "A") for text in first[: count // 600]]
    yield from first
    for number in range(count - len(first)):
        yield mutate(seed, number)


# -- the check -----------------------------------------------------------------------------------


def read(text: str) -> Model | None:
    try:
        return Model.from_text(text)
    except ActCauseError:
        return None


def read_as_formula(text: str) -> None:
    for parse in (parse_formula, parse_event):
        with suppress(ActCauseError):
            parse(text)


def evaluate(model: Model) -> str:
    context = {name: model.ranges[name][0] for name in model.roots}
    try:
        model.evaluate(context)
    except ActCauseError:
        return "read, evaluation refused"
    return "read and evaluated"


class Stopwatch:
    """The longest of the calls made through it, in seconds of this process; a slow one is made again."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.longest = 0.0

    def __call__(self, function: Callable[..., object], *arguments: object) -> object:
        fastest = float("inf")
        for _ in range(3):
            start = time.process_time()
            result = function(*arguments)
            fastest = min(fastest, time.process_time() - start)
            if fastest < self.limit:
                break
        self.longest = max(self.longest, fastest)
        return result


def check(text: str, report: Report, limit: float) -> None:
    """Read one text and note what became of it."""
    watch = Stopwatch(limit)
    try:
        model = watch(read, text)
        if len(text) < 5_000:
            watch(read_as_formula, text)
        outcome = "refused"
        if isinstance(model, Model):
            printed = watch(str, model)
            again = watch(read, printed)
            if again != model:
                report.failures.append(f"not the same after printing: {shorten(text)}")
            outcome = str(watch(evaluate, model))
    except Exception as error:  # what the fuzzer is looking for
        report.failures.append(f"{type(error).__name__} ({str(error)[:200]}): {shorten(text)}")
        outcome = "failed"
    report.outcomes[outcome] += 1
    if watch.longest > report.slowest:
        report.slowest, report.slowest_text = watch.longest, shorten(text)
    if watch.longest > limit:
        report.failures.append(f"took {watch.longest:.2f} s: {shorten(text)}")


def shorten(text: str, most: int = 600) -> str:
    return ascii(text) if len(text) <= most else f"{text[:most]!a} ... ({len(text)} characters)"


def run(arguments: Arguments) -> Report:
    report = Report()
    for text in texts(arguments.texts, arguments.seed):
        check(text, report, arguments.limit)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = Arguments()
    parser.add_argument("--texts", type=int, default=defaults.texts, help="how many texts")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="which texts")
    parser.add_argument("--limit", type=float, default=defaults.limit, help="seconds that one call may take")
    arguments = Arguments(**vars(parser.parse_args()))
    start = time.perf_counter()
    report = run(arguments)
    for outcome, count in sorted(report.outcomes.items()):
        print(f"{count:8d} {outcome}")
    seconds = time.perf_counter() - start
    print(f"{seconds:.0f} s; the slowest call took {report.slowest:.3f} s: {report.slowest_text[:100]}")
    for failure in report.failures[:20]:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
