"""Degrees: how responsible was it, and how much to blame?

Being a cause is yes or no; a voter in an 11-0 election is a cause of the victory, and so is each in a
6-5 one. *Responsibility* tells them apart: it is 1/(1 + the number of changes needed before the event
becomes critical). *Blame* is the responsibility expected by someone who did not know the context.

Chockler and Halpern, "Responsibility and Blame: A Structural-Model Approach", JAIR 22, 2004; for
modified HP: Halpern, "Actual Causality", MIT Press 2016, Section 6.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from fractions import Fraction
from typing import Any

from ..errors import QueryError
from .answer import Assignment, Status, Verdict
from .definitions import Deadline, OutOfBudget, Search
from .equation import Equation
from .expression import Expression, Number
from .find import Rules, Share, causes, get_definition, is_cause, make_query
from .model import Model
from .query import as_share
from .solvers import ENCODINGS, Encoding

CHOCKLER_HALPERN = ("original-hp", "updated-hp")
WITH_DEGREES = (*CHOCKLER_HALPERN, "modified-hp", "functional")


def responsibility(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    event: Assignment | str,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | None = None,
    normality: Rules = None,
    max_seconds: float | None = None,
) -> Fraction | None:
    r"""Measure how responsible an event is for an effect, between 0 and 1.

    For original and updated HP (Chockler and Halpern): 1/(k+1) for a cause, `k` being the fewest
    variables outside it whose values a witness must change. For modified HP (Halpern 2016): 1/k, `k`
    being the fewest variables in a cause that contains the event together with those held fixed by its
    witness. For `functional` (ours): 1/k, `k` being the size of the smallest cause that contains the
    event. No source defines a degree for `but-for`, `direct` and `strong`, which are refused. 0 if the
    event is not (part of) a cause; None if `max_seconds` ran out.

    >>> vote = Model.from_text("A\nB\nC\nWins = A + B + C >= 2")
    >>> responsibility(vote, context={"A": 1, "B": 1, "C": 1}, effect="Wins", event={"A": 1})
    Fraction(1, 2)
    """
    check_degrees((definition,))
    query = make_query(model, context, effect, definition, alpha_sufficiency, alpha_necessity, contrast, normality)
    checked = query.check_event(event)
    if not query.happened or any(query.actual[name] != value for name, value in checked.items()):
        return Fraction(0)
    search = Search(query, max_seconds=max_seconds)
    try:
        if query.definition in CHOCKLER_HALPERN:
            return _by_changes(search, checked)
        if query.definition == "functional":
            return _by_size(search, checked)
        return _by_part(search, checked)
    except OutOfBudget:
        return None


def blame(
    model: Model,
    *,
    contexts: Iterable[tuple[Any, ...]],
    effect: str | Expression,
    event: Assignment | str,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | None = None,
    normality: Rules = None,
    max_seconds: float | None = None,
) -> Fraction | None:
    r"""Measure blame: responsibility, expected over contexts, and models, with their probabilities.

    `contexts` are (context, probability) pairs. Where it is not known how the world works either, they are
    (model, context, probability) triples: `model` then only stands for what pairs leave out. The event is what was
    done, so it is put in place in every context before its responsibility is asked for. None if `max_seconds` ran out.

    >>> squad = Model.from_text("A\nB\nDead = A or B")
    >>> live = [({"A": 1, "B": 0}, 0.5), ({"A": 1, "B": 1}, 0.5)]
    >>> blame(squad, contexts=live, effect="Dead", event={"A": 1})
    Fraction(3, 4)
    """
    check_degrees((definition,))
    cases = [_read_case(model, entry) for entry in contexts]
    if not cases:
        raise _wrong_contexts()
    shares = [as_share("contexts", probability, "A probability") or Fraction(0) for _, _, probability in cases]
    if abs(sum(shares, Fraction(0)) - 1) > Fraction(1, 10**6):
        wrong = "The probabilities of the contexts must sum to 1; got {total:g}."
        raise QueryError(wrong, parameter="contexts", total=float(sum(shares)))
    question = (effect, definition, alpha_sufficiency, alpha_necessity, contrast, normality)
    queries = [make_query(possible_model, context, *question) for possible_model, context, _ in cases]
    events = [query.check_event(event) for query in queries]
    total = Fraction(0)
    deadline = Deadline(max_seconds)
    for query, action, share in zip(queries, events, shares, strict=True):
        set_roots = {**query.context, **{name: value for name, value in action.items() if name in query.model.roots}}
        arguments = query.arguments | {"model": _put_in_place(query.model, action), "context": set_roots}
        degree = responsibility(event=action, max_seconds=deadline.remaining, **arguments)
        if degree is None:
            return None
        total += share * degree
    return total / sum(shares)


def _read_case(model: Model, entry: Any) -> tuple[Model, Any, Any]:
    """Read a pair or a triple as a triple."""
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        if len(entry) == 2:
            return (model, *entry)
        if len(entry) == 3 and isinstance(entry[0], Model):
            return entry[0], entry[1], entry[2]
    raise _wrong_contexts()


def _wrong_contexts() -> QueryError:
    triples = "(model, context, probability) triples"
    wrong = "{parameter} must be a list of (context, probability) pairs or {triples}, at least one."
    return QueryError(wrong, parameter="contexts", triples=triples)


def check_degrees(definitions: Sequence[str]) -> None:
    """Refuse to measure degrees where none of the definitions has them."""
    names = [get_definition(definition).name for definition in definitions]
    if not any(name in WITH_DEGREES for name in names):
        wrong = "No source defines a degree of responsibility by {names}; ask {known}."
        raise QueryError(wrong, parameter="definition", names=" or ".join(names), known=" or ".join(WITH_DEGREES))


def _put_in_place(model: Model, event: Assignment) -> Model:
    """Build the model in which the event is done; its roots are set by the context."""
    equations: dict[str, Equation | Expression] = dict(model.equations)
    equations |= {name: Number(value) for name, value in event.items() if name in model.equations}
    return Model(dict(model.ranges), equations, exogenous=model.exogenous, labels=dict(model.labels))


def _by_changes(search: Search, event: Assignment) -> Fraction:
    """Count, with Chockler and Halpern, how few variables must change before the event is critical."""
    if not _judge(search, event):
        return Fraction(0)
    with closing(ENCODINGS[search.query.definition](search, tuple(event))) as encoding:
        changes = _least(encoding, encoding.exactly(event), 0, encoding.weights())
    assert changes is not None  # it is a cause, so some witness exists
    return Fraction(1, changes + 1)


def _by_part(search: Search, event: Assignment) -> Fraction:
    """Count, with Halpern, how small a cause that contains the event can be, with what its witness holds."""
    query = search.query
    candidates = tuple(dict.fromkeys((*query.candidates, *event)))
    with closing(ENCODINGS[query.definition](search, candidates)) as encoding:
        least = 1
        literals = encoding.weights()
        while True:
            fewest = _least(encoding, [-encoding.waived, *(encoding.chosen[name] for name in event)], least, literals)
            if fewest is None:
                return Fraction(0)
            least = fewest
            names = encoding.chosen_names()
            smaller = _judge(search, {name: query.actual[name] for name in names}).smaller
            if smaller is None:
                return Fraction(1, least)
            # Not minimal: nothing that strictly contains the smaller cause is one either.
            for name in candidates:
                if name not in smaller:
                    encoding.forbid((*smaller, name))


def _judge(search: Search, event: Assignment) -> Verdict:
    """Judge an event, within what is left of the budget."""
    verdict: Verdict = is_cause(event=event, max_seconds=search.remaining, **search.query.arguments)
    if verdict.holds is None:
        raise OutOfBudget(verdict.status)
    return verdict


def _by_size(search: Search, event: Assignment) -> Fraction:
    answer = causes(max_seconds=search.remaining, **search.query.arguments)
    if answer.status is not Status.COMPLETE:
        raise OutOfBudget(answer.status)
    sizes = [len(cause.event) for cause in answer if event.items() <= dict(cause.event).items()]
    return Fraction(1, min(sizes)) if sizes else Fraction(0)


def _least(encoding: Encoding, assumptions: Sequence[int], start: int, literals: list[int]) -> int | None:
    """Count the fewest literals of the encoding's burden that a witness needs, from `start` on; None if none does."""
    from pysat.card import ITotalizer

    if not encoding.solve(assumptions):
        return None
    if not literals:
        return 0
    circuit = encoding.circuit
    reach = min(max(start, 4), len(literals))
    counter = ITotalizer(literals, ubound=reach, top_id=circuit.top)
    try:
        fed = 0
        for bound in range(start, len(literals)):
            if bound >= reach:
                reach = min(2 * bound, len(literals))
                counter.increase(ubound=reach, top_id=circuit.top)
            circuit.clauses.extend(counter.cnf.clauses[fed:])
            fed = len(counter.cnf.clauses)
            circuit.top = max(circuit.top, counter.top_id)
            if encoding.solve([*assumptions, -counter.rhs[bound]]):
                return bound
        return len(literals)
    finally:
        counter.delete()
