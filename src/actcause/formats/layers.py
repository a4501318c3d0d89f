"""Where variables stand in a drawing: in layers, so that every arrow goes one way."""

from ..core.model import Model
from ..core.steps import split_step


def find_layers(model: Model) -> list[list[str]]:
    r"""Put every variable one layer after the last of its parents.

    >>> find_layers(Model.from_text("A\nB = A\nC = A and B\nD"))
    [['A', 'D'], ['B'], ['C']]
    """
    depth: dict[str, int] = {}
    for name in model.order:
        depth[name] = max((depth[parent] + 1 for parent in model.parents(name)), default=0)
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in model.variables:
        layers[depth[name]].append(name)
    return layers


def group_by_step(model: Model) -> dict[int | None, list[str]]:
    r"""Group the variables by their steps; those without one come first.

    >>> group_by_step(Model.from_text("k\nA@0\nB@0 = A@0\nA@1 = k"))
    {None: ['k'], 0: ['A@0', 'B@0'], 1: ['A@1']}
    """
    groups: dict[int | None, list[str]] = {}
    for name in model.variables:
        groups.setdefault(split_step(name)[1], []).append(name)
    return dict(sorted(groups.items(), key=lambda group: -1 if group[0] is None else group[0]))


def list_edges(model: Model) -> list[tuple[str, str]]:
    """List what reads what, as pairs of a parent and its child."""
    return [(parent, name) for name in model.variables for parent in model.parents(name)]


def describe_node(model: Model, name: str) -> list[str]:
    """Write what a node shows, line by line: its name and its label, then its equation."""
    label = model.labels.get(name)
    equation = model.equations.get(name)
    lines = [name if label is None else f"{name}: {label}"]
    if equation is not None and equation.expression is not None:
        text = str(equation.expression)
        lines.append(f"= {text}" if len(text) <= 60 else f"= {text[:57]}...")
    return lines
