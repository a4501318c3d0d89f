"""Local causal graphs: which factor caused which, in every row, learned for all outcomes in one go.

    graphs = LocalGraphs(seed=0).fit(recording)    # labels in `recording` are never looked at
    graphs.predict(recording)                      # (rows, outcomes, factors): from the state alone
    graphs.explain(recording)                      # the same, knowing what became of every factor
    graphs.score(recording)                        # 1 - edge error; the only place that needs the truth

Outcomes of one class share weights, and classes of one shape are trained side by side (`outcome_views.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Recording, Transitions
from .errors import LearnError
from .evaluation import edge_error
from .learner import Array, Learner
from .local_graph_file import fingerprint_recording, read_graphs, write_graphs
from .outcome_views import (
    MOST_OUTPUTS,
    OutcomeClass,
    find_classes,
    find_shape,
    match_outputs,
    name_slots,
    order_factors,
    view_group,
    view_outcome,
)
from .registry import make
from .seeds import compare_seeds, with_seeds
from .training.replica import split_of
from .training.session import fit_many

if TYPE_CHECKING:
    from .graph_keeper import GraphKeeper
    from .training.loop import TrainingProgress

SIDE_BY_SIDE = ("jaci-em",)  # methods whose replicas may be of different outcomes


@dataclass(frozen=True)
class LearnedClass:
    """What was learned about the outcomes of one class."""

    group: OutcomeClass
    learner: Learner


class LocalGraphs:
    """Learns the causes of every outcome of a recording of whole states.

    `method` and `options` are those of a learner of one outcome; each has the `seed`. With a time budget
    (`max_seconds`) each training gets its share of it.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("3-chain", frames=1000, seed=1)
    >>> graphs = LocalGraphs(steps=50, distil_steps=20, width=16).fit(recording)
    >>> graphs.predict(recording).shape
    (1000, 3, 3)
    """

    def __init__(self, method: str = "jaci-em", *, seed: int = 0, **options: Any) -> None:
        self.method, self.seed, self.options = method, seed, dict(options)

    # -- the contract ------------------------------------------------------------------------------

    def fit(
        self,
        recording: Recording,
        *,
        seeds: int = 1,
        callback: Callable[[TrainingProgress], None] | None = None,
        keeper: GraphKeeper | None = None,
    ) -> LocalGraphs:
        """Learn from whole states; `callback` is told of progress.

        With several `seeds`, from the own one on, all are trained side by side, and of each class of outcomes the best
        is kept, chosen without labels (`learn/seeds.py`). A `keeper` keeps the course, so that a training can go on.
        """
        _check_recording(recording)
        self._make_learner().check_options()
        groups, still = find_classes(recording)
        if not groups:
            raise LearnError("No outcome of the recording ever changes: there is nothing to explain.")
        learned: dict[OutcomeClass, Learner] = {}
        trainings = self._plan(recording, groups)
        for number, together in enumerate(trainings):
            kept = None if keeper is None else keeper.load(number)
            learners = kept or self._train(recording, together, number, len(trainings), seeds, callback, keeper)
            learned |= dict(zip(together, learners, strict=True))
        order = {outcome: place for place, outcome in enumerate(recording.outcomes)}
        self.factors_, self.features_, self.outcomes_ = recording.factors, dict(recording.features), recording.outcomes
        self.still_ = still
        self.fingerprint_ = fingerprint_recording(recording)
        self.learned_ = [
            LearnedClass(group, learned[group]) for group in sorted(learned, key=lambda group: order[group.members[0]])
        ]
        self.notes_ = tuple(
            f"{one.group.title}: {_translate(note, name_slots(recording, one.group))}"
            for one in self.learned_
            for note in one.learner.notes_
        )
        return self

    def predict(self, recording: Recording) -> Array:
        """Name the causes of every outcome, judged from the state alone: (rows, outcomes, factors)."""
        return self._answer(recording, lambda learner: learner.predict, bool)

    def predict_proba(self, recording: Recording) -> Array:
        """Say how likely each factor is a cause of each outcome, from the state alone."""
        return self._answer(recording, lambda learner: learner.predict_proba, np.float32)

    def explain(self, recording: Recording) -> Array:
        """Answer as `predict` does, in hindsight: knowing what became of every factor."""
        return self._answer(recording, lambda learner: learner.explain, bool)

    def explain_proba(self, recording: Recording) -> Array:
        """Answer as `predict_proba` does, in hindsight."""
        return self._answer(recording, lambda learner: learner.explain_proba, np.float32)

    def score(self, recording: Recording) -> float:
        """Return 1 - the mean edge error of the outcomes; this needs true causes."""
        errors = measure_errors(recording, self.predict(recording))
        return 1.0 - sum(errors.values()) / len(errors)

    def find_held_out(self, recording: Recording) -> Array:
        """Return the rows of a recording that was trained on whose episodes were held out."""
        self._check(recording)
        learner = self.learned_[0].learner
        numbered = view_outcome(recording, self.learned_[0].group, self.learned_[0].group.members[0])
        held = split_of(numbered.replaced(extra={"row": np.arange(len(numbered))}), learner.held_out, learner.seed)[1]
        rows = recording.rows_of(self.learned_[0].group.members[0])
        chosen: Array = rows[held.extra["row"]]
        return chosen

    def find_threshold(self, outcome: str) -> float:
        """Return the probability from which on a factor is named."""
        found = [one.learner.threshold_ for one in self.learned_ if outcome in one.group.members]
        return found[0] if found else 0.5

    def settings(self) -> dict[str, Any]:
        """Return the options as JSON can hold them."""
        return {"method": self.method, "seed": self.seed, **self.options}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted graphs to one safetensors file with a JSON header."""
        self._check_fitted()
        write_graphs(path, self._describe(), [one.learner for one in self.learned_])

    @classmethod
    def load(cls, path: str | PathLike[str], *, device: str = "auto") -> LocalGraphs:
        """Load fitted graphs: the file that `save` wrote, or the folder of a run."""
        header, learners = read_graphs(path, device)
        settings = dict(header["settings"])
        graphs = cls(settings.pop("method"), **settings)
        names = header["recording"]
        graphs.factors_, graphs.outcomes_ = tuple(names["factors"]), tuple(names["outcomes"])
        graphs.features_ = {factor: tuple(features) for factor, features in names["features"].items()}
        graphs.still_, graphs.notes_ = tuple(header["still"]), tuple(header["notes"])
        groups = [
            OutcomeClass(tuple(one["members"]), tuple(one["changing"]), one["repeats"]) for one in header["groups"]
        ]
        graphs.learned_ = [LearnedClass(group, learner) for group, learner in zip(groups, learners, strict=True)]
        graphs.fingerprint_ = header["data"]
        return graphs

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"LocalGraphs({listed})"

    # -- helpers -----------------------------------------------------------------------------------

    def _describe(self) -> dict[str, Any]:
        """Say what the tensors do not."""
        return {
            "settings": self.settings(),
            "recording": {"factors": self.factors_, "features": self.features_, "outcomes": self.outcomes_},
            "groups": [vars(one.group) for one in self.learned_],
            "still": self.still_,
            "notes": self.notes_,
            "data": self.fingerprint_,
        }

    def _train(
        self,
        recording: Recording,
        together: list[OutcomeClass],
        number: int,
        trainings: int,
        seeds: int,
        callback: Callable[[TrainingProgress], None] | None,
        keeper: GraphKeeper | None,
    ) -> list[Learner]:
        """Train groups side by side, each with all seeds; return the best learner of each."""
        views = [view_group(recording, group) for group in together]
        rows = [with_seeds(self._make_learner(trainings), seeds) for _ in together]
        every = [learner for row in rows for learner in row]

        def report(moment: TrainingProgress) -> None:
            if keeper is not None:
                keeper.record(moment)
            if callback is not None:
                callback(moment)

        fit_many(
            every,
            [view for view in views for _ in range(seeds)],
            callback=report,
            restored=None if keeper is None else keeper.find_place(number),
            session=None if keeper is None else partial(keeper.begin, number),
        )
        chosen = list(map(_choose_seed, rows, views))
        if keeper is not None:
            keeper.end(chosen)
        return chosen

    def _make_learner(self, trainings: int = 1) -> Learner:
        options = dict(self.options)
        named = next((name for name in ("classes", "categorical") if options.get(name) is not None), None)
        if named is not None:
            raise LearnError(
                "{parameter} of local graphs are those of the recording: put them into its metadata.", parameter=named
            )
        limit = options.get("max_seconds")
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            options["max_seconds"] = limit / trainings
        return make(self.method, seed=self.seed, **options)

    def _plan(self, recording: Recording, groups: list[OutcomeClass]) -> list[list[OutcomeClass]]:
        """Put groups together that are trained side by side."""
        shapes = {group: find_shape(recording, group) for group in groups}
        alone = [[group] for group in groups if self.method not in SIDE_BY_SIDE or shapes[group] is None]
        others = [group for group in groups if [group] not in alone]
        plan = alone
        for _, alike in groupby(sorted(others, key=lambda group: repr(shapes[group])), key=lambda g: repr(shapes[g])):
            matched = match_outputs(list(alike))
            if len(matched[0].changing) * matched[0].repeats > MOST_OUTPUTS:
                plan += [[OutcomeClass(group.members, group.changing)] for group in matched]
            else:
                plan.append(matched)
        return plan

    def _answer(self, recording: Recording, verb: Callable[[Learner], Callable[..., Array]], dtype: Any) -> Array:
        self._check(recording)
        found = np.zeros((len(recording), len(self.outcomes_), len(self.factors_)), dtype=dtype)
        for one in self.learned_:
            for outcome in one.group.members:
                rows = recording.rows_of(outcome)
                if len(rows):
                    answers = verb(one.learner)(view_outcome(recording, one.group, outcome))
                    place, order = self.outcomes_.index(outcome), order_factors(recording, outcome)
                    found[rows[:, None], place, np.array(order)[None]] = answers
        for place, outcome in enumerate(self.outcomes_):
            found[recording.rows_of(outcome), place, self.factors_.index(outcome)] = 1
        return found

    def _check_fitted(self) -> None:
        if not hasattr(self, "learned_"):
            raise LearnError("These LocalGraphs have not been fitted; call fit(recording) first.")

    def _check(self, recording: Recording) -> None:
        self._check_fitted()
        _check_recording(recording)
        ours = (self.factors_, self.features_, self.outcomes_)
        if ours != (recording.factors, dict(recording.features), recording.outcomes):
            raise LearnError(
                f"The recording must have the factors, features and outcomes that were trained on "
                f"({', '.join(self.factors_)}; outcomes {', '.join(self.outcomes_)}). "
                f"Got {', '.join(recording.factors)}; outcomes {', '.join(recording.outcomes)}."
            )


