"""JACI as the paper has it: Algorithm 1 with the choices of its appendices, and what it leaves out.

    repeat   b = h(s)
             f learns to predict the outcome y from s under the mask b
             h learns to make |b| + beta (misfit of f under b) small

    passive   a model of the outcome's own state finds the rows it does not explain; where these are rare, half of
                  the rows shown are such (Appendix "2D Pushing")
    pretrain  f learns under random masks, the own factor alone and all factors
    delay     f learns under the masks that h draws, while h does not learn yet
    joint     both learn in every step, h at a tenth of f's rate

Masks are drawn by Bernoulli mixing, b = b~ b^ with b^ = h(s) and b~ ~ Bern(b^), so that f sees true zeros and h has a
gradient. The penalty on |h| adapts, beta^ exp(-misfit): where f does badly nothing more is masked out.

What the paper leaves out, and without which h collapses:

    the misfit is a Gaussian's negative log-likelihood with a floor under its deviation: the penalty beats a plain norm
    the penalty adapts to the gap between the misfit under the mask and that seeing everything, not to the misfit itself
    f learns under b~ in most rows: under b~ b^ alone it learns to read embeddings of any scale, and b^ sinks
    h's log-odds are kept small: before the penalty bites they run away, and a bit that is certain stays on for ever
    networks a quarter as wide as the paper's: wider ones more often give a factor up, or name it always
    f keeps seeing the full mask now and then; the outcome's own bit is on and free; f predicts the outcome's change
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..learner import Array, Learner
from ..training import masks
from ..training.diagnostics import diagnose
from ..training.encoding import Encoded, Encoder
from ..training.forward import Batch, Training
from ..training.loop import Loss, LossValues, Settings, Stage
from ..training.networks import Nets, find_network, own_state_model
from ..training.replica import Replica
from ..training.session import Session
from .paper_networks import BitNetwork, GaussianModel, gaussian_misfit

MIXINGS = ("bernoulli", "straight-through", "soft")
PENALTIES = ("gap", "plain")
CLIP = 0.5  # the largest norm of a gradient
FULL = (0.3, 0.05)  # share of rows that f sees under the full mask, at first and from the middle on
ALONE = (0.1, 0.0)  # the same for the own factor alone
RISING = 0.05  # share of the training in which the penalty rises to its value
DECAYING = 0.3  # share of the training in which the rate falls to 0
HELD = 20_000  # held-out rows looked at
BADLY = 0.995  # share of the held-out rows that is predicted well enough to answer about
LISTED = 16  # up to so many binaries are all tried in hindsight
WORST = ("worst_misfit", "worst_deviation")


@final
@dataclass(kw_only=True)
class PaperJACI(Learner):
    """Joint inference of a forward model and of actual causes by alternating gradient steps: the paper's Algorithm 1.

    The paper's table of hyperparameters: `steps` 200,000 (far fewer do), `batch` 512, `learning_rate` 0.001 to 0.003
    for f and `ratio` a tenth of it for h, `penalty` (beta^) 1 to 10, `width` 256, `embedding` 512 (1024 in the table),
    `layers` 3 in each convolution, `threshold` 0.99. Narrower networks are more reliable, and faster. `mixing` is
    "bernoulli" as in the paper, "straight-through" or "soft"; `sharp` is the share of rows in which f learns under b~,
    not under b~ b^ (the paper: 0). The penalty is `adapting` to the "gap" between masked and unmasked model, or to the
    "plain" misfit, as in the paper. `floor` is the least standard deviation, in spreads of the outcome; `settling` the
    weight of h's squared log-odds in its loss (the paper: 0). `pretrain` and `delay` are steps before h learns.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000, seed=3)
    >>> learner = PaperJACI(steps=50, pretrain=20, batch=32, width=16, embedding=16, layers=1).fit(data)
    >>> learner.predict(data).shape
    (1000, 2)

    Chuck et al., Algorithm 1 and the appendices "JACI Network" and "JACI Training Details".
    """

    steps: int = 16_000
    pretrain: int = 8000
    delay: int = 0
    batch: int = 256
    learning_rate: float = 2e-3
    ratio: float = 0.1
    penalty: float = 1.0
    settling: float = 0.003
    adapting: str = "gap"
    mixing: str = "bernoulli"
    sharp: float = 0.75
    floor: float = 0.05
    threshold: float = 0.9
    width: int = 64
    embedding: int = 96
    layers: int = 2

    method: ClassVar[str] = "jaci"
    summary: ClassVar[str] = "joint inference by alternating gradient steps, as in the paper's Algorithm 1"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        least = {"steps": 1, "pretrain": 0, "delay": 0, "batch": 2, "width": 1, "embedding": 1, "layers": 1}
        for name, count in least.items():
            self.require_integer(name, count)
        self.require("sharp", 0 <= self.sharp <= 1, "between 0 and 1")
        for name in ("learning_rate", "ratio", "floor"):
            self.require(name, 0 < getattr(self, name) <= 1, "above 0 and at most 1")
        self.require("penalty", self.penalty > 0, "positive")
        self.require("settling", self.settling >= 0, "0 or more")
        self.require("threshold", 0 < self.threshold < 1, "between 0 and 1")
        self.require("mixing", self.mixing in MIXINGS, f"one of {', '.join(MIXINGS)}")
        self.require("adapting", self.adapting in PENALTIES, f"one of {', '.join(PENALTIES)}")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        kinds, inputs, outputs = encoder.class_index, encoder.width, encoder.outputs
        width, embedding, layers = self.width, self.embedding, self.layers
        return {
            "passive": own_state_model(encoder, replicas),
            "forward": GaussianModel(
                replicas, kinds, inputs, outputs, width=width, embedding=embedding, layers=layers, floor=self.floor
            ),
            "binary": BitNetwork(replicas, kinds, inputs, width=width, embedding=embedding, layers=layers),
        }

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learner = replicas[0].learner
        assert isinstance(learner, PaperJACI)
        joint = _Joint(learner, Training(replicas, session))
        with coarse_products():
            session.train(joint.training.nets, joint.stages(), clip=CLIP)
        for position in range(len(replicas)):
            joint.finish(position)

    # -- answers -----------------------------------------------------------------------------------

    @torch.no_grad()
    def _probabilities(self, encoded: Encoded) -> Array:
        return _to_array(_bits(self.nets_, block) for block in self._blocks(encoded))

    @torch.no_grad()
    def _hindsight(self, encoded: Encoded) -> Array:
        return _to_array(self._explain(block) for block in self._blocks(encoded))

    @torch.no_grad()
    def _unsure(self, encoded: Encoded, hindsight: bool) -> Array:
        name = "worst_misfit" if hindsight else "worst_deviation"
        found = [_doubts(self.nets_, block)[name] > self.learned_[name] for block in self._blocks(encoded)]
        return torch.cat(found).cpu().numpy()

    def _explain(self, block: Batch) -> Tensor:
        """Find the posterior of each bit: the misfit and what the bits cost, and h's word as the prior."""
        model = find_network(self.nets_, "forward", GaussianModel)
        odds = torch.logit(_bits(self.nets_, block), eps=1e-4)
        embedded = model.embedding(block.network_inputs)
        tried = self._candidates(odds) * block.present
        costs = []
        for mask in tried:
            word = torch.nn.functional.logsigmoid(torch.where(mask > 0, odds, -odds)).sum(-1)
            misfit = gaussian_misfit(block.target, *model(embedded, mask.unsqueeze(0)))[0]
            costs.append(misfit + self.penalty * mask.sum(-1) - word)
        posterior = torch.softmax(-torch.stack(costs), dim=0)
        return torch.einsum("kb,kbn->bn", posterior, tried)

    def _candidates(self, odds: Tensor) -> Tensor:
        """List binaries to try, (tried, rows, factors): all where there are few, else h's and all one bit away."""
        rows, factors = odds.shape
        listed = masks.every(factors, self.encoder_.own, LISTED)
        if listed is not None:
            return listed.to(odds.device).unsqueeze(1).expand(-1, rows, factors)
        said = (odds > 0).float()
        flips = [masks.only(factors, k, odds.device) for k in range(factors) if k != self.encoder_.own]
        found = torch.stack([said, *((said - flip).abs() for flip in flips), torch.ones_like(said)])
        if self.encoder_.own is not None:
            found[..., self.encoder_.own] = 1
        return found

    def _blocks(self, encoded: Encoded) -> Iterator[Batch]:
        device = next(self.nets_["binary"].parameters()).device
        return Batch.of(encoded, self.encoder_, device).blocks()


