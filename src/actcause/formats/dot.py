"""Models as graphs in DOT, the language of Graphviz."""

from ..core.model import Model
from .layers import describe_node, list_edges


def write_dot(model: Model, title: str = "") -> str:
    """Draw roots as boxes, those that are never causes dashed, and what follows from an equation as ellipses."""
    lines = [f"digraph {_quote(title or 'model')} {{", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for name in model.variables:
        shape = "ellipse" if name in model.equations else "box"
        style = ", style=dashed" if name in model.exogenous else ""
        text = _quote("\n".join(describe_node(model, name)))
        lines.append(f"  {_quote(name)} [shape={shape}{style}, label={text}];")
    lines += [f"  {_quote(parent)} -> {_quote(child)};" for parent, child in list_edges(model)]
    return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
