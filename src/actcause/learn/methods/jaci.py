"""JACI as one gets it without asking for more: by masks, and where its own check finds that wanting, by exchange.

    masks      `MaskJACI`: sharp where relations switch on and off, as in the paper's domains, and quick
    check      on held-out rows, without a label: how many of the surprising rows get no cause, or not all of theirs
                   (`training/omissions.py`), and how far what the state says is from what the outcome shows; a factor
                   that stays the same throughout an episode and whose exchange makes no prediction worse is idle, and
                   never named (`training/constants.py`); what fails by far is not learned to its end
    exchange   `ExchangeJACI`, only where the check fails, as it always does for an outcome that is a category: equal
                   bodies, noise, robots; the network learned by masks may still answer, if it comes as near to the
                   judgements as any
    choice     the one of the two that does better in the same check

The bounds of the check are those from which on a note would be due (`training/diagnostics.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from ..training import forward
from ..training.attention import HEADS
from ..training.constants import find_idle
from ..training.diagnostics import STOPPED, diagnose_events, diagnose_model, find_ties, measure_doubt
from ..training.omissions import measure_omitted
from .em import MaskEM
from .exchange import ExchangeJACI
from .exchange_training import ExchangeTraining
from .mask_jaci import MaskJACI

if TYPE_CHECKING:
    from torch import nn

    from ..learner import Array, Learner
    from ..training.encoding import Encoded, Encoder
    from ..training.loop import Stage
    from ..training.replica import Replica
    from ..training.session import Session

MASKS, EXCHANGE = MaskJACI.method, ExchangeJACI.method
CHECK = "check"  # what the course of training calls it
HOPELESS = 2.0  # times what may be left open: nothing that is learned from such a search is worth remembering
UNFIT = 1000.0  # the doubt where an outcome is a category: masks are judged by how far off they are, and none is near
OFFERED = "masks"  # the network learned by masks, which may answer where the rest is learned by exchange


@final
@dataclass(kw_only=True)
class JACI(MaskJACI):
    """Actual causes of observed transitions, with nothing to set: the default (`jaci-auto`).

    Learns as `MaskJACI`, whose options it takes, and checks the result on held-out rows. Where more than a tenth of
    the surprising rows get no cause, what the state says disagrees with what the outcome shows, or the model does no
    better than a constant, it learns once more as `ExchangeJACI` (of the options, with `steps`, `distil_steps`, `batch`
    and `width`), and keeps the better of the two; `learned_["learned_by"]` says which.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000, seed=3)
    >>> learner = JACI(steps=50, distil_steps=20, width=16).fit(data)
    >>> learner.predict(data).shape
    (1000, 2)
    """

    method: ClassVar[str] = "jaci-auto"
    summary: ClassVar[str] = "by masks; where its own check fails, by exchange (ours, the default)"
    revisions: ClassVar[tuple[str, ...]] = (
        "first recorded revision",
        "what is constant within episodes and makes no difference in others is not named; more notes",
        "learned by exchange, explain says what predict says where the outcome decides nothing",
        "revision 3 of learning by exchange; what its own state explains by exchange is not unexplained",
        "revision 4 of learning by exchange; where events are common, less disagreement is borne; a network learned by "
        "masks may answer where the rest is learned by exchange",
        "answers by masks that leave out what the outcome hangs on are doubted; what fails by far is not remembered; "
        "revision 5 of learning by exchange",
        "revision 6 of learning by exchange",
        "revision 7 of learning by exchange",
    )

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        if hasattr(self, "learned_"):
            found = self._make(self.learned_["learned_by"]).networks(encoder, replicas)
            if self.learned_["kept"] == OFFERED:
                found[OFFERED] = self._make(MASKS).networks(encoder, replicas)["binary"]
            return found
        masks = self._make(MASKS).networks(encoder, replicas)  # drawn first: as `MaskJACI` alone draws them
        return self._make(EXCHANGE).networks(encoder, replicas) | masks

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learners = [replica.learner for replica in replicas if isinstance(replica.learner, cls)]
        for learner in learners:
            learner._size(replicas[0].train)
            vars(learner).pop("learned_", None)  # of an earlier fit
        training = _Both(learners, replicas, session)
        session.train(training.shared.nets, training.stages())
        training.finish()

    def _make(self, by: str) -> MaskJACI | ExchangeJACI:
        """Make a learner of one of the two ways, with these options."""
        if by == MASKS:
            one = MaskJACI(**self.settings())
            one.sizes_ = self.sizes_ if hasattr(self, "sizes_") else self.learned_["sizes"]
            return one
        common = {name: getattr(self, name) for name in ("seed", "device", "held_out", "classes", "categorical")}
        given = {name: getattr(self, name) for name in ("steps", "distil_steps", "batch", "width")}
        if self.width is not None:
            given["width"] = -(-self.width // HEADS) * HEADS
        return ExchangeJACI(**common, **{name: value for name, value in given.items() if value is not None})

    # -- answers -----------------------------------------------------------------------------------

    def _chosen(self) -> MaskJACI | ExchangeJACI:
        """Return the learner whose result was kept."""
        one = self._make(self.learned_["learned_by"])
        one.encoder_, one.nets_, one.learned_ = self.encoder_, self.nets_, self.learned_
        return one

    def _probabilities(self, encoded: Encoded) -> Array:
        return self._silence(self._chosen()._probabilities(encoded))

    def _hindsight(self, encoded: Encoded) -> Array:
        return self._silence(self._chosen()._hindsight(encoded))

    def _silence(self, found: Array) -> Array:
        """Name no factor that is idle."""
        idle = [self.encoder_.layout.index(name) for name in self.learned_.get("idle", ())]
        if idle:
            found = found.copy()
            found[:, idle] = 0
        return found

    def _unsure(self, encoded: Encoded, hindsight: bool) -> Array:
        return self._chosen()._unsure(encoded, hindsight)


class _Both:
    """One training in both ways: they share rows and the search for surprising ones; the second may be left out."""

    def __init__(self, learners: Sequence[JACI], replicas: Sequence[Replica], session: Session) -> None:
        self.learners, self.replicas, self.session = learners, replicas, session
        self.shared = forward.Training(replicas, session)
        masked, exchanged = (
            [replace(replica, learner=learner._make(by)) for replica, learner in zip(replicas, learners, strict=True)]
            for by in (MASKS, EXCHANGE)
        )
        first = masked[0].learner
        assert isinstance(first, MaskJACI)
        self.masks = MaskEM(first, masked, session, self.shared)
        self.exchange = ExchangeTraining(exchanged[0].learner, exchanged, session, self.shared)
        self.doubts: list[float] = []  # about each replica, known after the stages by masks

    def stages(self) -> list[Stage]:
        *first, search, last = self.masks.stages()
        again = [replace(stage, wanted=self._is_doubtful) for stage in self.exchange.stages()]
        return [
            *first,
            replace(search, end=self._check_search),
            replace(last, end=self._check_masks, wanted=lambda: not self._is_hopeless()),
            *again,
        ]

    def _is_doubtful(self) -> bool:
        return any(doubt > 1 for doubt in self.doubts)

    def _is_hopeless(self) -> bool:
        return all(doubt > HOPELESS for doubt in self.doubts)

    def _check_search(self) -> None:
        """Check what the search by masks left open, which remembering it would not mend."""
        self.masks.find_posteriors()
        self.doubts = self._recall("open", lambda position: self._check(position, self.masks, left_open=True))

    def _check_masks(self) -> None:
        """Check what was learned by masks."""
        self.doubts = self._recall("doubt", lambda position: self._check(position, self.masks))

    def _recall(self, name: str, measure: Callable[[int], float]) -> list[float]:
        """Measure something of each replica, or in a training that was resumed recall what was measured."""
        history = self.history
        names = [f"{name}{position}" for position in range(len(self.replicas))]
        told = next((moment for moment in history if names[0] in moment), None)
        if told is None:
            told = {each: measure(position) for position, each in enumerate(names)}
            history.append({"stage": CHECK, "step": history[-1]["step"] if history else 0, **told})
        return [told[each] for each in names]

    def _check(
        self, position: int, training: MaskEM | ExchangeTraining, stopped: bool = False, left_open: bool = False
    ) -> float:
        """Finish one replica in one way, and say how far it is from what may be left open: up to 1 all is well.

        With `left_open` what the state says may disagree with the outcome, and the model may err.
        """
        replica = training.replicas[position]
        training.finish(position, replica, self.history, stopped)
        learner = replica.learner
        assert isinstance(learner, MaskJACI | ExchangeJACI)
        idle = find_idle(replica.train, replica.held, replica.encoder.classes, learner.predict_outcome)
        if isinstance(learner, MaskJACI):
            learner.learned_["unexplained"] = learner.measure_unexplained(replica.held, idle)
        found = learner.learned_
        found["idle"] = idle
        found["event_error"] = self._measure_events(position, learner)
        named, surprising = learner.explain(replica.held), self._find_surprising(position)
        found["omitted"] = measure_omitted(replica.held, named, surprising, learner.predict_outcome)
        if isinstance(learner, MaskJACI) and self.exchange.columns.categorical:
            return UNFIT
        told = {**found, "disagreement": 0.0} if left_open else found
        if isinstance(training, MaskEM) and not left_open:
            told = {**found, "missed": training.missed[position]}
        return measure_doubt(told, rare=bool(self.shared.surprises.rare[position]))

    def _measure_events(self, position: int, learner: MaskJACI | ExchangeJACI) -> float:
        """Measure the error on surprising held-out rows, seeing what is needed, as a share of that by the own state."""
        replica, surprises = self.replicas[position], self.shared.surprises
        surprising = self._find_surprising(position)
        if not surprising.any():
            return 0.0
        if isinstance(learner, MaskJACI):
            return learner.measure_events(replica.held.subset(surprising))
        alone = surprises.miss_alone(position, replica.held_encoded).cpu().numpy()[surprising]
        spreads = surprises.scale[position].cpu().numpy()  # of the rows shown, in which learners measure
        predicted, came = learner.predict_outcome(replica.held.subset(surprising))
        return float((np.abs(predicted - came) * spreads).mean() / max(alone.mean(), 1e-9))

    def _find_surprising(self, position: int) -> Array:
        found = self.shared.surprises.find_surprising(position, self.replicas[position].held_encoded)
        return np.asarray(found.cpu().numpy())

    @property
    def history(self) -> list[dict[str, Any]]:
        return [] if self.session.trainer is None else self.session.trainer.history

    def finish(self) -> None:
        """Give every learner the better of its two results; where time ran out, the first."""
        best = [self._choose(position) for position in range(len(self.replicas))]
        late = [STOPPED] if self.session.stopped and self.doubts else []  # while it learned by exchange
        for learner, replica, (by, found) in zip(self.learners, self.replicas, best, strict=True):
            notes = [*late, *found.notes_]
            if by == MASKS:
                shares = {"half_explained": 0.0, **found.learned_}
                ties = find_ties(found.explain(replica.held), replica.train.factors, replica.encoder.own)
                notes += diagnose_events(shares, replica.encoder.classes, replica.train.factors, ties)
            notes += diagnose_model(found.learned_)
            shares = {
                name: 0.0 if name in found.learned_["idle"] else s for name, s in found.learned_["shares"].items()
            }
            sizes = {"sizes": dict(learner.sizes_)} if found.learned_["kept"] == OFFERED else {}
            learned = {**found.learned_, **sizes, "shares": shares, "learned_by": by}
            learner.finish(replica, found.nets_, learned, self.history, notes, found.encoder_)

    def _choose(self, position: int) -> tuple[str, Learner]:
        """Choose the way that serves a replica better, with what was learned in it."""
        stopped = self.session.stopped
        doubt = self._check(position, self.masks, stopped and not self.doubts)
        first = self.masks.replicas[position].learner
        self.exchange.offered[position] = {OFFERED: first.nets_["binary"]}
        if doubt > 1 and not stopped and self._check(position, self.exchange) < doubt:
            return EXCHANGE, self.exchange.replicas[position].learner
        return MASKS, first