def _choose_seed(learners: list[Learner], view: Transitions) -> Learner:
    """Return the best of several seeds, with what the others said."""
    if len(learners) == 1:
        return learners[0]
    compared = compare_seeds(learners, view)
    compared.best.learned_["seeds"] = compared.to_json()
    compared.best.notes_ = (*compared.best.notes_, *compared.notes)
    return compared.best


def measure_errors(recording: Recording, predicted: Any) -> dict[str, float]:
    """Measure the edge error of every outcome that has factors in question.

    >>> from actcause.data import collect_recording
    >>> recording = collect_recording("3-chain", frames=100)
    >>> measure_errors(recording, recording.cause)
    {'a1': 0.0, 'a2': 0.0, 'y': 0.0}
    """
    given = check_graphs(recording, predicted)
    scored = [outcome for outcome in recording.outcomes if recording.edges[outcome] and len(recording.rows_of(outcome))]
    return {
        outcome: edge_error(
            recording.view(outcome), given[recording.rows_of(outcome), recording.outcome_index(outcome)]
        )
        for outcome in scored
    }


def check_graphs(recording: Recording, given: Any) -> Array:
    """Return graphs as booleans; refuse others than (rows, outcomes, factors)."""
    graphs = np.asarray(given)
    shape = (len(recording), len(recording.outcomes), len(recording.factors))
    if graphs.shape != shape or graphs.dtype != np.bool_:
        raise LearnError(
            f"Graphs must be booleans of shape {shape}: (rows, outcomes, factors). "
            f"Got {graphs.dtype} of shape {graphs.shape} instead."
        )
    return graphs


def _check_recording(recording: object) -> None:
    if not isinstance(recording, Recording):
        raise LearnError(
            f"Local graphs are learned from a Recording of whole states. Got {type(recording).__name__} instead; "
            "collect one with data.collect_recording, or with --outcome all.",
            parameter="recording",
        )


def _translate(note: str, slots: Mapping[str, str]) -> str:
    """Put the names of factors for those of slots."""
    return re.sub(r"\bslot\d+\b|(?<=')own(?=')", lambda found: slots.get(found[0], found[0]), note)
