"""Models as graphs in DOT, the language of Graphviz."""

from ..core.model import Model
from .layers import describe_node, group_by_step, list_edges


def write_dot(model: Model, title: str = "") -> str:
    """Draw roots as boxes, those that are never causes dashed, and what follows from an equation as ellipses.

    What has a step stands in a box for its step.
    """
    lines = [f"digraph {_quote(title or 'model')} {{", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    exogenous = set(model.exogenous)
    for step, names in group_by_step(model).items():
        nodes = []
        for name in names:
            shape = "ellipse" if name in model.equations else "box"
            style = ", style=dashed" if name in exogenous else ""
            text = _quote("\n".join(describe_node(model, name)))
            nodes.append(f"  {_quote(name)} [shape={shape}{style}, label={text}];")
        if step is None:
            lines += nodes
        else:
            head = [f"  subgraph cluster_{step} {{", f'    label="step {step}";']
            lines += [*head, *(f"  {node}" for node in nodes), "  }"]
    lines += [f"  {_quote(parent)} -> {_quote(child)};" for parent, child in list_edges(model)]
    return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
