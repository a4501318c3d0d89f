"""Whether a contingency of original or updated Halpern-Pearl stands: AC2b for one witness, by one call of a solver."""

from collections.abc import Sequence
from contextlib import closing

from ..answer import Assignment, Witness
from ..definitions import Search
from .circuit import Circuit, Domain, Sat, World, constant
from .counterexamples import either


def survives(search: Search, event: Sequence[str], witness: Witness, *, taking_back: bool) -> bool:
    """Return whether the effect stays, with the event in place, whatever the opponent does to this contingency."""
    query, circuit = search.query, Circuit(search.check_time)
    model = query.model
    bearing, exogenous = model.ancestors(query.effect_variables), set(model.exogenous)
    world: World = {}
    for name in model.order:
        if name in bearing:
            search.check_time()
            world[name] = _oppose(circuit, search, name, world, event, witness.frozen, exogenous, taking_back)
    circuit.add([-circuit.formula(query.effect, world)])
    with closing(Sat(search, circuit)) as sat:
        return not sat.solve()


def _oppose(
    circuit: Circuit,
    search: Search,
    name: str,
    world: World,
    event: Sequence[str],
    frozen: Assignment,
    exogenous: set[str],
    taking_back: bool,
) -> Domain:
    model, actual = search.query.model, search.query.actual[name]
    if name in event:
        return constant(actual)
    if name in frozen and not taking_back:
        return constant(frozen[name])
    follows = circuit.equation(model, name, world) if name in model.equations else constant(actual)
    return follows if name in exogenous else either(circuit, follows, frozen.get(name, actual))
