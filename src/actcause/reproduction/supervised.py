"""A network that is trained on the true causes: how well causes can be read off the state at all.

It has the shape of the network that answers in `jaci-exchange`, and learns from the labels of the same recording. No
learner of ours sees a label. What this network gets wrong is due to the recording and the network, not to that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..data.transitions import Transitions

if TYPE_CHECKING:
    from ..learn.training.attention import CauseModel
    from ..learn.training.encoding import Encoded
    from ..learn.training.replica import Replica

Array = np.ndarray[Any, Any]
TOLD = "told"  # its name in the records
STEPS, BATCH, WIDTH, LAYERS = 6000, 512, 64, 2
RATE, DECAY, CLIP = 5e-3, 0.3, 1.0
BLOCK = 8192
ROWS = 20_000  # that show how near factors come to each other


@dataclass(eq=False)
class SupervisedNetwork:
    """A network with the answers of a learner; it cannot use the outcome. `shift` is where its log-odds mean yes."""

    replica: Replica
    net: CauseModel
    shift: float = 0.0
    learned_: dict[str, Any] = field(default_factory=dict)
    notes_: tuple[str, ...] = ()

    def predict(self, data: Transitions) -> Array:
        """Name causes, (rows, factors)."""
        said = self.find_odds(self.replica.encoder.encode(data)) > self.shift
        if self.replica.encoder.own is not None:
            said[:, self.replica.encoder.own] = True
        return said if data.mask is None else said & data.mask

    def explain(self, data: Transitions) -> Array:
        """Name the same causes, since it does not use the outcome."""
        return self.predict(data)

    @torch.no_grad()
    def find_odds(self, encoded: Encoded) -> Array:
        """Find the log-odds of each factor, (rows, factors)."""
        device = next(self.net.parameters()).device
        parts = [self.net(*_load(part, device))[0].cpu().numpy() for part in encoded.blocks(BLOCK)]
        return np.concatenate(parts)


def train_on_causes(data: Transitions, seed: int, device: str, steps: int = STEPS) -> SupervisedNetwork:
    """Train a network on the labels of a recording; held-out rows decide from which log-odds on it says yes."""
    from ..learn import Never
    from ..learn.methods.exchange_training import SHIFTS
    from ..learn.training.attention import CauseModel
    from ..learn.training.networks import find_device
    from ..learn.training.replica import prepare_replica

    replica = prepare_replica(Never(seed=seed), data)
    torch.manual_seed(seed)
    net = CauseModel(1, replica.encoder, width=WIDTH, layers=LAYERS).to(find_device(device))
    network = SupervisedNetwork(replica, net)
    caused = _learn(network, seed, steps)
    truth = np.asarray(replica.held.cause)
    scored = [k for k in range(len(data.factors)) if k != replica.encoder.own]
    odds, natural = network.find_odds(replica.held_encoded)[:, scored], float(np.log((1 - caused) / caused))
    tried = {share * natural: _measure_both(odds > share * natural, truth[:, scored]) for share in SHIFTS}
    network.shift = min(tried, key=lambda shift: tried[shift])
    return network


def _learn(network: SupervisedNetwork, seed: int, steps: int) -> float:
    """Learn from as many rows with a cause as without one; return the share of all rows that have a cause."""
    from ..learn.training.batches import Sampler
    from ..learn.training.loop import LossValues, Settings, Stage, Trainer, one_cycle

    replica, net = network.replica, network.net
    device = next(net.parameters()).device
    inputs, there = _load(replica.encoded, device)
    rows, present = inputs[0], None if there is None else there[0]
    every = slice(0, None, max(1, len(rows) // ROWS))
    net.tokens.fit(0, rows[every], None if present is None else present[every], replica.encoder.class_index)
    label = torch.as_tensor(np.array(replica.train.cause), device=device).float()
    scored = torch.tensor([k for k in range(label.shape[1]) if k != replica.encoder.own], device=device)
    label = label[:, scored]
    event = label.any(dim=1)
    pools = [pool for pool in (torch.nonzero(event)[:, 0], torch.nonzero(~event)[:, 0]) if len(pool)]

    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        odds = net(rows[index], None if present is None else present[index])
        missed = functional.binary_cross_entropy_with_logits(odds.index_select(-1, scored), label[index])
        return missed, {"missed": missed}

    stage = Stage(
        TOLD, steps, loss, lambda: Sampler([pools], BATCH, [seed], TOLD, device), {TOLD: 1.0}, one_cycle(RATE),
        weight_decay={TOLD: DECAY}, clip=CLIP, muon=True,
    )  # fmt: skip
    Trainer({TOLD: net}, seed, device).run([stage])
    return float(event.float().mean())


def _load(encoded: Encoded, device: torch.device) -> tuple[Tensor, Tensor | None]:
    there = None if encoded.present is None else torch.as_tensor(encoded.present, device=device).float().unsqueeze(0)
    return torch.as_tensor(encoded.inputs, device=device).unsqueeze(0), there


def _measure_both(said: Array, truth: Array) -> float:
    """Measure the share of wrong answers and the balanced one, in one number."""
    from ..learn.training.hindsight import measure_distance

    return measure_distance(torch.as_tensor(said), torch.as_tensor(np.array(truth, dtype=bool))).both
