"""What experiments about `jaci-em` in every domain share: trained once, each looks at it in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..data.transitions import Transitions
from . import learned
from .learned import DOMAINS, fit_seeds, paper_frames, record_domain

if TYPE_CHECKING:
    from ..learn.learner import Learner

METHOD = "jaci-em"


@dataclass(frozen=True)
class Arguments:
    """Which domains, how much of them, and how long."""

    domains: tuple[str, ...] = DOMAINS
    seeds: tuple[int, ...] = tuple(range(5))
    frames: int | None = None  # None: the paper's
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One domain with one seed."""

    domain: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    ("1-in", "3-in", "tau-1"), seeds=(0,), frames=20_000, options={"steps": 800, "distil_steps": 400, "width": 64}
)
QUICK = Arguments(("1-in",), seeds=(0,), frames=5000, options={"steps": 200, "distil_steps": 100, "width": 32})
TINY = Arguments(("1-in",), seeds=(0,), frames=2000, options={"steps": 20, "distil_steps": 10, "width": 16})


def pieces(arguments: Arguments) -> list[Piece]:
    """List every domain with every seed."""
    return [Piece(domain, seed) for domain in arguments.domains for seed in arguments.seeds]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Say how much is recorded, and options that are not the method's own."""
    return {"frames": arguments.frames or paper_frames(piece.domain), "options": dict(arguments.options)}


def uses(piece: Piece) -> tuple[str, ...]:
    """Name the parts that a result depends on."""
    return learned.uses(METHOD, piece.domain)


def train_seeds(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[tuple[Learner, Transitions]]:
    """Train the learner of each piece, and record transitions apart; kept for other experiments."""
    domain, frames = pack[0].domain, arguments.frames or paper_frames(pack[0].domain)
    return _train_seeds(domain, tuple(piece.seed for piece in pack), frames, device, tuple(arguments.options.items()))


@lru_cache(maxsize=len(DOMAINS))
def _train_seeds(
    domain: str, seeds: tuple[int, ...], frames: int, device: str, options: tuple[tuple[str, Any], ...]
) -> list[tuple[Learner, Transitions]]:
    recorded = [record_domain(domain, seed, frames) for seed in seeds]
    learners, _ = fit_seeds(METHOD, seeds, [train for train, _ in recorded], device, dict(options))
    return [(learner, test) for learner, (_, test) in zip(learners, recorded, strict=True)]
