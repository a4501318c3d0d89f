"""Public contracts: what every model, definition and solver must satisfy, as functions that raise.

Whoever writes a definition or a solver of their own runs these on it, as our tests do on ours.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice

import numpy as np

from ..errors import ContractError
from .definitions import Definition, OutOfBudget, Search
from .model import Model
from .query import Query
from .solvers import Exhaustive, Solver
from .text import parse_event, parse_formula

# Stories of the literature that are small enough for the oracle: model, context, effect.
STORIES = (
    ("ST; BT; SH = ST; BH = BT and not SH; BS = SH or BH", "ST=1, BT=1", "BS"),  # rock throwing
    ("L; MD; FF = L or MD", "L=1, MD=1", "FF"),  # a fire of either
    ("L; MD; FF = L and MD", "L=1, MD=1", "FF"),  # a fire of both
    ("P; A; S = not P or A", "P=0, A=1", "S"),  # bogus prevention
    ("M in -1..1; S in -1..1; SE = S if M == 0 else 0; C = M if M != 0 else SE", "M=1, S=1", "C == 1"),  # trumping
)
MOST_CONTEXTS = 64
ORACLE_STEPS = 200_000


def check_model(model: Model, *, contexts: Iterable[dict[str, int]] | None = None) -> None:
    r"""Check that a model evaluates consistently, stays in its ranges, and survives being written as text.

    >>> check_model(Model.from_text("A\nB = not A"))
    """
    model.check_equations()
    listed = list(islice(model.contexts() if contexts is None else contexts, MOST_CONTEXTS))
    columns = {name: np.asarray([context[name] for context in listed]) for name in model.roots}
    together = model.evaluate_many(columns) if listed else {}
    for index, context in enumerate(listed):
        values = model.evaluate(context)
        _require(list(values) == list(model.variables), "evaluate must give every variable, in the model's order")
        for name, value in values.items():
            _require(value in model.ranges[name], f"{name} leaves its range in the context {context}")
            many = np.broadcast_to(together[name], (len(listed),))[index]
            _require(int(many) == value, f"evaluate and evaluate_many disagree on {name} in the context {context}")
        again = model.evaluate(context, do=values)
        _require(again == values, "setting every variable to what it is must change nothing")
    if all(equation.expression is not None for equation in model.equations.values()):
        _require(Model.from_text(model.to_text()) == model, "the model's text must read back to an equal model")


def check_definition(definition: Definition) -> None:
    """Check that a definition names itself, that its witnesses replay, and that it never blames what changed nothing.

    >>> from actcause import DEFINITIONS
    >>> check_definition(DEFINITIONS["modified-hp"])
    """
    for attribute in ("name", "title", "citation"):
        _require(bool(getattr(definition, attribute, "")), f"a definition needs a {attribute}")
    for query, event in _questions(definition.name):
        search = Search(query, max_steps=ORACLE_STEPS)
        try:
            for witness in islice(definition.witnesses(search, event), 50):
                where = f"{definition.name} on {event}: "
                _require(witness.changed.keys() == event.keys(), where + "a witness must change just the event")
                _require(bool(witness.replay(query)), where + f"the witness {witness} does not undo the effect")
                sufficient = definition.sufficient(search, event, witness)
                _require(isinstance(sufficient, bool), where + "sufficient must be a bool")
        except OutOfBudget:
            continue


def check_solver(make: Callable[[Query], Solver], definition: Definition) -> None:
    """Check that a solver agrees with the oracle: on every event of the stories, and on all their minimal causes.

    >>> from actcause import DEFINITIONS
    >>> check_solver(lambda query: Exhaustive(DEFINITIONS["but-for"]), DEFINITIONS["but-for"])
    """
    oracle = Exhaustive(definition)
    for query, event in _questions(definition.name):
        ours = make(query).judge(Search(query), event)
        theirs = oracle.judge(Search(query), event)
        where = f"{definition.name} on {event}: the solver"
        agree = ours.conditions == theirs.conditions
        _require(agree, f"{where} says {ours.conditions}, the oracle {theirs.conditions}")
        replays = not ours or (ours.witness is not None and bool(ours.witness.replay(query)))
        _require(replays, f"{where}'s witness does not replay")
    for query in _queries(definition.name):
        events = [frozenset(cause.event.items()) for cause in make(query).causes(Search(query))]
        expected = {frozenset(cause.event.items()) for cause in oracle.causes(Search(query))}
        _require(len(set(events)) == len(events), f"{definition.name}: a cause was found twice")
        _require(set(events) == expected, f"{definition.name} on {query.effect}: the causes differ from the oracle's")


def _queries(definition: str) -> Iterator[Query]:
    for lines, context, effect in STORIES:
        model = Model.from_text(lines.replace("; ", "\n"))
        yield Query(model, parse_event(context), parse_formula(effect), definition)


def _questions(definition: str) -> Iterator[tuple[Query, dict[str, int]]]:
    """List every event of one or two variables that actually happened, in every story."""
    for query in _queries(definition):
        for size in (1, 2):
            for names in combinations(query.model.endogenous, size):
                yield query, {name: query.actual[name] for name in names}


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ContractError(message)
