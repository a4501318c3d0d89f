"""Graphs of networkx with tables or formulas on their nodes, read and made.

A node is a variable and an edge says what its equation reads. The attributes of a node: `range`, its values (0 and 1
unless given); `table`, a value for every tuple of the parents' values; or `equation`, a formula of model text;
`parents`, the order of the table's tuples (that of the edges unless given); `label`; `exogenous`.
"""

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any

from ..core.equation import Equation
from ..core.expression import Expression
from ..core.model import Model
from ..core.parser import Declaration
from ..core.ranges import BINARY, check_range
from ..core.text import parse_formula
from ..errors import ModelError, import_extra, quote
from .declared_ranges import build_model
from .names import make_label, rename
from .tables import MAX_ROWS, express, tabulate

MAX_TABLE = 4_096  # rows that `to_networkx` writes out besides the formula


def from_networkx(graph: Any) -> Model:
    """Build a model from a directed graph of networkx.

    >>> import networkx as nx
    >>> graph = nx.DiGraph()
    >>> graph.add_nodes_from("ABC")
    >>> graph.add_edges_from([("A", "C"), ("B", "C")])
    >>> graph.nodes["C"]["table"] = {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 1}
    >>> print(from_networkx(graph))
    A
    B
    C = A or B
    """
    if not hasattr(graph, "predecessors") or not hasattr(graph, "nodes") or graph.is_multigraph():
        raise ModelError(f"Expected a directed graph of networkx without parallel edges; got {quote(graph)}.")
    names = rename(map(str, graph.nodes))
    if len(names) != len(graph.nodes):
        raise ModelError("Two nodes of the graph have the same name as text; rename one.")
    ranges = {node: _range(node, about) for node, about in graph.nodes(data=True)}
    lines = []
    for node, about in graph.nodes(data=True):
        shown = names[str(node)]
        expression = _expression(graph, node, about, ranges, names)
        label = about.get("label", str(node) if shown != str(node) else "")
        declared = None if "equation" in about and "range" not in about else ranges[node]
        exogenous = bool(about.get("exogenous", False))
        lines.append(Declaration(shown, declared, expression, exogenous, make_label(str(label))))
    return build_model(lines) if all(line.range is not None for line in lines) else Model.from_declarations(lines)


def _range(node: Hashable, about: Mapping[str, Any]) -> tuple[int, ...]:
    if "range" in about:
        return check_range(str(node), about["range"])
    table = about.get("table")
    if not isinstance(table, Mapping):
        return BINARY
    values = tuple(sorted({value for value in table.values() if isinstance(value, int)}))
    return values if not set(values) <= {0, 1} else BINARY


def _expression(
    graph: Any,
    node: Hashable,
    about: Mapping[str, Any],
    ranges: Mapping[Hashable, Sequence[int]],
    names: Mapping[str, str],
) -> Expression | None:
    above = list(graph.predecessors(node))
    if "equation" in about:
        return parse_formula(str(about["equation"]), {names[str(one)]: None for one in above})
    if "table" not in about:
        if above:
            raise ModelError(f"The node {node} has parents, so it needs a 'table' or an 'equation'.")
        return None
    parents = list(about.get("parents", above))
    if set(parents) != set(above) or len(parents) != len(above):
        raise ModelError(f"The 'parents' of the node {node} must be those of its edges, {quote(above)}.")
    table = about["table"]
    if not isinstance(table, Mapping):
        raise ModelError(f"The 'table' of the node {node} must map tuples of its parents' values to values.")
    rows = list(product(*(ranges[parent] for parent in parents)))
    if len(rows) > MAX_ROWS:
        raise ModelError(f"The table of the node {node} needs {len(rows):,} rows; at most {MAX_ROWS:,} are read.")
    values = []
    for row in rows:
        key: Any = row if row in table or len(row) != 1 else row[0]
        if key not in table:
            raise ModelError(f"The table of the node {node} has no value for {quote(row)} of {quote(parents)}.")
        if not isinstance(table[key], int):
            raise ModelError(f"The table of the node {node} must have integers; got {quote(table[key])}.")
        values.append(int(table[key]))
    return express([names[str(parent)] for parent in parents], [ranges[parent] for parent in parents], values)


def to_networkx(model: Model) -> Any:
    r"""Make a directed graph of networkx: `from_networkx` reads it back.

    >>> graph = to_networkx(Model.from_text("A\nB = not A"))
    >>> list(graph.edges), graph.nodes["B"]["table"]
    ([('A', 'B')], {(0,): 1, (1,): 0})
    """
    networkx = import_extra("networkx", "A graph of networkx", "graphs")
    graph = networkx.DiGraph()
    for name in model.variables:
        about: dict[str, Any] = {"range": model.ranges[name]}
        if name in model.labels:
            about["label"] = model.labels[name]
        if name in model.exogenous:
            about["exogenous"] = True
        if name in model.equations:
            about |= _describe_equation(model, name, model.equations[name])
        graph.add_node(name, **about)
    graph.add_edges_from((parent, name) for name in model.variables for parent in model.parents(name))
    return graph


def _describe_equation(model: Model, name: str, equation: Equation) -> dict[str, Any]:
    about: dict[str, Any] = {"parents": equation.parents}
    if equation.expression is not None:
        about["equation"] = str(equation.expression)
    rows = list(product(*(model.ranges[parent] for parent in equation.parents)))
    if equation.expression is None or len(rows) <= MAX_TABLE:
        about["table"] = dict(zip(rows, tabulate(model, name), strict=True))
    return about
