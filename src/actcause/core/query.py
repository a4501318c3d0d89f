"""The question: a model, a context, an effect and a definition, checked and put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..errors import QueryError, blaming, quote
from .contrast import can_hold, check_contrast
from .expression import Expression, Name, Number
from .logic import Compare, Not
from .model import Model
from .normality import Broken, Normality, as_normality
from .steps import hint_name
from .text import parse_event, parse_formula, write_assignments, write_value

Assignment = Mapping[str, int]


def as_share(parameter: str, value: float | Fraction | str | None, what: str = "{parameter}") -> Fraction | None:
    """Read a share between 0 and 1 as an exact fraction: 0.2 means 1/5, and 2/3 means 2/3.

    >>> as_share("alpha_sufficiency", 2 / 3)
    Fraction(2, 3)
    """
    if value is None:
        return None
    try:
        if isinstance(value, str) and "/" not in value:
            value = float(value)  # not straight to Fraction, which would write out 1e-999999999
        if isinstance(value, str) and len(value) > 40:
            raise ValueError
        share = Fraction(value).limit_denominator(10**9)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        wrong = f"{what} must be a number between 0 and 1; got {{got!r}}."
        raise QueryError(wrong, parameter=parameter, got=value) from None
    if not 0 <= share <= 1:
        raise QueryError(f"{what} must be between 0 and 1; got {{got}}.", parameter=parameter, got=value)
    return share


def check_limit(parameter: str, most: int | None) -> None:
    """Refuse to look for fewer than one; None is no limit."""
    if most is not None and (not isinstance(most, int) or most < 1):
        raise QueryError("{parameter} must be at least 1; got {got}.", parameter=parameter, got=quote(most))


@dataclass(frozen=True)
class Query:
    r"""What is asked: in this model and context, what caused this effect, by this definition?

    The effect is a formula, as text or as an expression. With a `contrast`, a formula that rules the effect out, a
    witness must bring it about; with `normality`, its world must be at least as normal as the actual one.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> query = Query(model, {"ST": 1, "BT": 1}, "BS == 1")
    >>> query.actual["BH"], query.happened, query.candidates
    (0, True, ('ST', 'BT', 'SH', 'BH'))
    """

    model: Model
    context: Assignment
    effect: Expression
    definition: str = "modified-hp"
    alpha_sufficiency: Fraction | None = None
    alpha_necessity: Fraction | None = None
    contrast: Expression | None = None
    normality: Normality | None = None

    def __post_init__(self) -> None:
        fix = object.__setattr__
        if not isinstance(self.model, Model):
            wrong = "The model must be a Model; got {kind}. Use Model.from_text."
            raise QueryError(wrong, parameter="model", kind=type(self.model).__name__)
        fix(self, "context", self.model.check_context(self.context))
        fix(self, "effect", self._read_formula("effect", self.effect))
        self.model.check_equations()
        fix(self, "alpha_sufficiency", as_share("alpha_sufficiency", self.alpha_sufficiency))
        fix(self, "alpha_necessity", as_share("alpha_necessity", self.alpha_necessity))
        if self.contrast is not None:
            fix(self, "contrast", self._read_formula("contrast", self.contrast))
            check_contrast(self.model, self.effect, self.contrast)
        if self.normality is not None:
            fix(self, "normality", as_normality(self.normality).spread(self.model.ranges))
            self._check_rules(self.normality)

    def _check_rules(self, normality: Normality) -> None:
        with blaming("normality"):
            for rule in normality.rules:
                for name in rule.facts.names:
                    self.model.check_known(name)
                if rule.facts.arithmetic:
                    self.model.check_formula(rule.formula)
        for place in sorted(self.actually_broken):  # what holds actually can hold
            rule = normality.rules[place]
            if not can_hold(self.model, rule.formula, rule.facts.names):
                wrong = "The rule '{rule}' of {parameter} can never hold; say what normally does."
                raise QueryError(wrong, parameter="normality", rule=rule.formula)

    def _read_formula(self, parameter: str, given: object) -> Expression:
        if isinstance(given, str):
            with blaming(parameter):
                given = parse_formula(given, self.model.ranges)
        if not isinstance(given, Expression):
            wrong = f"The {parameter} must be a formula such as 'BS == 1'; got {{got!r}}."
            raise QueryError(wrong, parameter=parameter, got=given)
        self.model.check_formula(given)
        return given

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the question as keyword arguments of `causes` and the other verbs."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def actual(self) -> dict[str, int]:
        """The value of every variable in the context."""
        return self.model.solve(self.context, {})

    @cached_property
    def happened(self) -> bool:
        """Whether the effect holds in the context."""
        return bool(self.effect.value(self.actual))

    @cached_property
    def effect_variables(self) -> tuple[str, ...]:
        """The variables that the effect formula names."""
        return self.effect.names()

    @cached_property
    def contrasted_variables(self) -> tuple[str, ...]:
        """The variables that the effect formula or the contrast names."""
        contrast = () if self.contrast is None else self.contrast.names()
        return tuple(dict.fromkeys((*self.effect_variables, *contrast)))

    @cached_property
    def watched_variables(self) -> tuple[str, ...]:
        """The variables that decide whether a witness counts: of effect, contrast and rules of normality."""
        rules = () if self.normality is None else self.normality.rules
        named = (name for rule in rules for name in rule.facts.names)
        return tuple(dict.fromkeys((*self.contrasted_variables, *named)))

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """Every variable that can influence what is watched, and those watched; never exogenous ones."""
        return tuple(name for name in self.model.endogenous if name in self.bearing)

    @cached_property
    def bearing(self) -> frozenset[str]:
        """What is watched, and every variable that it follows from."""
        return frozenset(self.model.ancestors(self.watched_variables))

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """What `causes` considers: whatever is relevant, except the variables of the effect and the contrast."""
        own = set(self.contrasted_variables)
        return tuple(name for name in self.relevant if name not in own)

    @cached_property
    def actually_broken(self) -> Broken:
        """The rules of normality that the actual world breaks."""
        return frozenset() if self.normality is None else self.normality.find_broken(self.actual)

    def undone(self, values: Assignment, than: Broken | None = None) -> bool:
        """Return whether a world would do for a witness: the effect is gone there.

        With a contrast, the contrast also has to hold there. With normality, the world also has to be at least as
        normal as one that breaks the rules `than`, by default the actual one.
        """
        if self.effect.value(values) or (self.contrast is not None and not self.contrast.value(values)):
            return False
        if self.normality is None:
            return True
        return self.normality.at_least(
            self.normality.find_broken(values), self.actually_broken if than is None else than
        )

    @cached_property
    def state(self) -> dict[str, int]:
        """The actual values of all variables that are not exogenous."""
        return {name: self.actual[name] for name in self.model.endogenous}

    def check_event(self, event: Assignment | str) -> dict[str, int]:
        """Read an event as a non-empty mapping of non-exogenous variables to values of their ranges."""
        if isinstance(event, str):
            with blaming("event"):
                event = parse_event(event, self.model.ranges)
        if not isinstance(event, Mapping) or not event:
            wrong = "The event must be a non-empty mapping such as {{'ST': 1}}; got {got!r}."
            raise QueryError(wrong, parameter="event", got=event)
        for name in event:
            if name not in self.model.ranges:
                wrong, hint = "Unknown variable {name!r} in the event{hint}", hint_name(str(name), self.model.ranges)
                raise QueryError(wrong, parameter="event", name=name, hint=hint or ".")
            if name in self.model.exogenous:
                wrong = "{name} is exogenous: it belongs to the context and is never a cause."
                raise QueryError(wrong, parameter="event", name=name)
        return {name: self.model.check_value(name, value) for name, value in event.items()}

    def to_json(self) -> dict[str, Any]:
        """Write what every answer says of its question."""
        parts = {"definition": self.definition, "context": dict(self.context), "state": dict(self.state)}
        parts |= {"effect": str(self.effect)}
        if self.contrast is not None:
            parts["contrast"] = str(self.contrast)
        if self.normality is not None:
            parts["normality"] = {
                **self.normality.to_json(),
                "broken": list(self.normality.write(self.actually_broken)),
            }
        return parts

    @property
    def effect_text(self) -> str:
        """The effect as a reader would say it: `BS=1` where it is one value of one variable."""
        return self._write_formula(self.effect)

    @property
    def question_text(self) -> str:
        """The effect, and what it is contrasted with: `Y=1 rather than Y=2`."""
        return self.effect_text + (
            "" if self.contrast is None else f" rather than {self._write_formula(self.contrast)}"
        )

    @property
    def goal_text(self) -> str:
        """What a witness has to do."""
        goal = "undone the effect" if self.contrast is None else f"brought about {self._write_formula(self.contrast)}"
        return goal if self.normality is None else f"{goal} in a world at least as normal as the actual one"

    @property
    def absence_text(self) -> str:
        """That the effect did not happen, and what its variables were instead."""
        few = self.effect_variables[:4]
        actually = f": actually {write_assignments({name: self.actual[name] for name in few})}" if few else ""
        return f"It did not happen{actually}."

    def _write_formula(self, formula: Expression) -> str:
        pinned = find_pinned_value(formula, self.model)
        return write_value(*pinned) if pinned else f"({formula})"


def find_pinned_value(effect: Expression, model: Model) -> tuple[str, int] | None:
    """Return (variable, value) if the effect says that one variable has one value, else None."""
    binary = (0, 1)
    if isinstance(effect, Name):
        return (effect.name, 1) if model.ranges[effect.name] == binary else None
    if isinstance(effect, Not) and isinstance(effect.operand, Name):
        return effect.operand.name, 0
    if isinstance(effect, Compare) and effect.symbol == "==":
        sides = (effect.left, effect.right)
        for name, number in (sides, sides[::-1]):
            if isinstance(name, Name) and isinstance(number, Number):
                return name.name, number.number
    return None
