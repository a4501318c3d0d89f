"""The default: by masks, checked, and where the check fails once more by exchange."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import JACI, MaskJACI, fit_many, load, runs
from actcause.learn.methods import exchange_training, jaci
from actcause.learn.training import diagnostics, surprises
from actcause.learn.training.diagnostics import STOPPED
from actcause.learn.training.loop import Stopped, TrainingProgress

TINY = {"steps": 20, "distil_steps": 15, "width": 10, "batch": 32, "device": "cpu"}
BY_MASKS, BY_EXCHANGE = {"passive", "warm-up", "em", "distil", "check"}, {"alone", "sketch", "whole", "remember"}


@pytest.fixture(scope="module")
def data() -> Transitions:
    return collect("block-1d", 600, seed=1)


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 30)
    monkeypatch.setattr(exchange_training, "ALONE_STEPS", 15)


def doubt(monkeypatch: pytest.MonkeyPatch, masks: float, exchange: float = 0.0) -> None:
    """Let the check find this much of either way."""
    found = jaci._Both._check

    def check(self: jaci._Both, position: int, training: object, *rest: bool, **more: bool) -> float:
        found(self, position, training, *rest, **more)  # type: ignore[arg-type]
        return exchange if isinstance(training, exchange_training.ExchangeTraining) else masks

    monkeypatch.setattr(jaci._Both, "_check", check)


def stages(learner: JACI) -> set[str]:
    return {moment["stage"] for moment in learner.history_}


def test_where_the_check_passes_it_is_what_masks_alone_give(data: Transitions, monkeypatch: pytest.MonkeyPatch) -> None:
    doubt(monkeypatch, masks=1.0)
    monkeypatch.setattr(jaci, "find_idle", lambda *given: [])
    learner, alone = JACI(**TINY).fit(data), MaskJACI(**TINY).fit(data)
    assert stages(learner) == BY_MASKS
    assert learner.learned_["learned_by"] == "jaci-em"
    for answer in ("predict_proba", "explain_proba", "unsure"):
        assert np.array_equal(getattr(learner, answer)(data), getattr(alone, answer)(data))


@pytest.mark.parametrize(("exchange", "by"), [(1.5, "jaci-exchange"), (2.5, "jaci-em")])
def test_where_it_fails_the_better_of_both_is_kept(
    exchange: float, by: str, data: Transitions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    doubt(monkeypatch, masks=2.0, exchange=exchange)
    learner = JACI(**TINY).fit(data)
    assert stages(learner) == BY_MASKS | BY_EXCHANGE
    assert learner.learned_["learned_by"] == by
    learner.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    for answer in ("predict_proba", "explain_proba", "unsure"):
        assert np.array_equal(getattr(again, answer)(data), getattr(learner, answer)(data))


def test_the_network_learned_by_masks_may_answer_where_the_rest_is_learned_by_exchange(
    data: Transitions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    doubt(monkeypatch, masks=2.0)
    monkeypatch.setattr(exchange_training, "choose_simplest", lambda misses, noise: next(iter(misses)))
    monkeypatch.setattr(jaci, "find_idle", lambda *given: [])
    learner, alone = JACI(**TINY).fit(data), MaskJACI(**TINY).fit(data)
    assert (learner.learned_["learned_by"], learner.learned_["kept"]) == ("jaci-exchange", "masks")
    assert np.array_equal(learner.predict(data), alone.predict(data))
    learner.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    for answer in ("predict_proba", "explain_proba"):
        assert np.array_equal(getattr(again, answer)(data), getattr(learner, answer)(data))


def test_each_of_several_seeds_is_checked_by_itself(data: Transitions, monkeypatch: pytest.MonkeyPatch) -> None:
    found = jaci._Both._check

    def check(self: jaci._Both, position: int, training: object, *rest: bool, **more: bool) -> float:
        found(self, position, training, *rest, **more)  # type: ignore[arg-type]
        return float(2 * position)

    monkeypatch.setattr(jaci._Both, "_check", check)
    first, second = fit_many([JACI(seed=seed, **TINY) for seed in (0, 1)], [data, data])
    assert "whole" in stages(second)  # type: ignore[arg-type]
    assert [first.learned_["learned_by"], second.learned_["learned_by"]] == ["jaci-em"] * 2  # 2 is not below 2


def test_a_training_cut_while_it_learns_again_goes_on_to_the_same_bytes(
    data: Transitions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(diagnostics, "UNEXPLAINED", 1e-3)  # the check itself is asked, and fails
    moments: list[TrainingProgress] = []
    runs.train(JACI(**TINY), data, tmp_path / "uncut", callback=moments.append, tensorboard=False)
    last = {moment.stage: number for number, moment in enumerate(moments, start=1)}

    def cut(count: int) -> Iterator[None]:
        for _ in range(count - 1):
            yield
        raise KeyboardInterrupt

    for stage in ("distil", "whole", "remember"):
        ticks, out = cut(last[stage]), tmp_path / stage
        with pytest.raises(KeyboardInterrupt):
            runs.train(JACI(**TINY), data, out, callback=lambda _, t=ticks: next(t), every=0, tensorboard=False)  # type: ignore[misc]
        runs.train(JACI(**TINY), data, out, resume=True, tensorboard=False)
        assert (out / runs.MODEL).read_bytes() == (tmp_path / "uncut" / runs.MODEL).read_bytes(), stage


def test_where_time_runs_out_the_first_result_stands_with_a_note(
    data: Transitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubt(monkeypatch, masks=2.0)

    def stop(moment: TrainingProgress) -> None:
        if moment.stage == "whole":
            raise Stopped

    learner = JACI(**TINY).fit(data, callback=stop)
    assert learner.learned_["learned_by"] == "jaci-em"
    assert learner.notes_[0] == STOPPED


def test_surprising_rows_without_a_cause_and_disagreement_make_it_doubt(data: Transitions) -> None:
    learner = JACI(**TINY).fit(data)  # so few steps teach it nothing
    assert "whole" in stages(learner)
    told = {name: value for moment in learner.history_ if moment["stage"] == "check" for name, value in moment.items()}
    assert told["doubt0"] > 1
    assert learner.notes_


@pytest.mark.parametrize("odd", ["heavy tails", "never there", "huge", "no episodes and no own factor"])
def test_odd_recordings_get_finite_answers(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(300, 3, 2))
    near = np.abs(state[:, 1, :1] - state[:, 0, :1]) < 0.4
    outcome = 1.1 * state[:, 0] + near * state[:, 1]
    given: dict[str, object] = {"own": "ball", "episode": np.arange(300) // 10}
    if odd == "heavy tails":
        outcome = outcome + generator.standard_cauchy((300, 2))
    if odd == "never there":
        given["mask"] = np.array([[True, True, False]] * 300)
    if odd == "huge":
        state, outcome = 1e9 * state, 1e9 * outcome
    if odd == "no episodes and no own factor":
        given = {"outcome_factor": "lamp"}
    data = Transitions(factors=["ball", "hand", "wall"], state=state, outcome=outcome, **given)  # type: ignore[arg-type]
    learner = JACI(**{**TINY, "steps": 30, "distil_steps": 20}).fit(data)
    for answers in (learner.predict_proba(data), learner.explain_proba(data)):
        assert np.isfinite(answers).all()
    assert learner.notes_


def test_what_decides_a_category_is_learned_by_exchange() -> None:
    generator = np.random.default_rng(0)
    state = generator.integers(0, 2, (300, 3, 1)).astype(float)
    lamp = Transitions(
        factors=["switch", "weather", "lamp"],
        state=state,
        outcome=state[:, 0],
        own="lamp",
        metadata={"categorical": ["switch.x0", "next.x0"]},
    )
    learner = JACI(**TINY).fit(lamp)
    assert stages(learner) >= BY_EXCHANGE
    assert learner.learned_["learned_by"] == "jaci-exchange"
