"""Models as pictures in LaTeX, drawn with TikZ."""

from ..core.model import Model
from .layers import find_layers, list_edges

ESCAPES = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
}
APART, BETWEEN = 3.0, 1.4  # centimetres from layer to layer, and in a layer


def write_tikz(model: Model, title: str = "") -> str:
    r"""Write a tikzpicture, layer by layer from left to right; it needs \usepackage{tikz}."""
    lines = [f"% {' '.join(title.split()) or 'A structural causal model'}; needs \\usepackage{{tikz}}"]
    lines += [
        r"\begin{tikzpicture}[",
        r"  ->, >=stealth, root/.style={draw, rectangle}, exogenous/.style={draw, rectangle, dashed},",
        r"  variable/.style={draw, rounded corners}]",
    ]
    number = {name: f"v{index}" for index, name in enumerate(model.variables)}
    for layer, names in enumerate(find_layers(model)):
        for place, name in enumerate(names):
            style = "variable" if name in model.equations else "exogenous" if name in model.exogenous else "root"
            across, down = layer * APART, BETWEEN * ((len(names) - 1) / 2 - place)
            lines.append(rf"  \node[{style}] ({number[name]}) at ({across:g}, {down:g}) {{{_escape(name)}}};")
    lines += [rf"  \draw ({number[parent]}) -- ({number[child]});" for parent, child in list_edges(model)]
    return "\n".join([*lines, r"\end{tikzpicture}", ""])


def _escape(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)
