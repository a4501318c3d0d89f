"""The preimages of a learned mapping: which states it gives which binary, and how far that is from a true partition.

P1, invariance: states with one binary that agree on the chosen factors must agree on the outcome. For every state its
nearest neighbour under the same binary is looked at, in the space of the chosen factors.

P2, necessity: a chosen factor must matter. Its values are replaced by those of other states while all other factors
stay as they were, and the learner's own forward model says whether the outcome would change (the paper's
alpha-necessity, sampled, with all others as the witness).

P3, minimality: the total cost, beside that of choosing nothing, everything, and the truth where it is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..data import Transitions
from ..errors import quote
from .errors import LearnError
from .methods.paper_networks import GaussianModel
from .training.layers import beside_own
from .training.networks import MaskedModel

if TYPE_CHECKING:
    from .learner import Learner

Array = np.ndarray[Any, Any]
BLOCK = 1000  # rows whose distances are held at once
REPLACED = 16  # values tried in a chosen factor's place
NEEDED = 0.1  # share of them that must change the outcome: fewer are "hardly ever"
PRINTED = 12  # binaries in a table


@dataclass(frozen=True)
class LearnedPreimage:
    """The states that are given one binary: a digit for each factor, in the recording's order."""

    binary: str
    chosen: tuple[str, ...]  # besides the outcome's own factor
    states: int
    share: float
    cost: int  # of each state: how many are chosen
    compared: int  # states whose nearest neighbour agrees on the chosen factors
    violations: int  # of these, those whose outcome differs (P1)


@dataclass(frozen=True)
class FactorNecessity:
    """For one factor: states looked at in which it was chosen, and those in which replacing it changes nothing (P2)."""

    states: int
    violations: int


@dataclass(frozen=True)
class LearnedPreimages:
    """What `learner.preimages(data)` gives; costs are means over the states, the outcome's own factor being free."""

    factors: tuple[str, ...]
    preimages: tuple[LearnedPreimage, ...]  # largest first
    necessity: Mapping[str, FactorNecessity] | None  # None: the method has no forward model
    cost: float
    never: float
    always: float
    truth: float | None
    states: int
    tolerance: float
    outcome_tolerance: float

    @property
    def compared(self) -> int:
        """States whose nearest neighbour agrees on the chosen factors."""
        return sum(one.compared for one in self.preimages)

    @property
    def p1_violations(self) -> int:
        """Of these, those whose outcome differs."""
        return sum(one.violations for one in self.preimages)

    @property
    def p2_violations(self) -> int | None:
        """Chosen factors that hardly ever matter, over the states looked at."""
        return None if self.necessity is None else sum(one.violations for one in self.necessity.values())

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        needed = self.necessity
        return plain | {
            "factors": list(self.factors),
            "preimages": [dataclasses.asdict(one) | {"chosen": list(one.chosen)} for one in self.preimages],
            "necessity": None if needed is None else {name: dataclasses.asdict(one) for name, one in needed.items()},
            "compared": self.compared,
            "p1_violations": self.p1_violations,
            "p2_violations": self.p2_violations,
        }

    def __str__(self) -> str:
        lines = [f"{'binary':<22} {'states':>8} {'share':>7} {'cost':>5} {'compared':>9} {'P1 broken':>10}  chosen"]
        for one in self.preimages[:PRINTED]:
            digits = one.binary if len(one.binary) <= 22 else one.binary[:21] + "…"
            named = ", ".join(one.chosen) or "-"
            lines.append(
                f"{digits:<22} {one.states:>8} {one.share:>7.1%} {one.cost:>5} {one.compared:>9} {one.violations:>10}"
                f"  {named if len(named) <= 40 else named[:39] + '…'}"
            )
        if len(self.preimages) > PRINTED:
            lines.append(f"and {len(self.preimages) - PRINTED} more")
        broken = f"P1: {self.p1_violations} of {self.compared} states compared differ from their neighbour"
        if self.necessity is None:
            lines.append(f"{broken}. P2: not known, for the method has no forward model.")
        else:
            looked = sum(one.states for one in self.necessity.values())
            lines.append(f"{broken}. P2: {self.p2_violations} of {looked} chosen factors hardly ever matter.")
        truth = "" if self.truth is None else f", truth {self.truth:.3f}"
        lines.append(f"cost {self.cost:.3f} a state; never {self.never:.3f}, always {self.always:.3f}{truth}")
        return "\n".join(lines)


