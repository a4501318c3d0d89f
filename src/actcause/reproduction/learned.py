"""What experiments about learning share: recordings made once, training of many seeds at once, scores.

torch is imported where something is trained and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from ..data.collect import collect
from ..data.domains import make_domain
from ..data.transitions import Transitions
from ..envs import RESAMPLED
from ..errors import QueryError
from ..worlds import WORLDS
from .kept_recordings import recall
from .machine import read_peak_memory

if TYPE_CHECKING:
    from ..learn.evaluation import Evaluation
    from ..learn.learner import Learner
    from ..learn.training.replica import Replica
    from ..learn.training.session import Callback, Session
    from .supervised import SupervisedNetwork

VECTORS = ("1-in", "2-in", "3-in", "3-chain", "3-m-in", "d-20", "tau-1")
DOMAINS = (*VECTORS, *RESAMPLED)
TEST_SEED = 1_000_000  # added to the seed for the rollouts that are scored
KEPT = 16  # recordings kept: all seeds of a domain, so that every method learns from the same
LEARNED = ("learned_by", "kept", "disagreement", "unexplained", "half_explained", "held_error", "events")
METHODS = ("jaci-em", "jaci", "grad", "attn", "cf", "cmi", "ncd", "granger", "proximity", "never", "always")
NOT_RUN = ("jaci-auto", "jaci-exchange", "ncii")  # not in the accuracy table; (auto) has those of `jaci-em` there
EVERY = ("jaci-auto", "jaci-em", "jaci-exchange", *METHODS[1:-2], "ncii", "never", "always")


def paper_frames(domain: str) -> int:
    """Return how many frames the paper records."""
    return 500_000 if domain in RESAMPLED else 100_000


@lru_cache(maxsize=KEPT)
def record_domain(
    domain: str,
    seed: int,
    frames: int,
    *,
    relations: str | None = None,
    noise: float | None = None,
    tests: int | None = None,
) -> tuple[Transitions, Transitions]:
    """Record what a seed learns from, and a fifth as much (or `tests`), recorded apart, to be scored on.

    Each seed of a Random Vectors domain has a draw of its own; `relations` and `noise` replace the domain's. Worlds,
    which need their simulators, may have been recorded before (`kept_recordings.py`).
    """
    tests = tests or frames // 5
    if domain in WORLDS:
        both = ((seed, frames), (TEST_SEED + seed, tests))
        train, test = (recall(f"{domain}-{at}-{rows}", partial(collect, domain, rows, seed=at)) for at, rows in both)
        return train, test
    given = {"draw": seed if domain in VECTORS else None, "relations": relations, "noise": noise}
    world = make_domain(domain, **{name: value for name, value in given.items() if value is not None})
    return collect(world, frames, seed=seed), collect(world, tests, seed=TEST_SEED + seed)


def select_known_options(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options that the method has."""
    from ..learn import METHODS

    names = {field.name for field in fields(METHODS[method])}
    return {name: value for name, value in options.items() if name in names}


def fit_seeds(
    method: str,
    seeds: Sequence[int],
    data: Sequence[Transitions],
    device: str,
    options: Mapping[str, Any],
    callback: Callback | None = None,
    session: Callable[[Session], None] | None = None,
) -> tuple[list[Learner], float]:
    """Train learners of all seeds as one computation; return them and the seconds that it took.

    As `actcause.learn.fit_many`, but recordings are split and encoded once for all methods: with ten seeds of half a
    million rows and eleven methods that would take longer than the training.
    """
    import torch

    from ..learn import make as learner
    from ..learn.training.networks import find_device
    from ..learn.training.session import Session

    learners = [learner(method, seed=seed, device=device, **select_known_options(method, options)) for seed in seeds]
    for one in learners:
        one.check_options()
        if one.classes is not None or one.categorical is not None:
            raise QueryError("Experiments take classes and categorical features from the domain; leave them out.")
    runs = [
        replace(_prepare(_RecordingKey(each), one.seed, one.held_out), learner=one)
        for one, each in zip(learners, data, strict=True)
    ]  # fmt: skip
    course = Session(find_device(device), seeds[0], callback)
    if session is not None:
        session(course)
    began = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        learners[0].learn(runs, course)
    return learners, time.perf_counter() - began


class _RecordingKey:
    """A recording as the key of a cache: the very object, not one with equal rows."""

    def __init__(self, data: Transitions) -> None:
        self.data = data

    def __hash__(self) -> int:
        return id(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RecordingKey) and other.data is self.data


