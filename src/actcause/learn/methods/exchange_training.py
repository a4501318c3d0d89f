"""How `ExchangeJACI` learns: models first, then what the definition says of them, then a network that remembers it.

    passive   a model of the own state finds the rows that it does not explain: half of the rows shown are such
    alone     the outcome's distribution given the own state, at natural frequencies
    whole     the outcome's distribution given all factors, by two models that differ in their first weights only;
                  until their error on held-out events stops falling
    settle    the same at a falling learning rate
    remember  rows are judged (`training/sufficiency.py`), and two networks learn the judgements from the state: one
                  with attention, one with sums; the one that is nearer to the judgements of held-out rows is kept

There is no search while the models learn, and no mask that could tell them what happened. No label is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..training import forward
from ..training.attention import CauseModel, OutcomeModel
from ..training.batches import Sampler
from ..training.calibration import calibration_error, temperature_of
from ..training.density import OutcomeColumns, OutcomeValues
from ..training.diagnostics import diagnose, diagnose_events, find_ties
from ..training.hindsight import distance_from_hindsight
from ..training.layers import beside_own
from ..training.loop import LossValues, Settings, Stage, one_cycle
from ..training.networks import find_network
from ..training.other_rows import OtherRows
from ..training.replica import Replica
from ..training.session import Session
from ..training.sufficiency import Judge

if TYPE_CHECKING:
    from ..learner import Learner

MODELS = 2  # of the whole state: how far they differ is how far predictions can be trusted
ALONE_STEPS, ALONE_BATCH, ALONE_RATE = 1500, 512, 5e-3
WARM = 400  # steps in which squared errors give way to likelihood
RISE = 200  # steps in which the learning rate rises
CHECKED = 500  # steps between two looks at held-out rows
PATIENCE = 3  # looks without progress that end the stage
PROGRESS = 0.98  # an error below this share of the best so far is progress
LOOKED_AT = 4096  # held-out rows looked at
SHARPNESS = 0.05  # the spread, squared, at which likelihood weighs as much as squared error
DISTIL_RATE, DISTIL_DECAY = 4e-3, 0.5
CLIP = 1.0  # the largest norm of a gradient
JUDGED = 10_000  # held-out rows judged at the end
SHIFTS = (0.0, 0.5, 1.0)  # of the way from the rows as shown to the rows as they come
SURPRISE = 0.05  # an outcome that the own state makes less likely than this, beside all factors, is surprising
KEPT = ("whole", "alone", "others")


class ExchangeTraining:
    """The stages of one training, of one or several replicas side by side."""

    def __init__(
        self, learner: Any, replicas: Sequence[Replica], session: Session, shared: forward.Training | None = None
    ) -> None:
        self.learner, self.replicas, self.device = learner, replicas, session.device
        self.shared = forward.Training(replicas, session) if shared is None else shared
        self.rows, self.nets, self.surprises = self.shared.rows, self.shared.nets, self.shared.surprises
        self.columns = OutcomeColumns.of(replicas[0].encoder)
        self.seeds = [seed for seed in self.shared.seeds for _ in range(MODELS)]
        self.noise = [1.0] * len(replicas)
        self.label = torch.zeros(len(self.rows), self.rows.factors, device=self.device)
        self.labelled: list[list[Tensor]] = []  # of each replica: rows with a cause, and rows without
        self.events: list[Tensor] = []  # of each replica: held-out rows that surprise the own state's model
        self._fit_distances()

    def _fit_distances(self) -> None:
        kinds = self.replicas[0].encoder.class_index
        for position in range(len(self.replicas)):
            part = self.rows.replica(position)
            rows = slice(part.start, part.stop, max(1, (part.stop - part.start) // 20_000))
            inputs, there = self.rows.inputs[rows], self.rows.there(rows)
            for model in range(MODELS):
                self._whole.tokens.fit(MODELS * position + model, inputs, there, kinds)
            self._attention.tokens.fit(position, inputs, there, kinds)
            find_network(self.nets, "others", OtherRows).keep(position, self.rows.inputs[part], self.rows.there(part))

    @property
    def _whole(self) -> OutcomeModel:
        return find_network(self.nets, "whole", OutcomeModel)

    @property
    def _attention(self) -> CauseModel:
        return find_network(self.nets, "attention", CauseModel)

    def stages(self) -> list[Stage]:
        """Plan all but the search for surprising rows, which comes before them."""
        own = self.learner
        settle = max(own.steps // 4, 1)
        decay = {"whole": own.decay}
        alone = Stage(
            "alone", min(ALONE_STEPS, own.steps), self._learn_alone, self._sample_naturally,
            {"alone": 1.0}, one_cycle(ALONE_RATE), clip=CLIP,
        )  # fmt: skip
        return [
            *([alone] if self.rows.own is not None else []),
            Stage(
                "whole", own.steps, self._learn_whole, self._sampler("whole"), {"whole": 1.0}, self._rise,
                lambda done: {"warm": max(0.0, 1 - done * own.steps / min(WARM, own.steps))},
                weight_decay=decay, muon=True, watch=self._watch, over=self._is_learned, clip=CLIP,
            ),
            Stage(
                "settle", settle, self._learn_whole, self._sampler("settle"), {"whole": 1.0},
                lambda done: own.learning_rate * (1 + math.cos(math.pi * done)) / 2, lambda done: {"warm": 0.0},
                weight_decay=decay, muon=True, end=self._judge_rows, clip=CLIP,
            ),
            Stage(
                "remember", own.distil_steps, self._distil, self._sample_labelled, {"attention": 1.0, "sums": 1.0},
                one_cycle(DISTIL_RATE), weight_decay={"attention": DISTIL_DECAY, "sums": DISTIL_DECAY}, clip=CLIP,
            ),
        ]  # fmt: skip

    def _rise(self, done: float) -> float:
        risen = min(1.0, (done * self.learner.steps + 1) / RISE)
        return float(self.learner.learning_rate * risen)

    # -- which rows --------------------------------------------------------------------------------

    def _sampler(self, stage: str) -> Callable[[], Sampler]:
        def make_sampler() -> Sampler:
            strata = [self.surprises.pools(k) for k in range(len(self.replicas)) for _ in range(MODELS)]
            return Sampler(strata, max(1, self.learner.batch // MODELS), self.seeds, stage, self.device)

        return make_sampler

    def _sample_naturally(self) -> Sampler:
        strata = []
        for position in range(len(self.replicas)):
            part = self.rows.replica(position)
            strata += [[torch.arange(part.start, part.stop, device=self.device)]] * MODELS
        return Sampler(strata, ALONE_BATCH, self.seeds, "alone", self.device)

    def _sample_labelled(self) -> Sampler:
        return Sampler(self.labelled, self.learner.batch, self.shared.seeds, "remember", self.device)

    # -- models ------------------------------------------------------------------------------------

    def _learn_alone(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        density = self.columns.read(self.nets["alone"](self.rows.inputs[index][..., self.rows.own, :]))
        loss = -density.log_likelihood(self.columns.outcome(self.surprises.target[index]))
        return loss.mean(1).sum(), {"alone": loss.mean()}

    def _learn_whole(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        density = self.columns.read(self.nets["whole"](self.rows.inputs[index], self.rows.there(index)))
        outcome = self.columns.outcome(self.surprises.target[index])
        loss = -density.log_likelihood(outcome)
        values = {"likelihood": -loss.mean()}
        if outcome.values is not None:
            # Likelihood alone would perfect what is predicted sharply already and give up what is not: each row weighs
            # as its spread (Seitzer et al., "On the pitfalls of heteroscedastic uncertainty estimation", 2022).
            _, spread = density.likeliest(outcome)
            assert spread is not None
            loss = loss * (2 * spread.detach().log().mean(-1)).exp() / SHARPNESS
            missed = (density.expect() - outcome.values).square().sum(-1)
            loss = loss * (1 - settings["warm"]) + 3 * settings["warm"] * missed
            values["error"] = missed.mean()
        return loss.mean(1).sum(), values

    @torch.no_grad()
    def _watch(self, step: int) -> Mapping[str, float]:
        """Measure the models' error on held-out events, now and then."""
        if step % CHECKED:
            return {}
        if not self.events:
            self.events = [self._list_held_events(position) for position in range(len(self.replicas))]
        errors = []
        for position, replica in enumerate(self.replicas):
            rows = self.events[position].cpu().numpy()
            inputs, there, target = self._take_held(replica, position, rows)
            outputs = self.shared.network_of(position, "whole")(
                inputs.expand(MODELS, -1, -1, -1), None if there is None else there.expand(MODELS, -1, -1)
            )
            density = self.columns.read(outputs)
            came = self.columns.outcome(target.expand(MODELS, -1, -1))
            error = torch.zeros((), device=self.device)
            if came.values is not None:
                error = (density.expect() - came.values).abs().mean()
            chances = OutcomeValues(None, came.categories)
            if came.categories:
                plain = type(density)(None, None, None, density.chances)
                error = error + (1 - plain.log_likelihood(chances).exp()).mean()
            errors.append(float(error))
        return {"held": float(np.mean(errors))}

    def _is_learned(self, history: Sequence[Mapping[str, Any]]) -> bool:
        held = [moment["held"] for moment in history if moment["stage"] == "whole" and "held" in moment]
        if len(held) <= PATIENCE or "held" not in history[-1]:
            return False
        return bool(min(held[-PATIENCE:]) > PROGRESS * min(held[:-PATIENCE]))

    def _list_held_events(self, position: int) -> Tensor:
        held = self.replicas[position].held_encoded
        events = torch.nonzero(self.surprises.find_surprising(position, held))[:, 0]
        return (events if len(events) >= 50 else torch.arange(len(held), device=self.device))[:LOOKED_AT]

    def _take_held(self, replica: Replica, position: int, rows: Any) -> tuple[Tensor, Tensor | None, Tensor]:
        """Held-out rows on the device: inputs, which factors are there, target in the spreads of the rows shown."""
        part = replica.held_encoded[rows]
        there = None if part.present is None else torch.as_tensor(part.present, device=self.device).float()
        target = torch.as_tensor(part.target, device=self.device) / self.surprises.scale[position]
        return torch.as_tensor(part.inputs, device=self.device), there, target

    # -- judgements --------------------------------------------------------------------------------

    @torch.no_grad()
    def _judge_rows(self) -> None:
        """Judge training rows, and let the network with attention begin from what the model of all factors sees."""
        self.labelled = []
        for position in range(len(self.replicas)):
            self.noise[position] = self._measure_noise(position)
            judge = self._make_judge(position)
            pools = self.surprises.pools(position)
            rows = torch.cat([_spread_out(pool, self.learner.labelled // len(pools)) for pool in pools])
            judged = judge.judge(self.rows.inputs[rows], self.rows.there(rows), self.surprises.target[rows])
            self.label[rows] = judged.binary
            caused = judged.binary.sum(1) > float(self.rows.own is not None)
            self.labelled.append([part for part in (rows[caused], rows[~caused]) if len(part)])
            whole = dict(self.nets["whole"].named_parameters())
            for name, weight in self.nets["attention"].named_parameters():
                if name.startswith(("tokens", "blocks")):
                    weight[position] = whole[name][MODELS * position]

    def _measure_noise(self, position: int) -> float:
        """How far the models' predictions of a row differ, as a share of the spread that they predict."""
        replica = self.replicas[position]
        rows = np.arange(0, len(replica.held_encoded), max(1, len(replica.held_encoded) // LOOKED_AT))
        inputs, there, _ = self._take_held(replica, position, rows)
        model = self.shared.network_of(position, "whole")
        outputs = model(inputs.expand(MODELS, -1, -1, -1), None if there is None else there.expand(MODELS, -1, -1))
        outcome, spread = self.columns.read(outputs).likeliest()
        if outcome.values is None or spread is None:
            return 1.0
        apart = (outcome.values[0] - outcome.values[1]).abs() / spread.square().sum(0).sqrt()
        return min(max(float(torch.quantile(apart.flatten()[:100_000], 0.9)), 0.1), 1.0)

    def _make_judge(self, position: int) -> Judge:
        nets = {name: self.shared.network_of(position, name) for name in KEPT}
        encoder, masked = self.replicas[position].encoder, self.rows.present is not None
        return Judge.of(nets, encoder, self.noise[position], MODELS, masked)

    def _distil(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        inputs, there, target = self.rows.inputs[index], self.rows.there(index), self.label[index]
        values = {}
        total = torch.zeros((), device=self.device)
        for name in ("attention", "sums"):
            seen = inputs if name == "attention" else beside_own(inputs, self.rows.own)
            missed = functional.binary_cross_entropy_with_logits(self.nets[name](seen, there), target, reduction="none")
            total = total + missed.mean((1, 2)).sum()
            values[name] = missed.mean()
        return total, values

    # -- the end -----------------------------------------------------------------------------------

    @torch.no_grad()
    def finish(self, position: int, replica: Replica, history: Sequence[Mapping[str, Any]], stopped: bool) -> None:
        """Keep the network that is nearest to the judgements of held-out rows, calibrate it, and note what is amiss."""
        learner: Learner = replica.learner
        count = len(replica.held_encoded)
        inputs, there, target = self._take_held(replica, position, np.arange(0, count, max(1, count // JUDGED)))
        judged = self._make_judge(position).judge(inputs, there, target)
        scored = [k for k in range(self.rows.factors) if k != self.rows.own]
        found = judged.binary[:, scored] > 0.5
        odds = {}
        for name in ("attention", "sums"):
            net = self.shared.network_of(position, name)
            seen = inputs if name == "attention" else beside_own(inputs, self.rows.own)
            odds[name] = net(seen.unsqueeze(0), None if there is None else there.unsqueeze(0))[0][:, scored]
        shift = self._natural_shift(position)
        misses = {
            (name, share * shift): distance_from_hindsight(each - share * shift > 0, found)
            for name, each in odds.items()
            for share in SHIFTS
        }
        kept, moved = min(misses, key=lambda choice: misses[choice])
        said = odds[kept] - moved
        temperature = temperature_of(said, found.float())
        shares = {replica.train.factors[k]: float((said[:, i] > 0).float().mean()) for i, k in enumerate(scored)}
        caused = found.any(dim=1)
        surprising = judged.evidence < math.log(SURPRISE)
        learned = {
            "kept": kept,
            "shift": moved,
            "temperature": temperature,
            "threshold": 0.5,
            "noise": self.noise[position],
            "events": self.surprises.share[position],
            "disagreement": misses[kept, moved],
            "calibration_error": calibration_error(torch.sigmoid(said / temperature), found.float()),
            "shares": shares,
            "unexplained": float((surprising & ~caused).sum() / surprising.sum().clamp(min=1)),
            "half_explained": float((caused & (judged.reached < 0.5)).sum() / caused.sum().clamp(min=1)),
            "held_error": _last_error(history),
        }
        ties = find_ties(judged.binary > 0.5, replica.train.factors, self.rows.own)
        notes = [
            *diagnose(shares=shares, full_error=0.0, blind_error=1.0, stopped=stopped),
            *diagnose_events(learned, replica.encoder.classes, replica.train.factors, ties),
        ]
        nets = {name: self.shared.network_of(position, name) for name in (*KEPT, kept)}
        if self.rows.own is None:
            del nets["alone"]
        learner.finish(replica, nets, learned, history, notes, self.shared.encoder_of(position))

    def _natural_shift(self, position: int) -> float:
        """Log-odds that rows with a cause gained by being shown more often than they come."""
        parts = self.labelled[position] if self.labelled else []
        share = self.surprises.share[position]
        if len(parts) < 2 or not float(self.surprises.rare[position]):
            return 0.0
        return max(0.0, math.log((1 - share) / max(share, 1e-6)))


def _last_error(history: Sequence[Mapping[str, Any]]) -> float | None:
    held = [moment["held"] for moment in history if "held" in moment]
    return held[-1] if held else None


def _spread_out(pool: Tensor, most: int) -> Tensor:
    """At most so many rows of a pool, evenly spaced."""
    return pool[torch.linspace(0, len(pool) - 1, min(most, len(pool)), device=pool.device).long()]
