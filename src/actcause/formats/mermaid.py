"""Models as Mermaid flowcharts, which many sites draw from Markdown."""

from ..core.model import Model
from .layers import describe_node, group_by_step, list_edges

ESCAPES = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;", ";": "#59;", "`": "#96;"}


def write_mermaid(model: Model, title: str = "") -> str:
    """Draw roots as boxes, those that are never causes dashed, and what follows from an equation as rounded boxes.

    What has a step stands in a box for its step.
    """
    lines = [f"%% {' '.join(title.split())}"] if title else []
    lines.append("flowchart LR")
    number = {name: f"v{index}" for index, name in enumerate(model.variables)}
    for step, names in group_by_step(model).items():
        nodes = []
        for name in names:
            text = "<br/>".join(map(_escape, describe_node(model, name)))
            nodes.append(f'  {number[name]}("{text}")' if name in model.equations else f'  {number[name]}["{text}"]')
        lines += nodes if step is None else [f'  subgraph s{step}["step {step}"]', *(f"  {n}" for n in nodes), "  end"]
    lines += [f"  {number[parent]} --> {number[child]}" for parent, child in list_edges(model)]
    if model.exogenous:
        lines.append("  classDef exogenous stroke-dasharray: 4 3")
        lines.append(f"  class {','.join(number[name] for name in model.exogenous)} exogenous")
    return "\n".join([*lines, ""])


def _escape(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)
