"""The public contract of learners, as a function that raises: whoever writes a learner of their own runs it on it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from ..data import Transitions
from ..errors import ContractError
from .check_recordings import crowd, lamps, objects, pushing
from .errors import LearnError
from .evaluation import edge_error
from .learner import Learner
from .loading import load
from .registry import METHODS
from .training.loop import Stopped, TrainingProgress
from .training.session import Session, fit_many

Array = np.ndarray[Any, Any]
Make = Callable[[], Learner]
ANSWERS = ("predict", "predict_proba", "explain", "explain_proba")
NEAR = 1e-3  # answers about the same row may differ by rounding when other rows stand beside it


def check_learner(make: Make) -> None:
    """Check that a learner keeps the contract of all learners; `make` gives a new one, alike each time, when called.

    It is fitted about a dozen times on some hundred rows: give it few steps.

    >>> from actcause.learn import Never
    >>> check_learner(Never)
    """
    _check_storing(make())
    _check_unfitted(make())
    _check_options(make())
    data = pushing()
    learner = _check_fit(_on_cpu(make()), data)
    _check_answers(learner, data)
    _check_rows(learner, data)
    _check_score(learner, data)
    _check_layout(learner, data)
    _check_repeats(make, learner, data)
    _check_blindness(make, learner, data)
    _check_file(learner, data)
    _check_resumed(make, learner, data)
    for other in (objects(), lamps(), crowd()):
        fitted = _on_cpu(make()).fit(other)
        _check_answers(fitted, other)
        _check_rows(fitted, other)
    _check_budget(make, data)
    _check_together(make, data)


# -- before fitting --------------------------------------------------------------------------------


def _check_storing(learner: Learner) -> None:
    name = type(learner).__name__
    for attribute in ("method", "summary"):
        _require(bool(getattr(type(learner), attribute, "")), f"{name} needs a {attribute}")
    lines = type(learner).revisions
    worded = isinstance(lines, tuple) and bool(lines) and all(isinstance(line, str) and line for line in lines)
    _require(worded, f"{name} needs revisions: a tuple with one line for each time that its answers were to change")
    settings = learner.settings()
    _require(vars(learner) == settings, f"{name}.__init__ must store its options and nothing else")
    again = type(learner)(**settings)
    kept = all(getattr(again, option) is value for option, value in settings.items())
    _require(kept, f"{name}.__init__ must store its options as they are given")


def _check_unfitted(learner: Learner) -> None:
    name = type(learner).__name__
    for answer in (*ANSWERS, "unsure", "score", "preimages"):
        _require_refusal(f"{name}.{answer} before fit", getattr(learner, answer), pushing())


def _check_options(learner: Learner) -> None:
    """Check that every number refuses NaN and words, by the template and in `fit`: neither is a sensible number."""
    wrong: list[tuple[str, Any]] = [("seed", -1), ("held_out", 1.5), ("max_seconds", -1.0), ("device", "nowhere")]
    for option, value in learner.settings().items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            wrong += [(option, math.nan), (option, "many")]
    for option, value in wrong:
        name = type(learner).__name__
        sentence = _require_refusal(f"{option}={value}", dataclasses.replace(learner, **{option: value}).fit, pushing())
        template = sentence.startswith(f"The '{option}' parameter of {name} must be ") and sentence.endswith(
            " instead."
        )
        _require(template, f"{name} must refuse {option}={value} by its template, and says {sentence!r}")


# -- fitting ---------------------------------------------------------------------------------------


def _check_fit(learner: Learner, data: Transitions) -> Learner:
    name = type(learner).__name__
    settings, before, known = learner.settings(), pushing(), set(vars(learner))
    with _steady(name):
        fitted: object = learner.fit(data)
    _require(fitted is learner, f"{name}.fit must return the learner")
    _require(learner.settings() == settings, f"{name}.fit must not change its options")
    _require(data == before, f"{name}.fit must not change the data")
    for attribute in sorted(set(vars(learner)) - known):
        _require(attribute.endswith("_"), f"what {name} learned must end in '_', and '{attribute}' does not")
    for attribute in ("encoder_", "nets_", "learned_", "history_", "notes_", "threshold_"):
        _require(hasattr(learner, attribute), f"{name}.fit must set {attribute}; call finish")
    return learner


def _check_answers(learner: Learner, data: Transitions) -> None:
    name, shape = type(learner).__name__, (len(data), len(data.factors))
    with _steady(name):
        found = {answer: np.asarray(getattr(learner, answer)(data)) for answer in ANSWERS}
    for answer, values in found.items():
        what = f"{name}.{answer}"
        _require(values.shape == shape, f"{what} must be of shape {shape} (rows, factors), and is of {values.shape}")
        if answer.endswith("proba"):
            _require(values.dtype.kind == "f", f"{what} must be floats, and is {values.dtype}")
            _require(bool(((values >= 0) & (values <= 1)).all()), f"{what} must be between 0 and 1, and not NaN")
        else:
            _require(values.dtype == bool, f"{what} must be booleans, and is {values.dtype}")
            follows = bool((values == (found[f"{answer}_proba"] > learner.threshold_)).all())
            _require(follows, f"{what} must follow from its probabilities and its threshold_")
        if data.own is not None:
            own = values[:, data.layout.index(data.own)]
            _require(bool((own == 1).all()), f"{what} must always name the outcome's own factor")
        if data.mask is not None:
            _require(not bool(values[~data.mask].any()), f"{what} must never name an absent factor")
    for hindsight in (False, True):
        unsure = learner.unsure(data, hindsight=hindsight)
        flat = unsure.shape == (len(data),) and unsure.dtype == bool
        _require(flat, f"{name}.unsure must be one boolean for each row")
    shares = [one.share for one in learner.preimages(data).preimages]
    _require(math.isclose(sum(shares), 1), f"{name}.preimages must give every state one binary")


def _check_rows(learner: Learner, data: Transitions) -> None:
    chosen = np.random.default_rng(0).permutation(len(data))[:7]
    for answer in ("predict_proba", "explain_proba"):
        alone, among = getattr(learner, answer)(data.subset(chosen)), getattr(learner, answer)(data)[chosen]
        same = bool(np.allclose(alone, among, atol=NEAR))
        _require(same, f"{type(learner).__name__}.{answer} of a row must not depend on the rows beside it")
    later = data.replaced(outcome=np.random.default_rng(0).permutation(data.outcome))
    same = np.array_equal(learner.predict_proba(data), learner.predict_proba(later))
    _require(same, f"{type(learner).__name__}.predict must judge from the state alone, not from the outcome")


def _check_score(learner: Learner, data: Transitions) -> None:
    name, score = type(learner).__name__, learner.score(data)
    _require(math.isclose(score, 1 - edge_error(data, learner.predict(data))), f"{name}.score must be 1 - edge error")
    _require_refusal(f"{name}.score without true causes", learner.score, data.replaced(cause=None))


def _check_layout(learner: Learner, data: Transitions) -> None:
    for other in (objects(), lamps(), data.state):
        _require_refusal(f"{type(learner).__name__}.predict of other data", learner.predict, other)


def _check_repeats(make: Make, learner: Learner, data: Transitions) -> None:
    again = _on_cpu(make()).fit(data)
    _require(_same(again, learner, data), f"{type(learner).__name__} must answer the same when fitted again as before")


def _check_blindness(make: Make, learner: Learner, data: Transitions) -> None:
    shuffled = np.random.default_rng(0).permutation(np.asarray(data.cause))
    for blind in (data.replaced(cause=None, extra={}), data.replaced(cause=shuffled)):
        other = _on_cpu(make()).fit(blind)
        _require(_same(other, learner, data), f"{type(learner).__name__} must never look at true causes")


def _check_file(learner: Learner, data: Transitions) -> None:
    if METHODS.get(learner.method) is not type(learner):
        return  # files name methods, and this one is not among those that are known by name
    with TemporaryDirectory() as folder:
        path = Path(folder) / "learner.safetensors"
        learner.save(path)
        loaded = load(path, device="cpu")
    _require(type(loaded) is type(learner), f"{type(learner).__name__} must be loaded as what it was saved")
    _require(_same(loaded, learner, data), f"{type(learner).__name__} must answer the same when loaded as when saved")


def _check_resumed(make: Make, learner: Learner, data: Transitions) -> None:
    """Check that training which stops before its last chunk of steps goes on from a snapshot as if it had not."""
    chunks = len(learner.history_)
    if chunks < 2:
        return
    sessions: list[Session] = []
    moments: list[TrainingProgress] = []
    kept: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def stop(moment: TrainingProgress) -> None:
        moments.append(moment)
        if len(moments) == chunks - 1 and sessions[0].trainer is not None:
            tensors, place = sessions[0].trainer.snapshot()
            kept.append(
                ({name: value.clone() for name, value in tensors.items()}, {**place, "history": [*place["history"]]})
            )
            raise Stopped

    fit_many([_on_cpu(make())], [data], callback=stop, session=sessions.append)
    resumed = _on_cpu(make())
    fit_many([resumed], [data], restored=kept[0])
    same = resumed.history_ == learner.history_ and _same(resumed, learner, data)
    _require(same, f"{type(learner).__name__} must end the same when stopped and resumed as when not stopped")


def _check_budget(make: Make, data: Transitions) -> None:
    """Check that a learner whose time ran out answers all the same, and says so if it was training."""
    learner = dataclasses.replace(_on_cpu(make()), max_seconds=1e-9).fit(data)
    _check_answers(learner, data)
    noted = any("stopped" in note for note in learner.notes_)
    _require(noted or not learner.history_, f"{type(learner).__name__} must note that its training was stopped")


def _check_together(make: Make, data: Transitions) -> None:
    """Fit two at once; what one learns must not depend on the data of the other."""
    name = type(make()).__name__
    seeds = [make().seed, make().seed + 1]
    first = []
    for beside in (pushing(seed=1), pushing(seed=2)):
        learners = [dataclasses.replace(_on_cpu(make()), seed=seed) for seed in seeds]
        fitted = fit_many(learners, [data, beside])
        _require(all(a is b for a, b in zip(fitted, learners, strict=True)), f"{name}: fit_many must return them")
        for learner in learners:
            _check_answers(learner, data)
        first.append(learners[0])
    _require(_same(first[0], first[1], data), f"{name}: what one learns must not depend on another's data")


# -- shared ----------------------------------------------------------------------------------------


def _on_cpu(learner: Learner) -> Learner:
    """Make it run on the CPU, where the same seed gives the same bits."""
    return dataclasses.replace(learner, device="cpu")


def _same(one: Learner, other: Learner, data: Transitions) -> bool:
    return all(np.array_equal(getattr(one, answer)(data), getattr(other, answer)(data)) for answer in ANSWERS)


@contextmanager
def _steady(name: str) -> Iterator[None]:
    """Require that the caller's random numbers stay as they are."""
    before = torch.get_rng_state(), np.random.get_state(legacy=False)
    yield
    kept = torch.equal(before[0], torch.get_rng_state())
    kept &= str(before[1]) == str(np.random.get_state(legacy=False))
    _require(kept, f"{name} must not use or seed the global random numbers of torch or numpy")


def _require_refusal(what: str, call: Callable[..., object], *given: object) -> str:
    try:
        call(*given)
    except LearnError as refused:
        return str(refused)
    except Exception as other:
        raise ContractError(f"{what} must be a LearnError of one sentence, and is {other!r}") from other
    raise ContractError(f"{what} must be refused with a LearnError, and is not")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ContractError(message)
