"""How `ExchangeJACI` learns: models first, then what the definition says of them, then a network that remembers it.

    passive   a model of the own state finds the rows that it does not explain: half of the rows shown are such
    alone     the outcome's distribution given the own state, at natural frequencies
    sketch    the outcome's distribution given all factors, by two models that differ in their first weights only; rows
                  of which they predict something else than the own state does are events too, however noisy
    whole     the same at a falling learning rate; where events are rare, with as many of them as of other rows; of an
                  average of the weights along the way, what makes held-out outcomes likeliest is kept
    remember  rows are judged (`training/sufficiency.py`), and two networks learn the judgements from the state: one
                  with attention, one with sums; of these, and of both together, the simplest is kept that is as
                  near to the judgements of held-out rows as any, but for what two models judge differently

There is no search while the models learn, and no mask that could tell them what happened. No label is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..training import forward
from ..training.attention import CauseModel, OutcomeModel
from ..training.batches import Sampler
from ..training.blur import measure_blur
from ..training.calibration import calibration_error, temperature_of
from ..training.density import OutcomeColumns
from ..training.diagnostics import diagnose, diagnose_events, find_ties
from ..training.hindsight import NOISE, Distance, choose_simplest, measure_distance
from ..training.layers import beside_own, select_groups
from ..training.loop import CHUNK, LossValues, Settings, Stage, one_cycle
from ..training.networks import find_network
from ..training.other_rows import OtherRows
from ..training.replica import Replica
from ..training.session import Session
from ..training.sufficiency import TOLERANCE, Judge
from ..training.surprises import BLOCK, RARE

if TYPE_CHECKING:
    from ..learner import Learner

MODELS = 2  # of the whole state: how far they differ is how far predictions can be trusted
ALONE_STEPS, ALONE_BATCH, ALONE_RATE = 4000, 512, 5e-3
WARM = 400  # steps in which squared errors give way to likelihood
RISE = 200  # steps in which the learning rate rises
SKETCHED = 1000  # steps of the sketch, at most a quarter of all
AVERAGED = 1 / 32  # share of all steps over which the models' weights are averaged
MANY = 12  # factors, of which from here on some are hidden: else few rows would show what any one of them does
HIDDEN = 0.4  # share of the rows of which factors are hidden
ALONE_SHARE = 0.4  # share of those of which all but the own one are
DIVERGENT = 0.3  # nats by which all factors tell more of the outcome than the own state, in an event
CHECKED = 500  # steps between two looks at held-out rows
LOOKS, LEARNED = 3, 0.005  # looks that must find so small an error for the models to be done before all steps
LOOKED_AT = 4096  # held-out rows of a kind looked at
FEW = 50  # held-out rows of a kind are too few to measure
SHARPNESS = 0.05  # the spread, squared, at which likelihood weighs as much as squared error
DISTIL_RATE, DISTIL_DECAY = 4e-3, 0.5
CLIP = 1.0  # the largest norm of a gradient
JUDGED = 10_000  # held-out rows judged at the end
SHIFTS = tuple(k / 8 for k in range(9))  # of the way from the rows as shown to the rows as they come
KEPT = ("whole", "alone", "others")
DISTILLED, BOTH = ("attention", "sums"), "both"  # networks that learn the judgements, and their common voice
COMPARED = 2  # every second of the rows judged at the end is judged by each model alone too
MODELLING = ("moving", "average", "whole", "sketch")  # weights as learned, their average, its best, its first
WORST = 8.0  # nats that a held-out row costs at most, lest a few decide which weights are best


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
        self.sketching = max(min(SKETCHED, learner.steps // 4), 1)  # steps of the stage "sketch"
        self.modelling = max(learner.steps - self.sketching, 1)  # and of the stage "whole"
        self.noise = [1.0] * len(replicas)
        self.caused = [0.5] * len(replicas)  # share of the rows of each replica that have a cause, as they come
        self.label = torch.zeros(len(self.rows), self.rows.factors, device=self.device)
        self.labelled: list[list[Tensor]] = []  # of each replica: rows with a cause, and rows without
        self.looked_at: list[list[Tensor]] = []  # of each replica: held-out rows with an event, and others
        self.offered: list[Mapping[str, nn.Module]] = [{} for _ in replicas]  # networks that were learned otherwise
        self.pools = [self.surprises.pools(position) for position in range(len(replicas))]
        self.natural = torch.ones(len(self.rows), device=self.device)
        self.blur = torch.zeros(len(replicas), *replicas[0].encoder.mean.shape, device=self.device)
        self.blurred = False
        self._fit_distances()

    def _fit_distances(self) -> None:
        kinds = self.replicas[0].encoder.class_index
        for position in range(len(self.replicas)):
            part = self.rows.replica(position)
            rows = slice(part.start, part.stop, max(1, (part.stop - part.start) // 20_000))
            inputs, there = self.rows.inputs[rows], self.rows.there(rows)
            for name in MODELLING:
                for model in range(MODELS):
                    tokens = find_network(self.nets, name, OutcomeModel).tokens
                    tokens.fit(MODELS * position + model, inputs, there, kinds)
            self._attention.tokens.fit(position, inputs, there, kinds)
            find_network(self.nets, "others", OtherRows).keep(position, self.rows.inputs[part], self.rows.there(part))

    @property
    def _attention(self) -> CauseModel:
        return find_network(self.nets, "attention", CauseModel)

    def stages(self) -> list[Stage]:
        """Plan all but the search for surprising rows, which comes before them."""
        own = self.learner
        sketch = self.sketching
        decay = {"moving": own.decay}
        alone = Stage(
            "alone", min(ALONE_STEPS, own.steps), self._learn_alone, self._sample_naturally,
            {"alone": 1.0}, one_cycle(ALONE_RATE), clip=CLIP,
        )  # fmt: skip
        return [
            *([alone] if self.rows.own is not None else []),
            Stage(
                "sketch", sketch, self._learn_whole, self._sampler("sketch"), {"moving": 1.0},
                lambda done: float(own.learning_rate * min(1.0, (done * sketch + 1) / RISE)),
                lambda done: {"warm": max(0.0, 1 - done * sketch / min(WARM, sketch))},
                weight_decay=decay, muon=True, watch=self._begin_average, end=self._find_events, clip=CLIP,
            ),
            Stage(
                "whole", self.modelling, self._learn_whole, self._sampler("whole"), {"moving": 1.0},
                lambda done: own.learning_rate * (1 + math.cos(math.pi * done)) / 2, lambda done: {"warm": 0.0},
                weight_decay=decay, muon=True, watch=self._watch, over=is_learned, end=self._judge_rows, clip=CLIP,
            ),
            Stage(
                "remember", own.distil_steps, self._distil, self._sample_labelled, {"attention": 1.0, "sums": 1.0},
                one_cycle(DISTIL_RATE), weight_decay={"attention": DISTIL_DECAY, "sums": DISTIL_DECAY}, clip=CLIP,
            ),
        ]  # fmt: skip

    # -- which rows --------------------------------------------------------------------------------

    def _sampler(self, stage: str) -> Callable[[], Sampler]:
        def make_sampler() -> Sampler:
            strata = [self.pools[k] for k in range(len(self.replicas)) for _ in range(MODELS)]
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

    @torch.no_grad()
    def _find_events(self) -> None:
        """Find the rows that are shown as often as all others together, and the held-out rows that are looked at.

        They are those that surprise the own state's model, where these are rare, and those of which the sketch
        predicts something else than the own state does: in noise, which surprises everywhere, only the second can be
        told.
        """
        self.pools, self.looked_at = [], []
        for position, replica in enumerate(self.replicas):
            part = self.rows.replica(position)
            pools = self.surprises.pools(position)
            if self.rows.own is not None:
                event = self._diverge(position, self.rows.inputs[part], self.rows.there(part))
                if len(pools) > 1:
                    event[pools[0] - part.start] = True
                if 0 < float(event.float().mean()) < RARE:
                    pools = [torch.nonzero(event)[:, 0] + part.start, torch.nonzero(~event)[:, 0] + part.start]
            self.pools.append(pools)
            for pool in pools:
                self.natural[pool] = len(pools) * len(pool) / (part.stop - part.start)
            self.looked_at.append(self._split_held(position, replica))
            if len(pools) > 1 and not float(self.surprises.rare[position]):  # all surprises, and few tell something
                self.blur[position] = self._measure_blur(position, replica)
        self.blurred = bool(self.blur.any())

    def _measure_blur(self, position: int, replica: Replica) -> Tensor:
        """Measure how far each column of a replica is to be blurred: by the noise that the sketch expects."""
        inputs, there, _ = self._take_held(replica, position, self.looked_at[position][-1].cpu().numpy())
        sketch = self.shared.network_of(position, "sketch")
        outputs = sketch(inputs.expand(MODELS, -1, -1, -1), None if there is None else there.expand(MODELS, -1, -1))
        _, spread = self.columns.read(outputs).likeliest()
        if spread is None:
            return self.blur[position]
        noise = spread.flatten(0, 1).median(dim=0).values
        shown = noise * self.surprises.scale[position, list(self.columns.measured)]  # in the encoder's spreads
        return torch.as_tensor(measure_blur(replica.encoder, shown.cpu().numpy()), device=self.device)

    def _split_held(self, position: int, replica: Replica) -> list[Tensor]:
        """List held-out rows with an event, and others; all together where there are few of a kind."""
        held = replica.held_encoded
        event = self.surprises.find_surprising(position, held)
        if self.rows.own is not None:
            inputs, there, _ = self._take_held(replica, position, np.arange(len(held)))
            told = self._diverge(position, inputs, there)
            event = told | event if float(self.surprises.rare[position]) or not bool(told.any()) else told
        kinds = [torch.nonzero(event)[:, 0], torch.nonzero(~event)[:, 0]]
        if min(map(len, kinds)) < FEW:
            kinds = [torch.arange(len(held), device=self.device)]
        return [kind[:LOOKED_AT] for kind in kinds]

    def _diverge(self, position: int, inputs: Tensor, there: Tensor | None) -> Tensor:
        """(rows,): where all factors tell more of the outcome than the own state alone, by the sketch."""
        sketch, alone = (self.shared.network_of(position, name) for name in ("sketch", "alone"))
        found = []
        for at in range(0, len(inputs), BLOCK):
            block = inputs[at : at + BLOCK].expand(MODELS, -1, -1, -1)
            present = None if there is None else there[at : at + BLOCK].expand(MODELS, -1, -1)
            whole = self.columns.read(sketch(block, present))
            own = self.columns.read(alone(block[..., self.rows.own, :]))
            found.append(whole.diverge(own, TOLERANCE).mean(0) > DIVERGENT)
        return torch.cat(found)

    # -- models ------------------------------------------------------------------------------------

    def _learn_alone(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        density = self.columns.read(self.nets["alone"](self.rows.inputs[index][..., self.rows.own, :]))
        loss = -density.log_likelihood(self.columns.outcome(self.surprises.target[index]))
        return loss.mean(1).sum(), {"alone": loss.mean()}

    def _learn_whole(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        inputs = self.rows.inputs[index]
        if self.blurred:
            apart = torch.randn(inputs.shape, device=self.device, generator=generator)
            inputs = inputs + self.blur.repeat_interleave(MODELS, dim=0).unsqueeze(1) * apart
        shown, weight = self._hide(index, generator)
        density = self.columns.read(self.nets["moving"](inputs, shown))
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
        return (weight * loss).mean(1).sum(), values

    def _hide(self, index: Tensor, generator: torch.Generator) -> tuple[Tensor | None, Tensor]:
        """Hide factors of some rows at random, if there are many: tell which are shown, and what each row weighs.

        What is predicted without a factor is learned at natural frequencies.
        """
        there = self.rows.there(index)
        if self.rows.factors < MANY:
            return there, torch.ones(index.shape, device=self.device)
        draws = torch.rand(*index.shape, self.rows.factors + 3, device=self.device, generator=generator)
        partly, share = draws[..., 0] < HIDDEN, torch.where(draws[..., 1] < ALONE_SHARE, 1.0, draws[..., 2])
        shown = (draws[..., 3:] >= share.unsqueeze(-1)) | ~partly.unsqueeze(-1)
        shown[..., self.rows.own or 0] = True
        weight = torch.where(shown.all(-1), 1.0, self.natural[index])
        return shown.float() if there is None else shown.float() * there, weight

    @torch.no_grad()
    def _begin_average(self, step: int) -> Mapping[str, float]:
        """Begin the average, and keep what the sketch comes to: events are found by it again if training is resumed."""
        self._move_average(first=step <= CHUNK)
        for kept, weight in zip(self.nets["sketch"].parameters(), self.nets["average"].parameters(), strict=True):
            kept.copy_(weight)
        return {}

    @torch.no_grad()
    def _move_average(self, first: bool = False) -> None:
        """Move an average of the models' weights along with them: it errs as they will once they have settled."""
        share = 1.0 if first else min(1.0, CHUNK / (AVERAGED * self.learner.steps))
        for average, weight in zip(self.nets["average"].parameters(), self.nets["moving"].parameters(), strict=True):
            average.lerp_(weight, share)

    @torch.no_grad()
    def _watch(self, step: int) -> Mapping[str, float]:
        """Measure the average on held-out rows, now and then, and keep the best: in noise, weights soon know rows."""
        self._move_average()
        if step % CHECKED and step < self.modelling:
            return {}
        found = []
        for position in range(len(self.replicas)):
            cost, error = self._cost(position, "average")
            if step <= CHECKED or cost < self._cost(position, "whole")[0]:
                mine = slice(MODELS * position, MODELS * (position + 1))
                average = dict(self.nets["average"].named_parameters())
                for name, weight in self.nets["whole"].named_parameters():
                    weight[mine] = average[name][mine]
            found.append((cost, error))
        return {"cost": float(np.mean([cost for cost, _ in found])), "held": float(np.mean([e for _, e in found]))}

    def _cost(self, position: int, name: str) -> tuple[float, float]:
        """Measure a network on held-out rows: how unlikely outcomes are by it, and its error on events."""
        costs, errors = [], []
        model = self.shared.network_of(position, name)
        for rows in self.looked_at[position]:
            inputs, there, target = self._take_held(self.replicas[position], position, rows.cpu().numpy())
            many = None if there is None else there.expand(MODELS, -1, -1)
            density = self.columns.read(model(inputs.expand(MODELS, -1, -1, -1), many))
            came = self.columns.outcome(target.expand(MODELS, -1, -1))
            costs.append(float((-density.widen(TOLERANCE).log_likelihood(came)).clamp(max=WORST).mean()))
            errors.append(float(density.miss(came)))
        return float(np.mean(costs)), errors[0]

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
            pools = self.pools[position]
            # As many of each kind. Where events are common there is but one kind, and judging most rows of it is dear.
            parts = [_spread_out(pool, self.learner.labelled // 2) for pool in pools]
            rows = torch.cat(parts)
            judged = judge.judge(self.rows.inputs[rows], self.rows.there(rows), self.surprises.target[rows])
            self.label[rows] = judged.binary
            caused = judged.binary.sum(1) > float(self.rows.own is not None)
            found = torch.split(caused.float(), [len(part) for part in parts])
            shares = [float(each.mean()) * len(pool) for each, pool in zip(found, pools, strict=True) if len(pool)]
            self.caused[position] = sum(shares) / sum(map(len, pools))
            self.labelled.append([part for part in (rows[caused], rows[~caused]) if len(part)])
            whole = dict(self.nets["whole"].named_parameters())
            for name, weight in self.nets["attention"].named_parameters():
                if name.startswith(("tokens", "blocks")):
                    weight[position] = whole[name][MODELS * position]

    def _measure_noise(self, position: int) -> float:
        """How far the models' predictions of an event differ, as a share of the spread that they predict."""
        inputs, there, _ = self._take_held(self.replicas[position], position, self.looked_at[position][0].cpu().numpy())
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
        for name in DISTILLED:
            seen = inputs if name == "attention" else beside_own(inputs, self.rows.own)
            missed = functional.binary_cross_entropy_with_logits(self.nets[name](seen, there), target, reduction="none")
            total = total + missed.mean((1, 2)).sum()
            values[name] = missed.mean()
        return total, values

    # -- the end -----------------------------------------------------------------------------------

    @torch.no_grad()
    def finish(self, position: int, replica: Replica, history: Sequence[Mapping[str, Any]], stopped: bool) -> None:
        """Keep the simplest network that comes near to the judgements of held-out rows, calibrate it, take notes."""
        learner: Learner = replica.learner
        count = len(replica.held_encoded)
        inputs, there, target = self._take_held(replica, position, np.arange(0, count, max(1, count // JUDGED)))
        judged = self._make_judge(position).judge(inputs, there, target)
        scored = [k for k in range(self.rows.factors) if k != self.rows.own]
        found = judged.binary[:, scored] > 0.5
        networks = {**self.offered[position], **{name: self.shared.network_of(position, name) for name in DISTILLED}}
        odds = {name: find_odds(net, name, inputs, there, self.rows.own)[:, scored] for name, net in networks.items()}
        odds[BOTH] = sum_odds([odds[name] for name in DISTILLED])
        shift = self._natural_shift(position)
        misses, moves = {}, {}
        for name in (*self.offered[position], "sums", BOTH, "attention"):
            move = shift if name in (*DISTILLED, BOTH) else 0.0
            tried = {share * move: measure_distance(odds[name] - share * move > 0, found) for share in SHIFTS}
            moves[name] = min(tried, key=lambda move: tried[move].both)
            misses[name] = tried[moves[name]]
        noise = Distance(*(NOISE * apart for apart in self._compare_judges(position, inputs, there, target)))
        kept = choose_simplest(misses, noise)
        moved = moves[kept]
        said = odds[kept] - moved
        temperature = temperature_of(said, found.float())
        shares = {replica.train.factors[k]: float((said[:, i] > 0).float().mean()) for i, k in enumerate(scored)}
        caused = found.any(dim=1)
        strange = judged.strange
        left = strange | (judged.open & ~caused)
        learned = {
            "kept": kept,
            "shift": moved,
            "temperature": temperature,
            "threshold": 0.5,
            "noise": self.noise[position],
            "events": self.surprises.share[position],
            "disagreement": sum(misses[kept]),
            "judges_apart": sum(noise),
            "calibration_error": calibration_error(torch.sigmoid(said / temperature), found.float()),
            "shares": shares,
            "unexplained": float(left.sum() / (judged.open | strange).sum().clamp(min=1)),
            "half_explained": float((caused & (judged.reached < 0.5)).sum() / caused.sum().clamp(min=1)),
            "held_error": _last_error(history),
        }
        ties = find_ties(judged.binary > 0.5, replica.train.factors, self.rows.own)
        notes = [
            *diagnose(shares=shares, full_error=0.0, blind_error=1.0, stopped=stopped),
            *diagnose_events(learned, replica.encoder.classes, replica.train.factors, ties),
        ]
        answering = DISTILLED if kept == BOTH else (kept,)
        nets = {name: self.shared.network_of(position, name) for name in KEPT} | {n: networks[n] for n in answering}
        if self.rows.own is None:
            del nets["alone"]
        learner.finish(replica, nets, learned, history, notes, self.shared.encoder_of(position))

    def _compare_judges(self, position: int, inputs: Tensor, there: Tensor | None, target: Tensor) -> Distance:
        """Measure how far judgements by one of the models alone lie apart from those by another."""
        inputs, there, target = inputs[::COMPARED], None if there is None else there[::COMPARED], target[::COMPARED]
        scored = [k for k in range(self.rows.factors) if k != self.rows.own]
        both = []
        for model in range(MODELS):
            nets = {name: self.shared.network_of(position, name) for name in KEPT}
            for name in ("whole", "alone"):
                nets[name] = select_groups(nets[name], slice(model, model + 1))
            judge = Judge.of(nets, self.replicas[position].encoder, self.noise[position], 1, there is not None)
            both.append(judge.judge(inputs, there, target).binary[:, scored] > 0.5)
        return measure_distance(both[0], both[1])

    def _natural_shift(self, position: int) -> float:
        """Log-odds that rows with a cause gained by being shown as often as rows without one."""
        share = self.caused[position]
        return 0.0 if not 0 < share < 1 else math.log((1 - share) / share)


def find_odds(net: nn.Module, name: str, inputs: Tensor, there: Tensor | None, own: int | None) -> Tensor:
    """Find the log-odds that each factor is a cause, (rows, factors), by one network; only attention sees rows bare."""
    seen = inputs if name == "attention" else beside_own(inputs, own)
    odds: Tensor = net(seen.unsqueeze(0), None if there is None else there.unsqueeze(0))[0]
    return odds


def sum_odds(odds: Sequence[Tensor]) -> Tensor:
    """Let several networks speak with one voice: the mean of their log-odds."""
    return torch.stack(list(odds)).mean(dim=0)


def is_learned(history: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether held-out events hold nothing more to learn, after several looks at them."""
    held = [moment["held"] for moment in history if "held" in moment]
    return "held" in history[-1] and len(held) >= LOOKS and max(held[-LOOKS:]) < LEARNED


def _last_error(history: Sequence[Mapping[str, Any]]) -> float | None:
    held = [moment["held"] for moment in history if "held" in moment]
    return held[-1] if held else None


def _spread_out(pool: Tensor, most: int) -> Tensor:
    """At most so many rows of a pool, evenly spaced."""
    return pool[torch.linspace(0, len(pool) - 1, min(most, len(pool)), device=pool.device).long()]