@lru_cache(maxsize=KEPT)
def _prepare(recording: _RecordingKey, seed: int, held_out: float) -> Replica:
    """Split and encode the recording; its learner stands for those of all methods."""
    from ..learn import Never
    from ..learn.training.replica import prepare_replica

    return prepare_replica(Never(seed=seed, held_out=held_out), recording.data)


def score(learner: Learner, test: Transitions, domain: str, *, hindsight: bool = True) -> Evaluation:
    """Score the learner's answers on transitions that it has not seen."""
    from ..learn.evaluation import evaluate

    return evaluate(learner, test, resample=domain in RESAMPLED, hindsight=hindsight)


def fit_and_measure(
    method: str,
    seeds: Sequence[int],
    recorded: Sequence[tuple[Transitions, Transitions]],
    device: str,
    options: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Train learners of all seeds as one computation; measure each, with the time and memory that they took.

    Time is also given as a processor worked at it, since other work may share the machine.
    """
    began = time.process_time()
    learners, seconds = fit_seeds(method, seeds, [train for train, _ in recorded], device, options)
    cost = {
        "training_seconds": round(seconds, 2),
        "processor_seconds": round(time.process_time() - began, 2),
        "trained_together": len(seeds),
        "peak_memory": read_peak_memory(),
    }
    return [{**measure(learner, test), **cost} for learner, (_, test) in zip(learners, recorded, strict=True)]


def train_on_causes_and_measure(
    seeds: Sequence[int], recorded: Sequence[tuple[Transitions, Transitions]], device: str, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Train a network on the true causes for each seed, and measure it as learners are measured."""
    from .supervised import STEPS, train_on_causes

    found = []
    for seed, (train, test) in zip(seeds, recorded, strict=True):
        began, worked = time.perf_counter(), time.process_time()
        network = train_on_causes(train, seed, device, options.get("steps", STEPS))
        cost = {
            "training_seconds": round(time.perf_counter() - began, 2),
            "processor_seconds": round(time.process_time() - worked, 2),
            "trained_together": 1,
            "peak_memory": read_peak_memory(),
        }
        found.append({**measure(network, test), **cost})
    return found


def measure(learner: Learner | SupervisedNetwork, test: Transitions) -> dict[str, Any]:
    """Measure what is predicted and what is explained in hindsight, over all rows and factor by factor, in percent."""
    from ..learn.evaluation import evaluate

    predicted, explained = learner.predict(test), learner.explain(test)
    found = evaluate(predicted, test)
    return {
        **_measure_answers(test, predicted, ""),
        **_measure_answers(test, explained, "explain_"),
        "factors": {
            name: {"recall": percent(one.recall), "precision": percent(one.precision), "rate": percent(one.rate)}
            for name, one in found.per_factor.items()
        },
        "named": _count_named(test, predicted),
        "explain_named": _count_named(test, explained),
        "states": found.states,
        "learned": {name: learner.learned_[name] for name in LEARNED if name in learner.learned_},
        "notes": list(learner.notes_),
    }


def _measure_answers(test: Transitions, said: Any, before: str) -> dict[str, float | None]:
    from ..learn.evaluation import balanced_error, edge_error, exact_error

    return {
        f"{before}error": percent(edge_error(test, said)),
        f"{before}balanced": percent(balanced_error(test, said)),
        f"{before}exact": percent(1 - exact_error(test, said)),
    }


def _count_named(test: Transitions, said: Any) -> dict[str, float | None]:
    """In what share of all rows each factor is named, whether it is a cause there or not."""
    return {name: percent(float(said[:, k].mean())) for k, name in enumerate(test.factors) if name != test.own}


def percent(share: float | None) -> float | None:
    """Return a share as a percentage, rounded to what is worth keeping."""
    return None if share is None else round(100 * share, 5)


def uses(method: str, domain: str) -> tuple[str, str]:
    """Name the parts that a result of the method in the domain depends on."""
    return f"method:{method}", f"domain:{domain}"


def uses_graphs(domain: str, method: str | None) -> tuple[str, ...]:
    """Name the parts that a result of graphs depends on: true ones of the domain, or those that a method learned."""
    return (f"domain:{domain}",) if method is None else (f"domain:{domain}", f"method:{method}")


def first_known(methods: Iterable[str]) -> list[str]:
    """Put methods in the order in which tables show them: ours, then others, then trivial answers."""
    return sorted(methods, key=lambda method: EVERY.index(method) if method in EVERY else len(EVERY))
