"""Families of models of any size: complete trees of gates, fault trees and attack trees.

These are the kinds of models on which solvers of actual causality are compared, among them HP2SAT (Ibrahim, Rehwald and
Pretschner, "Efficiently Checking Actual Causality with SAT Solving", 2019). Everything here is written anew.

>>> tree = fault_tree(6, seed=1)
>>> tree.model.evaluate(tree.context)[tree.outcome]
1
"""

import random

from ..core.model import Model
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
    already stands elsewhere in the tree. With `priority`, the first input of an 'or' comes before the others: they
    happen only where it did not, which is preemption. What failed is a smallest set that brings the top event about,
    and a few events more.
    """
    _check_count("events", events, MOST, least=2)
    if not isinstance(shared, (int, float)) or not 0 <= shared <= 1:
        raise QueryError("{parameter} must be a share from 0 to 1; got {got}.", parameter="shared", got=quote(shared))
    rng = random.Random(seed)
    basic = [f"B{i}" for i in range(1, events + 1)]
    waiting, gates = list(basic), dict[str, str]()
    rng.shuffle(waiting)
    while len(waiting) > 1:
        inputs, waiting = waiting[: (count := rng.randint(2, 4))], waiting[count:]
        known = sorted({*basic, *gates} - {*inputs})
        if known and rng.random() < shared * len(inputs):
            inputs.append(rng.choice(known))
        name = f"G{len(gates) + 1}" if waiting else "T"
        gates[name] = _gate(inputs, rng, priority)
        waiting.append(name)
    text = "\n".join([*basic, *(f"{name} = {formula}" for name, formula in gates.items())])
    return Example(
        title=f"Fault tree of {events} basic events",
        story=f"A random fault tree of {events} basic events and {len(gates)} gates. Its top event T happened.",
        text=text,
        context=_failures(Model.from_text(text), rng),
        source=HP2SAT,
    )


def _gate(inputs: list[str], rng: random.Random, priority: bool) -> str:
    kinds = ["and", "or", "or", *(["vote"] if len(inputs) > 2 else [])]
    kind = rng.choice(kinds)
    if kind == "vote":
        return f"{' + '.join(inputs)} >= {rng.randint(2, len(inputs) - 1)}"
    if kind == "or" and priority:
        first, *others = inputs
        return f"{first} or not {first} and ({' or '.join(others)})"
    return CONNECTIVES[kind].join(inputs)


def _failures(model: Model, rng: random.Random) -> dict[str, int]:
    """Choose what failed: as few events as bring the top event about, one by one, and a quarter of the others."""
    context = dict.fromkeys(model.roots, 1)
    for name in rng.sample(model.roots, len(model.roots)):
        if not model.solve({**context, name: 0}, {})["T"]:
            continue
        context[name] = 0
    more = {name: 1 for name, value in context.items() if not value and rng.random() < 0.25}
    return {**context, **more}


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
