"""Boolean models as fault trees of the Open-PSA Model Exchange Format."""

import re
from fractions import Fraction
from html import escape

from ..core.arithmetic import OperatorChain
from ..core.expression import Expression, Name, Number
from ..core.logic import And, Compare, Not, Or
from ..core.model import Model
from ..errors import ModelError
from .boolean_form import boolean_form, check_boolean, read_count
from .imported import Prior
from .open_psa import EXOGENOUS

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def write_open_psa(model: Model, title: str = "", prior: Prior | None = None) -> str:
    """Write a Boolean model as one fault tree; a variable with an equation is a gate, a root a basic event."""
    check_boolean(model, "Open-PSA")
    for name in model.variables:
        if not IDENTIFIER.fullmatch(name):
            raise ModelError(f"Open-PSA has names of letters, digits, '-' and '_'; rename {name}.")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<opsa-mef>",
        f'  <define-fault-tree name="{_tree_name(title)}">',
    ]
    for name in model.variables:
        lines += _define(model, name, prior or {})
    return "\n".join([*lines, "  </define-fault-tree>", "</opsa-mef>", ""])


def _tree_name(title: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", title).strip("_") or "tree"


def _define(model: Model, name: str, prior: Prior) -> list[str]:
    kind = "gate" if name in model.equations else "basic-event"
    lines = [f'    <define-{kind} name="{name}">']
    if name in model.labels:
        lines.append(f"      <label>{escape(NOT_XML.sub(' ', model.labels[name]), quote=False)}</label>")
    if name in model.exogenous:
        lines.append(f'      <attributes><attribute name="{EXOGENOUS}" value="true"/></attributes>')
    if name in model.equations:
        expression = model.equations[name].expression
        lines += [f"      {line}" for line in _formula(model, boolean_or_count(model, name, expression))]
    elif name in prior:
        lines.append(f'      <float value="{_decimal(prior[name].get(1, Fraction(0)))}"/>')
    return [*lines, f"    </define-{kind}>"]


def boolean_or_count(model: Model, name: str, expression: Expression | None) -> Expression:
    """Return an equation in Boolean form, but for a count of at least so many, which the format has itself."""
    if isinstance(expression, Compare) and read_count(expression.left, expression.symbol, expression.right):
        return expression
    return boolean_form(model, name)


def _formula(model: Model, node: Expression) -> list[str]:
    match node:
        case Name(name):
            return [f'<{"gate" if name in model.equations else "basic-event"} name="{name}"/>']
        case Number(number):
            return [f'<constant value="{"true" if number else "false"}"/>']
        case Not(operand):
            return _wrap("not", [operand], model)
        case And(operands):
            return _wrap("and", operands, model)
        case Or(operands):
            return _wrap("or", operands, model)
        case Compare(OperatorChain() as left, symbol, right):
            counted = read_count(left, symbol, right)
            assert counted is not None  # boolean_or_count lets no other comparison through
            operands, least = counted
            if not 0 < least <= len(operands):
                return [f'<constant value="{"false" if least > 0 else "true"}"/>']
            return _wrap(f'atleast min="{least}"', operands, model)
        case _:
            raise AssertionError(f"unreachable: {node} is no Boolean form")


def _wrap(tag: str, operands: "list[Expression] | tuple[Expression, ...]", model: Model) -> list[str]:
    inside = [f"  {line}" for operand in operands for line in _formula(model, operand)]
    return [f"<{tag}>", *inside, f"</{tag.split(' ')[0]}>"]


def _decimal(share: Fraction) -> str:
    return repr(float(share))