def learned_preimages(
    learner: Learner,
    data: Transitions,
    *,
    tolerance: float = 0.2,
    outcome_tolerance: float | None = None,
    samples: int = 5000,
    seed: int = 0,
    hindsight: bool = False,
) -> LearnedPreimages:
    """Group states by the binary that a fitted learner gives them, and count violations of P1 and P2.

    States agree where every number of the chosen factors, as the learner standardises them, is within `tolerance`;
    outcomes differ where one is off by more than `outcome_tolerance` (by default twice that), in spreads of the
    outcome. At most `samples` states of each binary are looked at. `hindsight` asks `explain` instead of `predict`.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> learned_preimages(Never().fit(data), data).preimages[0].binary
    '01'
    """
    apart = 2 * tolerance if outcome_tolerance is None else outcome_tolerance
    for name, value in (("tolerance", tolerance), ("outcome_tolerance", apart)):
        if not value > 0:
            raise LearnError(f"The '{name}' of preimages must be positive. Got {quote(value)} instead.")
    if not isinstance(samples, int) or samples < 2:
        raise LearnError(f"The 'samples' of preimages must be an integer of at least 2. Got {quote(samples)} instead.")
    chosen = learner.explain(data) if hindsight else learner.predict(data)
    generator = np.random.default_rng(seed)
    encoded = learner.encoder_.encode(data)
    own = learner.encoder_.own
    others = [k for k in range(len(data.factors)) if k != own]
    binaries, which = np.unique(chosen, axis=0, return_inverse=True)
    found = []
    for position, binary in enumerate(binaries):
        rows = np.flatnonzero(which.reshape(-1) == position)
        looked = rows if len(rows) <= samples else generator.choice(rows, samples, replace=False)
        inputs = encoded.inputs[looked][:, binary].reshape(len(looked), -1)
        compared, violations = _neighbours(inputs, encoded.target[looked], tolerance, apart)
        found.append(
            LearnedPreimage(
                binary="".join("01"[int(bit)] for bit in binary),
                chosen=tuple(data.factors[k] for k in others if binary[k]),
                states=len(rows),
                share=len(rows) / len(data),
                cost=int(binary[others].sum()),
                compared=compared,
                violations=violations,
            )
        )
    present = np.ones(chosen.shape, dtype=bool) if data.mask is None else data.mask
    return LearnedPreimages(
        factors=data.factors,
        preimages=tuple(sorted(found, key=lambda one: (-one.states, one.binary))),
        necessity=_necessity(learner, data, chosen, apart, max(samples // 5, 1), generator),
        cost=_cost(chosen, others),
        never=0.0,
        always=_cost(present, others),
        truth=None if data.cause is None else _cost(data.cause, others),
        states=len(data),
        tolerance=tolerance,
        outcome_tolerance=apart,
    )


def _cost(chosen: Array, others: list[int]) -> float:
    return float(chosen[:, others].sum(axis=1).mean())


def _neighbours(inputs: Array, outcome: Array, tolerance: float, apart: float) -> tuple[int, int]:
    """Find states whose nearest neighbour agrees with them, and those of them whose outcome does not."""
    if len(inputs) < 2:
        return 0, 0
    compared = violations = 0
    squares = (inputs**2).sum(axis=1)
    for at in range(0, len(inputs), BLOCK):
        part = slice(at, at + BLOCK)
        distance = squares[None] - 2 * inputs[part] @ inputs.T
        distance[np.arange(len(distance)), np.arange(at, at + len(distance))] = np.inf
        nearest = distance.argmin(axis=1)
        agree = (np.abs(inputs[part] - inputs[nearest]) <= tolerance).all(axis=1)
        differ = (np.abs(outcome[part] - outcome[nearest]) > apart).any(axis=1)
        compared += int(agree.sum())
        violations += int((agree & differ).sum())
    return compared, violations


def _necessity(
    learner: Learner, data: Transitions, chosen: Array, apart: float, most: int, generator: np.random.Generator
) -> Mapping[str, FactorNecessity] | None:
    model = learner.nets_.get("forward")
    if not isinstance(model, MaskedModel | GaussianModel):
        return None
    found = {}
    for k, factor in enumerate(data.factors):
        rows = np.flatnonzero(chosen[:, k])
        if k == learner.encoder_.own or not len(rows):
            continue
        rows = rows if len(rows) <= most else generator.choice(rows, most, replace=False)
        here = np.arange(len(data)) if data.mask is None else np.flatnonzero(data.mask[:, k])
        before = _outcomes(learner, model, data.subset(rows))
        # The factor is replaced in the data, not in what networks see, where other columns depend on it.
        many = np.repeat(rows, REPLACED)
        state = np.array(data.state[many])
        state[:, k] = data.state[generator.choice(here, len(many)), k]
        after = _outcomes(learner, model, data.subset(many).replaced(state=state))
        changed = (np.abs(after.reshape(len(rows), REPLACED, -1) - before[:, None]) > apart).any(axis=2)
        found[factor] = FactorNecessity(len(rows), int((changed.mean(axis=1) < NEEDED).sum()))
    return MappingProxyType(found)


@torch.no_grad()
def _outcomes(learner: Learner, model: MaskedModel | GaussianModel, data: Transitions) -> Array:
    """Predict what the model expects, seeing all factors; the mean over its groups."""
    weight = next(model.parameters())
    parts = []
    for block in learner.encoder_.encode(data).blocks(BLOCK):
        inputs = torch.as_tensor(block.inputs).to(weight.device)
        there = np.ones(inputs.shape[:2]) if block.present is None else block.present
        masks = torch.as_tensor(there).to(weight.device, torch.float32)
        groups = weight.shape[0]
        seen = beside_own(inputs, learner.encoder_.own).expand(groups, -1, -1, -1)
        shown = masks.expand(groups, *masks.shape)
        if isinstance(model, GaussianModel):
            predicted, _ = model(model.embedding(seen), shown)
        else:
            predicted = model(model.embedding(seen), shown.unsqueeze(1))[:, 0]
        parts.append(predicted.mean(0).cpu().numpy())
    return np.concatenate(parts)
