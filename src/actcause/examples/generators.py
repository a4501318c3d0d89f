"""Families of models of any size: complete trees of gates, fault trees and attack trees.

These are the kinds of models on which solvers of actual causality are compared, among them HP2SAT (Ibrahim, Rehwald and
Pretschner, "Efficiently Checking Actual Causality with SAT Solving", 2019). Everything here is written anew.

>>> tree = fault_tree(6, seed=1)
>>> tree.model.evaluate(tree.context)[tree.outcome]
1
"""

import random
from collections import deque
from dataclasses import dataclass

from ..errors import QueryError, quote
from .example import Example

HP2SAT = (
    "after the models of Ibrahim, Rehwald and Pretschner, Efficiently Checking Actual Causality with SAT Solving, 2019"
)
MOST = 100_000  # basic events, attackers, or leaves of a tree
CONNECTIVES = {"or": " or ", "and": " and "}


def binary_tree(depth: int, *, gate: str = "or") -> Example:
    r"""Make a complete binary tree of equal gates, `depth` of them above each leaf; every leaf is 1.

    >>> print(binary_tree(2).text)
    N4
    N5
    N6
    N7
    N2 = N4 or N5
    N3 = N6 or N7
    N1 = N2 or N3
    """
    if gate not in CONNECTIVES:
        raise QueryError("{parameter} must be 'or' or 'and'; got {got}.", parameter="gate", got=quote(gate))
    _check_count("depth", depth, MOST.bit_length() - 1)
    leaves = range(2**depth, 2 ** (depth + 1))
    levels = (range(2**level, 2 ** (level + 1)) for level in reversed(range(depth)))
    gates = [f"N{i} = N{2 * i}{CONNECTIVES[gate]}N{2 * i + 1}" for level in levels for i in level]
    return Example(
        title=f"Binary tree of {gate}-gates, depth {depth}",
        story=f"A complete binary tree of {2**depth} events; each gate is an '{gate}' of two.",
        text="\n".join([*(f"N{i}" for i in leaves), *gates]),
        context={f"N{i}": 1 for i in leaves},
        source=HP2SAT,
    )


def fault_tree(events: int, *, seed: int = 0, shared: float = 0.2, priority: bool = False) -> Example:
    """Make a random fault tree over so many basic events B1, B2, ...; its top event T happened.

    Gates are 'and', 'or' and 'at least k of n' of two to four inputs. The share `shared` of inputs is an event that
    already stands elsewhere in the tree. With `priority`, the first input of an 'or' comes before the others: these
    take effect only where it did not happen, which is preemption. What failed is enough to bring the top event about,
    and a few events more.
    """
    _check_count("events", events, MOST, least=2)
    if not isinstance(shared, (int, float)) or not 0 <= shared <= 1:
        raise QueryError("{parameter} must be a share from 0 to 1; got {got}.", parameter="shared", got=quote(shared))
    rng = random.Random(seed)
    basic = [f"B{i}" for i in range(1, events + 1)]
    waiting, known, gates = deque(rng.sample(basic, events)), list(basic), dict[str, _Gate]()
    while len(waiting) > 1:
        inputs = [waiting.popleft() for _ in range(min(rng.randint(2, 4), len(waiting)))]
        again = rng.choice(known)
        if rng.random() < shared * len(inputs) and again not in inputs:
            inputs.append(again)
        name = f"G{len(gates) + 1}" if waiting else "T"
        gates[name] = _draw_gate(inputs, rng)
        known.append(name)
        waiting.append(name)
    text = "\n".join([*basic, *(line for name, gate in gates.items() for line in gate.write(name, priority))])
    return Example(
        title=f"Fault tree of {events} basic events",
        story=f"A random fault tree of {events} basic events and {len(gates)} gates. Its top event T happened.",
        text=text,
        context=_draw_failures(basic, gates, rng),
        source=HP2SAT,
    )


@dataclass(frozen=True)
class _Gate:
    """A gate that opens when at least so many of its inputs do: all of them is 'and', one is 'or'."""

    inputs: tuple[str, ...]
    least: int

    def write(self, name: str, priority: bool) -> list[str]:
        """Write the gate's line; with priority also one for each input of an 'or' that the first may forestall."""
        first, *others = self.inputs
        if self.least == len(self.inputs):
            return [f"{name} = {' and '.join(self.inputs)}"]
        if self.least > 1:
            return [f"{name} = {' + '.join(self.inputs)} >= {self.least}"]
        if not priority:
            return [f"{name} = {' or '.join(self.inputs)}"]
        later = {f"{name}_{other}": other for other in others}
        effects = [f"{effect} = {other} and not {first}" for effect, other in later.items()]
        return [*effects, f"{name} = {' or '.join([first, *later])}"]


def _draw_gate(inputs: list[str], rng: random.Random) -> _Gate:
    least = rng.choice([1, 1, len(inputs), rng.randint(2, len(inputs))])
    return _Gate(tuple(inputs), least)


def _draw_failures(basic: list[str], gates: dict[str, _Gate], rng: random.Random) -> dict[str, int]:
    """Choose what failed: going down from the top, as many inputs as each gate needs; and a tenth of the others."""
    needed, stack = set[str](), ["T"]
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack += rng.sample(gates[name].inputs, gates[name].least) if name in gates else []
    return {name: int(name in needed or rng.random() < 0.1) for name in basic}


def attack_tree(attackers: int) -> Example:
    """Make an attack tree with so many attackers who all succeed; the first to act forestalls the others.

    Attacker i gets in with a badge and a code, or is let in by a guard who looks away. A badge is found or forged, a
    code seen or guessed.

    >>> squad = attack_tree(2)
    >>> from actcause import is_cause
    >>> asked = {"context": squad.context, "effect": squad.effect}
    >>> [is_cause(squad.model, event=event, **asked).holds for event in ("Enters1=1, Led1=1", "Badge2=1")]
    [True, False]
    """
    _check_count("attackers", attackers, 2_000)
    roots, gates = [], []
    for i in range(1, attackers + 1):
        roots += [f"{act}{i}" for act in ("Found", "Forged", "Seen", "Guessed", "Bribe", "Absence")]
        before = f" and not Earlier{i}" if i > 1 else ""
        if i > 1:
            gates.append(f"Earlier{i} = {f'Earlier{i - 1} or ' if i > 2 else ''}Enters{i - 1} or Led{i - 1}")
        gates += [
            f"Badge{i} = Found{i} or Forged{i}",
            f"Code{i} = Seen{i} or Guessed{i}",
            f"Enters{i} = Badge{i} and Code{i}{before}",
            f"Led{i} = Bribe{i} and Absence{i}{before}",
        ]
    top = " or ".join(f"Enters{i} or Led{i}" for i in range(1, attackers + 1))
    return Example(
        title=f"Attack tree with {attackers} attackers",
        story="Attackers get in with a badge and a code, or by a guard who looks away. Everything was tried; "
        "the first to get in took the key, and nobody after.",
        text="\n".join([*roots, *gates, f"Theft = {top}"]),
        context=dict.fromkeys(roots, 1),
        source=HP2SAT,
    )


def _check_count(parameter: str, value: object, most: int, least: int = 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        wrong = "{parameter} must be a whole number from {least} to {most}; got {got}."
        raise QueryError(wrong, parameter=parameter, least=least, most=most, got=quote(value))
