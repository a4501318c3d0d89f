"""But-for and modified Halpern-Pearl by SAT.

In a counterfactual world each variable outside the event follows its equation or, for modified HP,
stays at its actual value. For a variable whose actual value is `a` that is one clause for each other
value `v`: *if it is `v`, then its equation says so, or it belongs to the event*. For but-for, a
variable of the event must have another value than its own. The effect must fail.
So AC2 for a given event is one call of a SAT solver, and AC3 is another: the same formula, with at
least one variable of the event given up. After

    Ibrahim, Rehwald and Pretschner, "Efficiently Checking Actual Causality with SAT Solving",
    Engineering Secure and Dependable Software Systems, 2019,

with finite ranges, constants folded, and all minimal causes enumerated (see `minimal_causes.py`).
"""

from collections.abc import Sequence

from ..answer import Witness
from .circuit import FALSE, World, constant
from .minimal_causes import Encoding

# Past this many held variables, witnesses are given as found: shortening costs an evaluation for each.
SHORTEN_UP_TO = 64


class _Counterfactual(Encoding):
    """A world in which the event is changed and the rest follows."""

    freezing: bool
    changes_alone = True

    def encode(self) -> None:
        query, circuit = self.query, self.circuit
        model, actual = query.model, query.actual
        wanted = query.bearing
        world: World = {}
        self.world = world
        self.followed: World = {}  # what the equation says, of variables that need not follow it
        for name in model.order:
            if name not in wanted:
                continue
            self.search.check_time()
            chosen = self.chosen.get(name, FALSE)
            follows = circuit.equation(model, name, world) if name in model.equations else constant(actual[name])
            if chosen == FALSE and (not self.freezing or list(follows) == [actual[name]]):
                world[name] = follows
            else:
                self.followed[name] = follows
                values = model.ranges[name] if chosen != FALSE else sorted({actual[name], *follows})
                world[name] = circuit.free(values)
                stays = actual[name] if self.freezing else None
                circuit.same_if(-chosen, world[name], follows, except_for=stays)
        if not self.freezing:
            for name, chosen in self.chosen.items():
                unread = constant(actual[name]) if len(model.ranges[name]) == 1 else {}  # bears on nothing
                circuit.add([-chosen, -world.get(name, unread).get(actual[name], FALSE)])
        self.require_undone(world)

    def solve(self, assumptions: Sequence[int], *, sufficiency: bool = True) -> bool:
        return self.sat.solve(assumptions)

    def weights(self) -> list[int]:
        """Return the variables of the event, and those that are held."""
        literals = list(self.chosen.values())
        for name, follows in self.followed.items():
            if self.freezing:
                held = self.circuit.new()
                literals.append(held)
                spared = self.circuit.disjunction([self.chosen.get(name, FALSE), held])
                self.circuit.same_if(-spared, self.world[name], follows)
        return literals

    def read(self, names: Sequence[str]) -> Witness:
        query = self.query
        actual = query.actual
        values = dict(actual)
        values.update({name: self.sat.value(domain) for name, domain in self.world.items()})
        changed = {name: values[name] for name in names}
        if not self.freezing:
            changed |= {name: self._another(name) for name in names if name not in self.world}
        frozen: dict[str, int] = {}
        if self.freezing:
            model = query.model
            for name, domain in self.world.items():
                # A variable that does not follow its equation is one that was held.
                if len(domain) == 1 or name in changed or name not in model.equations:
                    continue
                if model.equation_value(name, values) != values[name]:
                    frozen[name] = actual[name]
        return Witness(changed, self._shorten(changed, frozen))

    def _another(self, name: str) -> int:
        """Return a value that the variable did not have."""
        return next(value for value in self.query.model.ranges[name] if value != self.query.actual[name])

    def _shorten(self, changed: dict[str, int], frozen: dict[str, int]) -> dict[str, int]:
        """Let go of every held variable that the witness does not need."""
        if len(frozen) > SHORTEN_UP_TO:
            return frozen
        broken = None if self.normality is None else self.normality.broken(self.sat)
        for name in list(frozen):
            without = {other: value for other, value in frozen.items() if other != name}
            if self.search.undoes({**without, **changed}, than=broken):
                frozen = without
        return frozen


class ButForEncoding(_Counterfactual):
    """Everything outside the event follows its equation."""

    freezing = False


class ModifiedHPEncoding(_Counterfactual):
    """Everything outside the event follows its equation or stays as it was."""

    freezing = True
