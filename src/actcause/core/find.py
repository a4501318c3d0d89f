"""The verbs: `causes`, `is_cause` and `partitions`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from ..errors import QueryError, TooLargeError, blaming, suggest
from .answer import Answer, Assignment, Query, Verdict
from .definitions import DEFINITIONS, Definition, Search, report_causes
from .expression import Expression
from .model import Model
from .normality import Normality
from .query import check_limit
from .solvers import ENCODINGS, Exhaustive, LongModelSolver, SatSolver, Solver, is_long
from .text import parse_event

if TYPE_CHECKING:
    from ..parallel import Engine
    from .black_boxes import BlackBox, BoxAnswer, BoxVerdict
    from .spaces.out_of_core import OutOfCorePartitions
    from .spaces.preimages import Partitions
    from .spaces.state_space import StateSpace

Share = float | Fraction | str | None
Rules = Normality | str | Iterable[Any] | None
SOLVERS = ("auto", "exhaustive")
FOR_BOXES = ("max_calls", "confidence", "least_share", "seed")


@overload
def causes(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    definition: str = "modified-hp",
    solver: str = "auto",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | None = None,
    normality: Rules = None,
    max_causes: int | None = None,
    max_seconds: float | None = None,
    max_steps: int | None = None,
) -> Answer: ...


@overload
def causes(
    model: BlackBox,
    *,
    context: Mapping[str, Any] | str,
    effect: str | Callable[[Any], Any],
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Callable[[Any], Any] | None = None,
    max_causes: int | None = None,
    max_calls: int | None = 10_000,
    max_seconds: float | None = None,
    confidence: float = 0.95,
    least_share: float = 0.01,
    seed: int = 0,
) -> BoxAnswer: ...


def causes(
    model: Model | BlackBox,
    *,
    context: Mapping[str, Any] | str,
    effect: str | Expression | Callable[[Any], Any],
    definition: str = "modified-hp",
    solver: str = "auto",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | Callable[[Any], Any] | None = None,
    normality: Rules = None,
    max_causes: int | None = None,
    max_seconds: float | None = None,
    max_steps: int | None = None,
    **for_boxes: Any,
) -> Answer | BoxAnswer:
    r"""Find all minimal causes of an effect, lazily.

    With `contrast`, a formula that rules the effect out, the causes are those of the effect *rather than* that: a
    witness must bring it about. With `normality`, a `Normality` or its rules, a witness's world must be at least as
    normal as the actual one; `Answer.ranked` ranks the causes by their best witnesses.

    Of a `BlackBox`, a function instead of a model, causes are searched for with at most `max_calls` runs of it. Where
    ranges are too large to be tried value by value, claims rest on samples: with an error of at most 1 - `confidence`
    nothing was missed that at least the share `least_share` of the values would show.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> answer = causes(model, context={"ST": 1, "BT": 1}, effect="BS == 1")
    >>> [dict(cause.event) for cause in answer.causes]
    [{'ST': 1}, {'SH': 1}]
    """
    question: dict[str, Any] = {"context": context, "effect": effect, "definition": definition, "contrast": contrast}
    question |= {"alpha_sufficiency": alpha_sufficiency, "alpha_necessity": alpha_necessity}
    for_models = {"solver": solver != "auto", "normality": normality is not None, "max_steps": max_steps is not None}
    if (box := _find_box(model, for_models, for_boxes)) is not None:
        from .black_boxes import box_causes

        return box_causes(box, **question, max_causes=max_causes, max_seconds=max_seconds, **for_boxes)
    query = make_query(model, **question, normality=normality)
    check_limit("max_causes", max_causes)
    search = Search(query, max_seconds=max_seconds, max_steps=max_steps)
    chosen = _solver(query, solver)
    return Answer(query, report_causes(lambda: chosen.causes(search), max_causes), search.statistics)


def _find_box(model: object, for_models: dict[str, bool], for_boxes: dict[str, Any]) -> BlackBox | None:
    """Return the model if it is a black box; refuse what was given and only the other kind takes."""
    unknown = next((name for name in for_boxes if name not in FOR_BOXES), None)
    if unknown is not None:
        raise TypeError(f"got an unexpected keyword argument {unknown!r}")
    if not isinstance(model, Model):
        from .black_boxes import BlackBox

        if isinstance(model, BlackBox):
            _refuse([name for name, given in for_models.items() if given], "a BlackBox", "a Model")
            return model
    _refuse([name for name in FOR_BOXES if name in for_boxes], "a model", "a BlackBox")
    return None


def _refuse(given: list[str], of: str, other: str) -> None:
    if given:
        wrong = "{parameter} cannot be asked of {of}, only of {other}."
        raise QueryError(wrong, parameter=given[0], of=of, other=other)


@overload
def is_cause(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    event: Assignment | str,
    definition: str = "modified-hp",
    solver: str = "auto",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | None = None,
    normality: Rules = None,
    max_seconds: float | None = None,
    max_steps: int | None = None,
) -> Verdict: ...


@overload
def is_cause(
    model: BlackBox,
    *,
    context: Mapping[str, Any] | str,
    effect: str | Callable[[Any], Any],
    event: Mapping[str, Any] | str,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Callable[[Any], Any] | None = None,
    max_calls: int | None = 10_000,
    max_seconds: float | None = None,
    confidence: float = 0.95,
    least_share: float = 0.01,
    seed: int = 0,
) -> BoxVerdict: ...


def is_cause(
    model: Model | BlackBox,
    *,
    context: Mapping[str, Any] | str,
    effect: str | Expression | Callable[[Any], Any],
    event: Mapping[str, Any] | str,
    definition: str = "modified-hp",
    solver: str = "auto",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: str | Expression | Callable[[Any], Any] | None = None,
    normality: Rules = None,
    max_seconds: float | None = None,
    max_steps: int | None = None,
    **for_boxes: Any,
) -> Verdict | BoxVerdict:
    r"""Judge one event: is it a cause of the effect? See `causes` for `contrast`, `normality` and black boxes.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> verdict = is_cause(model, context={"ST": 1, "BT": 1}, effect="BS == 1", event={"ST": 1})
    >>> print(verdict)
    ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.
    """
    question: dict[str, Any] = {"context": context, "effect": effect, "definition": definition, "contrast": contrast}
    question |= {"alpha_sufficiency": alpha_sufficiency, "alpha_necessity": alpha_necessity}
    for_models = {"solver": solver != "auto", "normality": normality is not None, "max_steps": max_steps is not None}
    if (box := _find_box(model, for_models, for_boxes)) is not None:
        from .black_boxes import judge_box

        return judge_box(box, event=event, **question, max_seconds=max_seconds, **for_boxes)
    query = make_query(model, **question, normality=normality)
    search = Search(query, max_seconds=max_seconds, max_steps=max_steps)
    return _solver(query, solver).judge(search, query.check_event(event))


class _SpaceOptions(TypedDict, total=False):
    """What `partitions` takes besides the states and who shares the work."""

    alpha_sufficiency: Share
    alpha_necessity: Share
    solver: str
    max_seconds: float | None


@overload
def partitions(model: StateSpace, **options: Unpack[_SpaceOptions]) -> Partitions: ...


@overload
def partitions(
    model: Model | StateSpace,
    outcome: str | Expression | None = ...,
    *,
    where: str | Expression | None = ...,
    workers: Engine | None = ...,
    on_progress: Callable[[str], None] | None = ...,
    **options: Unpack[_SpaceOptions],
) -> Partitions | OutOfCorePartitions: ...


def partitions(
    model: Model | StateSpace,
    outcome: str | Expression | None = None,
    *,
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    where: str | Expression | None = None,
    solver: str = "auto",
    max_seconds: float | None = None,
    workers: Engine | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Partitions | OutOfCorePartitions:
    r"""Partition a whole state space: which variables does the outcome depend on, in which states?

    Returns all binary-subset pairs of least cost. `model` is a model, whose contexts are the states
    (`where` narrows them), or a `StateSpace` of your own making.

    With `alpha_sufficiency` under 1/2 the states of a model that does not fit in memory are solved in parts, and
    `OutOfCorePartitions` come back. `workers`, an engine of `actcause.parallel`, share the parts, and make it worth
    while to solve large models that would fit in parts too; `on_progress` is called with what is being done.

    >>> answer = partitions(Model.from_text("A\nB\nC = A and B"), outcome="C", alpha_sufficiency=1)
    >>> answer.cost, answer.count
    (5, 2)
    """
    from .spaces.preimages import partition
    from .spaces.state_space import StateSpace

    shares: dict[str, Share] = {"alpha_sufficiency": alpha_sufficiency, "alpha_necessity": alpha_necessity}
    if isinstance(model, StateSpace):
        if outcome is not None or where is not None:
            raise QueryError("A StateSpace has its outcome already; leave out 'outcome' and 'where'.")
        return partition(model, **shares, solver=solver, max_seconds=max_seconds)
    if outcome is None:
        raise QueryError("Say which variable is the outcome, for instance {outcome:BS}.", parameter="outcome")
    from .spaces import out_of_core

    divisible = solver == "auto" and out_of_core.divisible(alpha_sufficiency)
    if not (divisible and workers is not None and out_of_core.large(model)):
        try:
            space = StateSpace.from_model(model, outcome, where=where)
            return partition(space, **shares, solver=solver, max_seconds=max_seconds)
        except TooLargeError as error:
            if solver != "auto":
                raise
            if not divisible:
                remedy = "{error} With {parameter} under 1/2 it would be solved in parts."
                raise TooLargeError(remedy, parameter="alpha_sufficiency", error=error) from None
    return out_of_core.partitions(
        model, outcome, **shares, where=where, max_seconds=max_seconds, workers=workers, on_progress=on_progress
    )


def get_definition(name: str) -> Definition:
    """Look a definition up, with the nearest name suggested if there is none."""
    if not isinstance(name, str) or name not in DEFINITIONS:
        known = ", ".join(DEFINITIONS)
        hint = suggest(str(name), list(DEFINITIONS)) or f"; choose one of {known}."
        raise QueryError("Unknown definition {name!r}{hint}", parameter="definition", name=name, hint=hint)
    return DEFINITIONS[name]


def make_query(
    model: Any,
    context: Assignment | str,
    effect: Any,
    definition: str,
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    contrast: Any = None,
    normality: Rules = None,
) -> Query:
    """Check the parts of a question and put them together; `Query` refuses what is no model."""
    name = get_definition(definition).name
    if isinstance(context, str):
        with blaming("context"):
            context = parse_event(context, model.ranges)
    shares = (alpha_sufficiency, alpha_necessity)
    return Query(model, context, effect, name, *shares, contrast, normality)  # type: ignore[arg-type]


def _solver(query: Query, solver: str) -> Solver:
    if solver not in SOLVERS:
        wrong = "{parameter} must be one of {known}; got {got!r}."
        raise QueryError(wrong, parameter="solver", known=", ".join(SOLVERS), got=solver)
    if query.definition == "functional":
        from .spaces.functional import FunctionalSolver

        return FunctionalSolver(query, oracle=solver == "exhaustive")
    definition, encoding = DEFINITIONS[query.definition], ENCODINGS.get(query.definition)
    if solver == "exhaustive" or encoding is None:
        return Exhaustive(definition)
    by_clauses = SatSolver(encoding, fallback=lambda: Exhaustive(definition))
    quicker = encoding.actual_values_suffice and is_long(query)
    return LongModelSolver(encoding, by_clauses) if quicker else by_clauses
