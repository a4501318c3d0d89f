"""Asking a black box: all causes of an effect, or one event. `actcause.causes` and `is_cause` come here."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ...errors import QueryError
from ..answer import Status
from ..definitions import OutOfBudget, report_causes
from .answer import LIKELY, PROVED, BoxAnswer, BoxVerdict, Progress
from .box import BlackBox, describe
from .changes import Changes
from .contrasted import ContrastedSearch
from .functional import FunctionalSearch
from .inputs import read_settings
from .query import SETS, BoxQuery, make_box_query
from .search import ChangeSearch
from .trials import Trials

MAX_CALLS = 10_000
CONFIDENCE, LEAST_SHARE = 0.95, 0.01
BoxSearch = ChangeSearch | ContrastedSearch | FunctionalSearch


def box_causes(
    box: BlackBox,
    *,
    context: object,
    effect: object,
    definition: str = "modified-hp",
    alpha_sufficiency: Any = None,
    alpha_necessity: Any = None,
    contrast: object = None,
    max_causes: int | None = None,
    max_calls: int | None = MAX_CALLS,
    max_seconds: float | None = None,
    confidence: float = CONFIDENCE,
    least_share: float = LEAST_SHARE,
    seed: int = 0,
) -> BoxAnswer:
    """Find the minimal causes of an effect of a black box, lazily and within a budget of calls."""
    query = make_box_query(box, context, effect, definition, alpha_sufficiency, alpha_necessity, contrast)
    if max_causes is not None and max_causes < 1:
        raise QueryError("{parameter} must be at least 1; got {got}.", parameter="max_causes", got=max_causes)
    search = _make_search(query, max_calls, max_seconds, confidence, least_share, seed)
    return BoxAnswer(query, report_causes(search.causes, max_causes), search.trials.statistics, search.progress)


def _make_search(
    query: BoxQuery,
    max_calls: int | None,
    max_seconds: float | None,
    confidence: float,
    least_share: float,
    seed: int,
) -> BoxSearch:
    changes = Changes(query, confidence, least_share, seed)
    kind: type[BoxSearch] = ChangeSearch
    if query.definition == "functional":
        kind = FunctionalSearch
    elif query.definition not in SETS and query.contrast is not None:
        kind = ContrastedSearch
    return kind(query, Trials(query, max_calls, max_seconds), changes, Progress(confidence, least_share))


def judge_box(
    box: BlackBox,
    *,
    context: object,
    effect: object,
    event: object,
    definition: str = "modified-hp",
    alpha_sufficiency: Any = None,
    alpha_necessity: Any = None,
    contrast: object = None,
    max_calls: int | None = MAX_CALLS,
    max_seconds: float | None = None,
    confidence: float = CONFIDENCE,
    least_share: float = LEAST_SHARE,
    seed: int = 0,
) -> BoxVerdict:
    """Judge one event: was it a cause of an effect of a black box?"""
    query = make_box_query(box, context, effect, definition, alpha_sufficiency, alpha_necessity, contrast)
    given = read_settings("event", event, box.handles)
    if not given:
        wrong = "{parameter} must be a non-empty mapping such as {{'brake': 0}}."
        raise QueryError(wrong, parameter="event")
    search = _make_search(query, max_calls, max_seconds, confidence, least_share, seed)
    judge = _EventJudge(query, search, given)
    try:
        return judge.decide()
    except OutOfBudget as ended:
        return judge.verdict(None, LIKELY, status=ended.status)


class _EventJudge:
    """One event and a search that judges it."""

    def __init__(self, query: BoxQuery, search: BoxSearch, event: dict[str, Any]) -> None:
        self.query, self.search = query, search
        self.event = {name: event[name] for name in query.box.handles if name in event}

    def verdict(self, holds: bool | None, certainty: str, reason: str = "", **more: Any) -> BoxVerdict:
        error = 0.0 if certainty == PROVED or holds is None else self.search.progress.error
        statistics = self.search.trials.statistics
        return BoxVerdict(self.query, self.event, holds, certainty, reason, error=error, statistics=statistics, **more)

    def decide(self) -> BoxVerdict:
        query, event = self.query, self.event
        untrue = {name: query.actual[name] for name, value in event.items() if query.actual[name] != value}
        if untrue:
            return self.verdict(False, PROVED, f"actually {describe(untrue)} (AC1)")
        if not query.happened:
            return self.verdict(False, PROVED, f"{query.effect_text} did not happen (AC1)")
        if isinstance(self.search, FunctionalSearch):
            return self._decide_functional(self.search)
        if query.definition in SETS:
            assert isinstance(self.search, ChangeSearch)
            return self._decide_set(self.search)
        return self._decide_among_all(self.search)

    def _decide_set(self, search: ChangeSearch) -> BoxVerdict:
        names = tuple(self.event)
        for size in range(1, len(names) + 1):
            for cause in search.causes_among(combinations(names, size)):
                if len(cause.event) == len(names):
                    return self.verdict(True, cause.certainty, witness=cause.witness)
                return self.verdict(False, PROVED, f"{describe(cause.event)} is enough (AC3)")
        certainty = PROVED if search.changes.exact(names) else LIKELY
        tried = "" if certainty == PROVED else " that was tried"
        goal = "undone the effect" if self.query.contrast is None else f"brought about {self.query.contrast_text}"
        return self.verdict(False, certainty, f"no change of it{tried} would have {goal} (AC2a)")

    def _decide_among_all(self, search: ChangeSearch | ContrastedSearch) -> BoxVerdict:
        if len(self.event) > 1 and not self.query.has_joint_causes:
            reason = f"by '{self.query.definition}' the causes of a black box are single inputs"
            return self.verdict(False, PROVED, reason)
        for cause in search.causes():
            if dict(cause.event) == self.event:
                return self.verdict(True, cause.certainty, witness=cause.witness)
            if cause.event.items() < self.event.items():
                return self.verdict(False, cause.certainty, f"{describe(cause.event)} is enough (AC3)")
        certainty = PROVED if search.progress.proved_size >= len(search.changes.names) else LIKELY
        return self.verdict(False, certainty, "no change shows it (AC2)")

    def _decide_functional(self, search: FunctionalSearch) -> BoxVerdict:
        cause, certain = search.admit(tuple(self.event))
        if cause is None and search.progress.undecided:
            raise OutOfBudget(Status.OUT_OF_CALLS)
        if cause is None:
            reason = "it is not both necessary and sufficient in the shares asked for"
            return self.verdict(False, PROVED if certain else LIKELY, reason)
        for size in range(1, len(self.event)):
            for names in combinations(search.names, size):
                smaller, sure = search.admit(names)
                certain = certain and sure
                if smaller is not None:
                    reason = f"{', '.join(names)} is a smaller one (AC3)"
                    return self.verdict(False, smaller.certainty, reason)
        return self.verdict(True, PROVED if certain else LIKELY, witness=cause.witness)
