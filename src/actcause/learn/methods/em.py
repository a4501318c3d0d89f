"""Annealed expectation-maximisation over masks: how `MaskJACI` learns.

A masked forward model f and a state-to-binary network h, as in the paper's Algorithm 1. But a row's binary is not
sampled from h and improved by gradients: it is chosen, by trying binaries and charging each its error and its length.

    passive   a model of the outcome's own state alone finds the rows that it does not explain: events
    warm-up   f learns to predict under random masks
    em        for each row try binaries (all, or those h proposes and their neighbours), judged by the f that
                  never saw the row's episode; cost = error + penalty x length; posterior = softmax(-cost / T)
              f learns the outcome under a binary drawn from the posterior (and a little under the full mask)
              h learns the posterior from the state alone; T falls, the penalty rises to its value
    distil    h learns once more, from posteriors that no longer change

Where events are rare, half of the rows shown have one, and sufficiency is learned under the natural distribution:
the error of binaries that were not chosen counts too, each row weighted back to its natural frequency. That is the
paper's alpha-sufficiency in learned form; its weight is 0 where events are common, for there the own state is not
supposed to suffice, and small elsewhere: in states in which most outcomes are caused it must not overrule the rest.

No label is looked at anywhere. What is chosen (the penalty, which h to keep, the calibration) is chosen by held-out
episodes and the outcomes observed in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..training import forward, masks
from ..training.batches import FOLDS, Sampler
from ..training.calibration import calibration_error, temperature_of
from ..training.diagnostics import diagnose
from ..training.encoding import Encoded
from ..training.hindsight import (
    NOISE,
    MaskErrors,
    choose_network,
    discoveries,
    distance_from_hindsight,
    score_masks,
    steadiest_penalty,
)
from ..training.layers import beside_own, group_weights, select_groups
from ..training.loop import LossValues, Settings, Stage, one_cycle
from ..training.networks import BinaryNetwork, MaskedModel, find_network
from ..training.replica import Replica
from ..training.session import Session

if TYPE_CHECKING:
    from .mask_jaci import MaskJACI

DISTILLED = ("distilled", "loose")  # networks that learn the last posteriors, with much weight decay and with little
LOOSE = 0.02  # how much of it
VARIANTS = 2  # of either: one sees rows as they come, one sees as many events as others
COLD, HOT = 0.02, 0.2  # temperatures, in spreads of the outcome
FULL = 0.05  # weight of the full mask, for ever: the model must know what full information would give
BADLY = 0.995  # share of the held-out rows that is predicted well enough to answer about
JUDGE = 2048  # rows judged together
JUDGE_ON_CPU = 512  # fewer, as each has up to 64 binaries: what takes more than 32 MiB is slow there (`heap.py`)
DISTIL_RATE = 4e-3


class MaskEM:
    """The stages of one training, of one or several replicas side by side."""

    def __init__(
        self, learner: MaskJACI, replicas: Sequence[Replica], session: Session, shared: forward.Training | None = None
    ) -> None:
        self.learner, self.replicas, self.device = learner, replicas, session.device
        self.shared = forward.Training(replicas, session) if shared is None else shared
        self.at_once = JUDGE_ON_CPU if self.device.type == "cpu" else JUDGE  # rows at a time
        self.rows, self.nets, self.surprises = self.shared.rows, self.shared.nets, self.shared.surprises
        own = self.rows.own
        listed = masks.every(self.rows.factors, own)
        self.listed = None if listed is None else listed.to(self.device)
        self.alone = masks.only(self.rows.factors, own, self.device)
        self.seeds = [seed for seed in self.shared.seeds for _ in range(FOLDS)]
        # Known after the stage "em":
        self.penalties = [learner.penalty] * len(replicas)
        self.missed = [0.0] * len(replicas)  # error of the finished model that sees everything, beside a constant's
        self.marginal = torch.zeros(0)

    def stages(self) -> list[Stage]:
        own, sizes = self.learner, self.learner.sizes_
        steps, size = int(sizes["steps"]), int(sizes["batch"]) // FOLDS
        warm = max(steps // 4, 1)
        begun = warm / steps
        rate, decay = sizes["learning_rate"], {"binary": own.binary_decay, "forward": sizes["forward_decay"]}
        last = {"distilled": own.binary_decay, "loose": LOOSE * own.binary_decay}
        return [
            *self.surprises.stages(),
            Stage(
                "warm-up", warm, self._warm_up, self._sampler("warm-up", size),
                {"forward": 1.0}, one_cycle(rate, end=begun), weight_decay=decay,
            ),
            Stage(
                "em", max(steps - warm, 1), self._em, self._sampler("em", size),
                {"forward": 1.0, "binary": 1.0}, one_cycle(rate, start=begun), self._anneal,
                weight_decay=decay, end=self.find_posteriors,
            ),
            Stage(
                "distil", int(sizes["distil_steps"]), self._distil, self._distil_sampler(2 * size),
                dict.fromkeys(DISTILLED, 1.0), one_cycle(DISTIL_RATE), weight_decay=last,
            ),
        ]  # fmt: skip

    def _sampler(self, stage: str, size: int) -> Callable[[], Sampler]:
        return lambda: Sampler(self.surprises.strata, size, self.seeds, stage, self.device)

    def _distil_sampler(self, size: int) -> Callable[[], Sampler]:
        def make_sampler() -> Sampler:
            strata = []
            for replica in range(len(self.replicas)):
                strata.append([torch.cat(self.surprises.groups[FOLDS * replica : FOLDS * (replica + 1)])])
                strata.append(self.surprises.pools(replica))
            return Sampler(strata, size, self.seeds, "distil", self.device)

        return make_sampler

    # -- expectation and maximisation --------------------------------------------------------------

    def _warm_up(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        groups, rows = index.shape
        shown = masks.random((groups, 3, rows, self.rows.factors), self.rows.own, generator)
        shown[:, 0] = self.alone
        shown[:, 1] = 1
        there = self.rows.there(index)
        if there is not None:
            shown = shown * there.unsqueeze(1)
        model = find_network(self.nets, "forward", MaskedModel)
        missed = model(model.embedding(self.rows.network_inputs(index)), shown) - self.surprises.target[
            index
        ].unsqueeze(1)
        error = missed.abs().mean(-1)
        # Squared errors keep rare events from being given up, as absolute ones alone would allow.
        loss = error + missed.square().mean(-1)
        alone = loss[:, 0] * self.surprises.natural[index]
        return (alone + loss[:, 1] + loss[:, 2]).mean(1).sum() / 3, {
            "own": error[:, 0].mean(),
            "full": error[:, 1].mean(),
        }

    def _anneal(self, done: float) -> Mapping[str, float]:
        return {"temperature": max(HOT * (1 - 1.5 * done), COLD), "penalty": self.learner.penalty * min(1.0, 2 * done)}

    def _em(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        model, binary, own = find_network(self.nets, "forward", MaskedModel), self.nets["binary"], self.rows.own
        groups, count = index.shape
        factors = self.rows.factors
        seen, target, there = self.rows.network_inputs(index), self.surprises.target[index], self.rows.there(index)
        together = (groups // FOLDS, FOLDS * count, factors)
        odds = binary(seen.reshape(*together, -1), None if there is None else there.reshape(together))
        odds = odds.reshape(groups, count, factors)
        with torch.no_grad():
            if self.listed is not None:
                trial = self.listed[None, :, None].expand(groups, -1, count, factors)
            else:
                trial = masks.propose(odds.detach(), self.alone, own, self.learner.proposals, generator)
            if there is not None:
                trial = trial * there.unsqueeze(1)
            # Each fold's model judges the rows of the other fold.
            judged = _swap_folds(model(model.embedding(_swap_folds(seen)), _swap_folds(trial)))
            error = (judged - target.unsqueeze(1)).abs().mean(-1)
            cost = error + settings["penalty"] * trial.sum(-1)
            posterior = torch.softmax(-cost / settings["temperature"], dim=1)
            marginal = torch.einsum("gkb,gkbn->gbn", posterior, trial)
            noise = torch.rand(posterior.shape, device=self.device, generator=generator).clamp(1e-9, 1 - 1e-7)
            drawn = (posterior.clamp(min=1e-12).log() - (-noise.log()).log()).argmax(dim=1, keepdim=True)
            other = torch.randint(0, trial.shape[1], drawn.shape, device=self.device, generator=generator)
            picked = torch.cat([drawn, other], dim=1).unsqueeze(-1).expand(-1, -1, -1, factors)
            everything = torch.ones_like(trial[:, :1]) if there is None else there.unsqueeze(1)
            learned = torch.cat([trial.gather(1, picked), everything], dim=1)
        loss = (model(model.embedding(seen), learned) - target.unsqueeze(1)).abs().mean(-1)
        chosen, wild, full = loss.unbind(1)
        sufficiency = self.learner.sufficiency * self.surprises.rare.repeat_interleave(FOLDS)
        fitted = (chosen + FULL * full).mean(1) + sufficiency * (self.surprises.natural[index] * wild).mean(1)
        matched = functional.binary_cross_entropy_with_logits(odds, marginal, reduction="none").mean(dim=(1, 2))
        length = marginal.sum(-1).mean() - float(own is not None)
        values = {"chosen": chosen.mean(), "full": full.mean(), "binary": matched.mean(), "length": length}
        return fitted.sum() + matched.sum() / FOLDS, values

    # -- distillation ------------------------------------------------------------------------------

    @torch.no_grad()
    def find_posteriors(self) -> None:
        """Set the penalty on held-out rows, and every training row's posterior, judged out of sample."""
        self.marginal = torch.empty(len(self.rows), self.rows.factors, device=self.device)
        state = {k: v.repeat_interleave(VARIANTS, dim=0) for k, v in self.nets["binary"].state_dict().items()}
        for name in DISTILLED:
            self.nets[name].load_state_dict(state)
        for replica in range(len(self.replicas)):
            self.penalties[replica] = self._penalty(replica)
            for fold in range(FOLDS):
                judge, group = self._judge(replica, 1 - fold), self.surprises.groups[FOLDS * replica + fold]
                for at in range(0, len(group), self.at_once):
                    rows = group[at : at + self.at_once]
                    found = judge(self.rows.inputs[rows], self.surprises.target[rows], self.rows.there(rows))
                    self.marginal[rows] = found.marginal(self.penalties[replica], COLD, prior=1.0)

    def _penalty(self, replica: int) -> float:
        start = self.learner.penalty
        return steadiest_penalty(discoveries(self._judge_held_out(replica), start), start)

    def _distil(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        seen, there, target = self.rows.network_inputs(index), self.rows.there(index), self.marginal[index]
        missed = torch.stack(
            [functional.binary_cross_entropy_with_logits(self.nets[name](seen, there), target) for name in DISTILLED]
        )
        # A mean over groups, where others are sums: scaled back, so that replicas' gradients stay their own.
        return len(target) * missed.sum(), {"binary": missed[0], "loose": missed[1]}

    # -- the end -----------------------------------------------------------------------------------

    @torch.no_grad()
    def finish(self, position: int, replica: Replica, history: Sequence[Mapping[str, Any]], stopped: bool) -> None:
        """Keep the best binary network, calibrate it, and look for what went wrong; all on held-out rows."""
        learner = replica.learner
        penalty = self.penalties[position]
        encoder = self.shared.encoder_of(position)
        nets = {
            "forward": self.shared.network_of(position, "forward"),
            "binary": self.shared.network_of(position, "binary"),
        }
        held = list(self._judge_held_out(position))
        # Without the word of a network: the networks are to be compared with it.
        marginal = torch.cat([found.marginal(penalty, COLD, prior=0.0) for found in held])
        scored = [k for k in range(self.rows.factors) if k != self.rows.own]
        choices = {}
        if self.marginal.numel() and not stopped:
            for name in DISTILLED:
                for variant, seen in ((1, "balanced"), (0, "as they come")):
                    one = learner.networks(encoder, 1)["binary"].to(self.device)
                    at = VARIANTS * position + variant
                    one.load_state_dict(group_weights(self.nets[name], slice(at, at + 1)))
                    choices[f"{name}, rows {seen}"] = one
        choices["em"] = nets["binary"]
        said = {name: self._log_odds(net, replica.held_encoded) for name, net in choices.items()}
        misses = {
            name: distance_from_hindsight(odds[:, scored] > 0, marginal[:, scored] > 0.5) for name, odds in said.items()
        }
        noise = NOISE * distance_from_hindsight(*torch.cat([found.by_fold(penalty) for found in held], dim=1))
        best = choose_network(misses, noise)
        nets["binary"] = choices[best]
        odds, target = said[best][:, scored], (marginal[:, scored] > 0.5).float()
        temperature = temperature_of(odds, target)
        error = torch.cat([found.error.min(dim=0).values for found in held])
        full = torch.cat([found.full for found in held])
        apart = torch.cat([found.apart for found in held])
        target_held = torch.as_tensor(replica.held_encoded.target, device=self.device) / self.surprises.scale[position]
        shares = {replica.train.factors[k]: float((odds[:, i] > 0).float().mean()) for i, k in enumerate(scored)}
        full_error = float(full.mean())
        blind_error = float((target_held - target_held.median(dim=0).values).abs().mean())
        learned = {
            "penalty": penalty,
            "temperature": temperature,
            "threshold": 0.5,
            "events": self.surprises.share[position],
            "sufficiency": self.learner.sufficiency * float(self.surprises.rare[position]),
            "worst_error": float(torch.quantile(error.cpu(), BADLY)),
            "worst_disagreement": float(torch.quantile(apart.cpu(), BADLY)),
            "calibration_error": calibration_error(torch.sigmoid(odds / temperature), target),
            "sizes": dict(self.learner.sizes_),
            "kept": best,
            "disagreement": misses[best],
            "noise": noise,
            "shares": shares,
        }
        self.missed[position] = full_error / max(blind_error, 1e-9)
        notes = diagnose(shares=shares, full_error=full_error, blind_error=blind_error, stopped=stopped)
        learner.finish(replica, {k: v.eval() for k, v in nets.items()}, learned, history, notes, encoder)

    def _judge(self, replica: int, fold: int | None = None) -> Callable[[Tensor, Tensor, Tensor | None], MaskErrors]:
        """Make a function that tries binaries for rows of one replica, by both folds' models or by that of one fold."""
        forward, binary = self.shared.network_of(replica, "forward"), self.shared.network_of(replica, "binary")
        if fold is not None:
            forward = select_groups(forward, slice(fold, fold + 1))
        assert isinstance(forward, MaskedModel)
        assert isinstance(binary, BinaryNetwork)
        models = FOLDS if fold is None else 1

        def judge(inputs: Tensor, target: Tensor, there: Tensor | None) -> MaskErrors:
            return score_masks(forward, binary, inputs, target, there, self.rows.own, self.penalties[replica], models)

        return judge

    def _judge_held_out(self, replica: int) -> list[MaskErrors]:
        """Judge the held-out rows by both folds' models."""
        judge, found = self._judge(replica), []
        for block in self.replicas[replica].held_encoded.blocks(self.at_once):
            inputs, there = self._load(block)
            target = torch.as_tensor(block.target, device=self.device) / self.surprises.scale[replica]
            found.append(judge(inputs, target, there))
        return found

    def _log_odds(self, net: nn.Module, encoded: Encoded) -> Tensor:
        parts = []
        for block in encoded.blocks(self.at_once):
            inputs, there = self._load(block)
            seen = beside_own(inputs, self.rows.own).unsqueeze(0)
            parts.append(net(seen, None if there is None else there.unsqueeze(0))[0])
        return torch.cat(parts)

    def _load(self, block: Encoded) -> tuple[Tensor, Tensor | None]:
        """Load inputs, and which factors are there, onto the device."""
        there = None if block.present is None else torch.as_tensor(block.present, device=self.device).float()
        return torch.as_tensor(block.inputs, device=self.device), there


def _swap_folds(tensor: Tensor) -> Tensor:
    """Exchange the folds of every replica."""
    shape = tensor.shape
    return tensor.reshape(-1, FOLDS, *shape[1:]).flip(1).reshape(shape)
