"""What is asked of a black box: a context, an effect over what comes out, a definition."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ActCauseError, ModelError, QueryError, blaming, quote, suggest
from ..definitions import DEFINITIONS
from ..expression import Expression
from ..query import as_share
from ..text import parse_formula, write_list
from .box import OUTPUT, BlackBox, check_number, describe
from .inputs import Settings, read_settings, write_json

# Definitions whose causes are sets of inputs; by the others they are single inputs, or measured in shares.
SETS = ("but-for", "modified-hp")
DECIMAL = re.compile(r"(?<![\w.])(?:\d+(?:\.\d*)?[eE][-+]?\d+|\d+\.\d+|\.\d+|\d+\.(?!\.))")


@dataclass(frozen=True)
class Condition:
    """A formula over the outputs, decimals included, or a Python function of what came out."""

    text: str
    formula: Expression | None = None
    decimals: Mapping[str, float] | None = None
    predicate: Callable[[Any], Any] | None = None

    def holds(self, outputs: Mapping[str, Any], settings: Settings) -> bool:
        """Decide the condition for what one run returned."""
        if self.predicate is not None:
            return self._ask_predicate(outputs, settings)
        assert self.formula is not None
        env: dict[str, Any] = dict(self.decimals or {})
        for name in self.formula.names():
            if name not in env:
                if name not in outputs:
                    wrong = "The function returned no {name!r} at {where}; it must return the same names every time."
                    raise QueryError(wrong, parameter="function", name=name, where=describe(settings))
                env[name] = check_number(name, outputs[name], settings)
        try:
            return bool(self.formula.value(env))
        except (ActCauseError, OverflowError) as error:
            wrong = "The formula {formula!r} cannot be evaluated at {where}: {error}."
            given = {"formula": self.text, "where": describe(settings), "error": str(error).rstrip(".")}
            raise QueryError(wrong, **given) from None

    def _ask_predicate(self, outputs: Mapping[str, Any], settings: Settings) -> bool:
        assert self.predicate is not None
        try:
            truth = self.predicate(outputs[OUTPUT] if tuple(outputs) == (OUTPUT,) else outputs)
        except Exception as error:
            wrong = "{parameter}, a Python function, failed on what came out at {where} ({kind}: {error})."
            given = {"where": describe(settings), "kind": type(error).__name__, "error": error}
            raise QueryError(wrong, parameter=self.text, **given) from error
        if isinstance(truth, np.ndarray) and truth.ndim == 0:
            truth = truth.item()
        if not isinstance(truth, (bool, np.bool_)) and not (isinstance(truth, int) and truth in (0, 1)):
            wrong = "{parameter}, a Python function, must return True or False; it returned {got} at {where}."
            raise QueryError(wrong, parameter=self.text, got=quote(truth), where=describe(settings))
        return bool(truth)


def read_condition(parameter: str, given: object, outputs: Mapping[str, Any]) -> Condition:
    """Read an effect or a contrast."""
    if isinstance(given, Condition):
        return given
    if isinstance(given, Expression):
        given = str(given)
    if callable(given):
        return Condition(parameter, predicate=given)
    if not isinstance(given, str):
        wrong = "{parameter} must be a formula such as 'crash == 1' or a Python function; got {got}."
        raise QueryError(wrong, parameter=parameter, got=quote(given))
    decimals: dict[str, float] = {}

    def name_decimal(match: re.Match[str]) -> str:
        name = f"decimal_{len(decimals)}"
        decimals[name] = float(match.group())
        return name

    text = DECIMAL.sub(name_decimal, given)
    with blaming(parameter):
        formula = parse_formula(text)
    for name in formula.names():
        if name not in decimals and name not in outputs:
            hint = suggest(name, list(outputs)) or f"; it returns {', '.join(map(str, outputs))}."
            wrong = "{parameter} names {name!r}, which the function does not return{hint}"
            raise QueryError(wrong, parameter=parameter, name=name, hint=hint)
    return Condition(" ".join(given.split()), formula, decimals)


@dataclass(frozen=True, eq=False)
class BoxQuery:
    """A question about a black box. Building it runs the function once, for what actually happened."""

    box: BlackBox
    context: Settings
    effect: Condition
    definition: str
    alpha_sufficiency: Fraction | None
    alpha_necessity: Fraction | None
    contrast: Condition | None
    outputs: Mapping[str, Any]

    @cached_property
    def happened(self) -> bool:
        """Whether the effect holds in the context."""
        return self.effect.holds(self.outputs, self.context)

    @cached_property
    def actual(self) -> dict[str, Any]:
        """The actual values of all that can be set."""
        inner = {name: _inner_value(self.box, name, self.outputs[name]) for name in self.box.inner}
        return {**self.context, **inner}

    @property
    def has_joint_causes(self) -> bool:
        """Whether several inputs can be a cause together; where others may change besides, with a contrast only."""
        return self.definition in (*SETS, "functional") or self.contrast is not None

    @property
    def effect_text(self) -> str:
        return "the effect" if self.effect.predicate is not None else f"({self.effect.text})"

    @property
    def question_text(self) -> str:
        return self.effect_text if self.contrast is None else f"{self.effect_text} rather than {self.contrast_text}"

    @property
    def contrast_text(self) -> str:
        assert self.contrast is not None
        return "the contrast" if self.contrast.predicate is not None else f"({self.contrast.text})"

    def to_json(self) -> dict[str, Any]:
        document = {"definition": self.definition, "context": write_json(self.context), "effect": self.effect.text}
        return document if self.contrast is None else {**document, "contrast": self.contrast.text}


def _inner_value(box: BlackBox, name: str, value: Any) -> Any:
    number = check_number(name, value, {})
    if number not in box.inner[name]:
        wrong = "The function returned {name}={value}, which is not in the range of that inner variable."
        raise QueryError(wrong, parameter="function", name=name, value=quote(number))
    return number


def make_box_query(
    box: BlackBox,
    context: object,
    effect: object,
    definition: str,
    alpha_sufficiency: Any = None,
    alpha_necessity: Any = None,
    contrast: object = None,
) -> BoxQuery:
    """Check the parts of a question to a black box, and run it for what actually happened."""
    settings = read_settings("context", context, box.inputs)
    missing = [name for name in box.inputs if name not in settings]
    if missing:
        wrong = "{parameter} must set every input; {missing} {are} missing."
        are = "is" if len(missing) == 1 else "are"
        raise QueryError(wrong, parameter="context", missing=write_list(missing), are=are)
    settings = {name: settings[name] for name in box.inputs}
    shares = as_share("alpha_sufficiency", alpha_sufficiency), as_share("alpha_necessity", alpha_necessity)
    _check_definition(box, definition, shares[0])
    outputs = box(settings)
    happens = read_condition("effect", effect, outputs)
    instead = None if contrast is None else read_condition("contrast", contrast, outputs)
    query = BoxQuery(box, settings, happens, definition, *shares, instead, outputs)
    if instead is not None and query.happened and instead.holds(outputs, settings):
        raise QueryError("{parameter} must rule the effect out; both hold in the context.", parameter="contrast")
    try:
        _ = query.actual
    except ModelError as error:
        raise QueryError(str(error), parameter="function") from None
    return query


def _check_definition(box: BlackBox, definition: str, sufficiency: Fraction | None) -> None:
    if definition not in DEFINITIONS:
        known = ", ".join(DEFINITIONS)
        hint = suggest(str(definition), list(DEFINITIONS)) or f"; choose one of {known}."
        raise QueryError("Unknown definition {name!r}{hint}", parameter="definition", name=definition, hint=hint)
    plain = " or ".join(f"'{name}'" for name in SETS)
    if definition not in SETS and box.inner:
        wrong = "With inner variables a black box is searched by {plain}; by {name!r} leave them out."
        raise QueryError(wrong, parameter="definition", plain=plain, name=definition)
    if definition == "functional" and (sufficiency is None or sufficiency >= Fraction(1, 2)):
        wrong = (
            "By 'functional' {parameter} must be given and below 1/2: from there on states compete, and a black box "
        )
        wrong += "is asked about one."
        raise QueryError(wrong, parameter="alpha_sufficiency")