class _Joint:
    """The stages of one training, of one or several replicas side by side."""

    def __init__(self, learner: PaperJACI, training: Training) -> None:
        self.learner, self.training = learner, training
        self.forward, self.binary = (
            find_network(training.nets, "forward", GaussianModel),
            find_network(training.nets, "binary", BitNetwork),
        )
        self.own = training.rows.own
        self.alone = masks.only(training.rows.factors, self.own, training.device)

    def stages(self) -> list[Stage]:
        own, rate = self.learner, self.learner.learning_rate

        def stage(
            name: str, steps: int, loss: Loss, nets: Mapping[str, float], rates: Callable[[float], float]
        ) -> Stage:
            return Stage(name, steps, loss, self.training.sampler(name, own.batch), nets, rates, self._settings)

        return [
            *self.training.surprises.stages(),
            stage("pretrain", own.pretrain, self._pretrain, {"forward": 1.0}, lambda done: rate),
            stage("delay", own.delay, self._delay, {"forward": 1.0}, lambda done: rate),
            stage("joint", own.steps, self._joint, {"forward": 1.0, "binary": own.ratio},
                  lambda done: rate * min(1.0, (1.0 - done) / DECAYING)),
        ]  # fmt: skip

    def _settings(self, done: float) -> Mapping[str, float]:
        left = max(0.0, 1.0 - 2 * done)
        shares = {name: last + (first - last) * left for name, (first, last) in {"full": FULL, "alone": ALONE}.items()}
        return {**shares, "penalty": self.learner.penalty * min(1.0, done / RISING)}

    # -- losses ------------------------------------------------------------------------------------

    def _pretrain(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        shown = masks.random((*index.shape, self.training.rows.factors), self.own, generator)
        third = torch.full((), 1 / 3, device=index.device)
        misfit = self._misfit(self._embed(index), shown, index, {"full": third, "alone": third}, generator)
        return misfit.mean(1).sum(), {"forward": misfit.mean()}

    def _delay(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        with torch.no_grad():
            drawn, _ = self._mix(self._chances(self._odds(index), index), generator)
        misfit = self._misfit(self._embed(index), drawn, index, settings, generator)
        return misfit.mean(1).sum(), {"forward": misfit.mean()}

    def _joint(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        embedded, target = self._embed(index), self.training.surprises.target[index]
        odds = self._odds(index)
        chances = self._chances(odds, index)
        drawn, mask = self._mix(chances, generator)
        fitted = self._misfit(embedded, drawn, index, settings, generator)
        # h learns through f, but f does not learn from what h is told: its weights are constants here.
        weights = {name: weight.detach() for name, weight in self.forward.named_parameters()}
        constant = embedded.detach()
        mean, deviation = functional_call(self.forward, weights, (constant, mask))
        masked = gaussian_misfit(target, mean, deviation)
        with torch.no_grad():
            full = gaussian_misfit(target, *self.forward(constant, self.training.there(index)))
            if self.learner.adapting == "gap":
                missed = (masked - full).clamp(min=0)
            else:
                missed = torch.linalg.vector_norm(mean - target, dim=-1)
            weight = settings["penalty"] * torch.exp(-missed)
        length = chances.sum(-1) - float(self.own is not None)
        loss = fitted + masked + weight * length + self.learner.settling * odds.square().mean(-1)
        values = {"forward": fitted.mean(), "masked": masked.mean(), "full": full.mean(), "length": length.mean()}
        return loss.mean(1).sum(), values

    def _embed(self, index: Tensor) -> Tensor:
        embedded: Tensor = self.forward.embedding(self.training.rows.network_inputs(index))
        return embedded

    def _odds(self, index: Tensor) -> Tensor:
        """Ask h: (groups, rows, factors)."""
        odds: Tensor = self.binary(self.training.rows.network_inputs(index), self.training.rows.there(index))
        return odds

    def _chances(self, odds: Tensor, index: Tensor) -> Tensor:
        """Return the same as probabilities: 1 for the outcome's own factor and 0 for absent ones."""
        return torch.where(self.alone > 0, 1.0, torch.sigmoid(odds)) * self.training.there(index)

    def _mix(self, chances: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw masks that f learns under, and masks that h has a gradient through."""
        if self.learner.mixing == "soft":
            return chances.detach(), chances
        noise = torch.rand(chances.shape, device=chances.device, generator=generator)
        drawn = (noise < chances).float()
        mask = drawn * chances if self.learner.mixing == "bernoulli" else drawn + chances - chances.detach()
        rows = torch.rand(*chances.shape[:-1], 1, device=chances.device, generator=generator)
        return torch.where(rows < self.learner.sharp, drawn, mask.detach()), mask

    def _misfit(
        self, embedded: Tensor, mask: Tensor, index: Tensor, settings: Settings, generator: torch.Generator
    ) -> Tensor:
        """Measure f's misfit, (groups, rows); some rows are under the full mask or the own factor's alone instead."""
        which = torch.rand(*index.shape, 1, device=index.device, generator=generator)
        full, alone = settings["full"], settings["full"] + settings["alone"]
        shown = torch.where(which < full, 1.0, torch.where(which < alone, self.alone, mask)) * self.training.there(
            index
        )
        return gaussian_misfit(self.training.surprises.target[index], *self.forward(embedded, shown))

    # -- the end -----------------------------------------------------------------------------------

    @torch.no_grad()
    def finish(self, position: int) -> None:
        """Cut one replica's networks out, and look at held-out rows for what went wrong."""
        training, replica = self.training, self.training.replicas[position]
        nets = training.networks_of(position, ("forward", "binary"))
        held = training.take_held_out_rows(position, HELD)
        bits = torch.cat([_bits(nets, block) for block in held.blocks()])
        doubts = [_doubts(nets, block) for block in held.blocks()]
        error, misfit, deviation = (torch.cat([d[name] for d in doubts]).cpu() for name in ("error", *WORST))
        gap = torch.cat([self._gap(nets, block) for block in held.blocks()])
        found = (bits > self.learner.threshold).float().mean(dim=0).tolist()
        shares = {name: found[k] for k, name in enumerate(replica.train.factors) if k != self.own}
        learned = {
            "threshold": self.learner.threshold,
            "events": training.surprises.share[position],
            "worst_misfit": float(torch.quantile(misfit, BADLY)),
            "worst_deviation": float(torch.quantile(deviation, BADLY)),
            "undecided": float(((bits > 0.1) & (bits < 0.9)).float().mean()),
            "held_error": float(error.mean()),
            "gap": float(gap.mean()),
            "shares": shares,
        }
        notes = diagnose(
            shares=shares,
            full_error=float(error.mean()),
            blind_error=float((held.target - held.target.median(dim=0).values).abs().mean()),
            stopped=training.session.stopped,
        )
        encoder = training.encoder_of(position)
        history = [] if training.session.trainer is None else training.session.trainer.history
        replica.learner.finish(replica, nets, learned, history, notes, encoder)

    def _gap(self, nets: Nets, block: Batch) -> Tensor:
        """Measure, (rows,), how much worse f does by its binaries than seeing all, to judge penalties unlabelled."""
        found = torch.where(self.alone > 0, 1.0, (_bits(nets, block) > self.learner.threshold).float()) * block.present
        model = find_network(nets, "forward", GaussianModel)
        embedded = model.embedding(block.network_inputs)
        misfit = [gaussian_misfit(block.target, *model(embedded, m.unsqueeze(0)))[0] for m in (found, block.present)]
        return misfit[0] - misfit[1]


@contextmanager
def coarse_products() -> Iterator[None]:
    """Multiply matrices with ten bits of mantissa on CUDA (TF32): far finer than `floor`, several times as fast."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _bits(nets: Nets, batch: Batch) -> Tensor:
    """Ask h: (rows, factors)."""
    return torch.sigmoid(find_network(nets, "binary", BitNetwork)(batch.network_inputs, batch.present.unsqueeze(0))[0])


def _doubts(nets: Nets, batch: Batch) -> dict[str, Tensor]:
    """Measure how f does when it sees everything, and how well it expects to do: (rows,) each."""
    model = find_network(nets, "forward", GaussianModel)
    mean, deviation = model(model.embedding(batch.network_inputs), batch.present.unsqueeze(0))
    return {
        "error": (mean - batch.target).abs().mean(-1)[0],
        "worst_misfit": gaussian_misfit(batch.target, mean, deviation)[0],
        "worst_deviation": deviation.mean(-1)[0],
    }


def _to_array(parts: Iterable[Tensor]) -> Array:
    return np.asarray(torch.cat(list(parts)).cpu().numpy())
