"""Which factors suffice for an outcome: the paper's alpha-sufficiency, simulated in a learned model.

Two questions are put to each row, whose outcome is the one that came, or the one that is likely to come:

- Does the outcome's own state suffice? It does where the outcome is nearly as likely given the own state alone as
  given all factors, or given that part of its prediction which is as sharp as theirs and the weightiest of such parts;
  or where it is what usually comes of this own state when all other factors are exchanged for those of other rows.
- If not, which factors do? A set suffices as far as the outcome comes again with all factors outside of it exchanged.
  The smallest set is looked for that does: a factor is in it if without it the outcome would come too rarely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from .attention import OutcomeModel
from .density import Density, OutcomeColumns, OutcomeValues
from .encoding import Encoder
from .networks import Nets, find_network
from .other_rows import OtherRows

NEARLY = math.log(0.5)  # log-likelihood, beside that given all factors, from which on an outcome is nearly as likely
RARE = 0.03  # what an own state predicts less often than this is not what it predicts
SHARP = 2.0  # spreads of all factors' prediction up to which the own state's is as sharp
SAME = 0.3  # agreement from which on two outcomes count as the same
TOLERANCE = 0.07  # spreads of the outcome that make no difference
OFTEN = 48  # rows that all other factors are taken from
USUAL = 0.7  # an outcome is usual if none comes more often, but for this share
RIVAL = 0.6  # what comes so often beside an outcome, as a share of how often that comes, is its rival
LEAST = 0.15  # what comes less often of an own state is not what usually comes
SPARED = 0.15  # the same where one factor alone is exchanged
TIMES = 12  # rows that factors outside of a set are taken from
ENOUGH = 0.6  # a set suffices if the outcome comes so often; a factor more has to pay for itself at this rate
NEVER = 0.01  # less often than this is never
ROUNDS = 4  # factors added or removed in search of a better set
STRIDE = 997  # between two rows that factors are taken from
GLANCE = 4  # rows that a factor is first taken from, which shows most factors to make no difference
SURE = 0.95  # the outcome comes so often if it makes none
FIRST = 16  # rows taken at first to see whether an outcome comes at all
TOGETHER = 16_384  # rows that are judged together
CACHED = 512  # rows that a model sees at once on a processor, whose caches are small
STRANGE = 0.01  # an outcome that all factors together let pass less often tells nothing: the likely one is judged


@dataclass(frozen=True)
class Judged:
    """What was found for each row."""

    binary: Tensor  # (rows, factors): 1 for the outcome's own and for every cause
    reached: Tensor  # (rows,): how often the outcome comes again with the set found; 1 where the own state suffices
    passed: Tensor  # (rows,): how well the outcome agrees with what all factors predict
    lean: Tensor  # (rows,): log-likelihood given the own state alone, beside that given all factors
    open: Tensor  # (rows,): true where the own state does not suffice
    strange: Tensor  # (rows,): true where the outcome is likely neither by all factors nor by the own state


@dataclass(frozen=True)
class Judge:
    """Judges rows by models of the whole state and of the own state, which may be several that differ in chance."""

    whole: OutcomeModel
    alone: nn.Module | None  # None where the outcome has no own factor
    columns: OutcomeColumns
    inputs: Tensor  # rows to take other factors from
    present: Tensor | None
    own: int | None
    noise: float  # how far two predictions of one outcome lie apart, as a share of the spread predicted
    models: int

    @classmethod
    def of(cls, nets: Nets, encoder: Encoder, noise: float, models: int, masked: bool) -> Judge:
        """Judge by networks of one replica: `whole`, `alone`, `others`; if `masked`, factors may be absent."""
        others = find_network(nets, "others", OtherRows)
        return cls(
            whole=find_network(nets, "whole", OutcomeModel),
            alone=None if encoder.own is None else nets["alone"],
            columns=OutcomeColumns.of(encoder),
            inputs=others.inputs[0],
            present=others.present[0] if masked else None,
            own=encoder.own,
            noise=noise,
            models=models,
        )

    @torch.no_grad()
    def judge(self, inputs: Tensor, present: Tensor | None, target: Tensor | None, seed: int = 0) -> Judged:
        """Judge rows by the outcome that came, or where `target` is None by the one that is likely to come."""
        parts = []
        for at in range(0, len(inputs), TOGETHER // self.models):
            part = slice(at, at + TOGETHER // self.models)
            there = None if present is None else present[part]
            rows = _Rows.of(self, inputs[part], there, None if target is None else target[part], seed)
            parts.append(rows.judge_all())
        return Judged(*(torch.cat([getattr(part, field.name) for part in parts]) for field in fields(Judged)))

    def predict(self, inputs: Tensor, present: Tensor | None) -> Density:
        """(models, rows, variants, factors, columns) to densities (models, rows, variants, …)."""
        shape = inputs.shape[:3]
        rows, there = inputs.flatten(1, 2), None if present is None else present.flatten(1, 2)
        size = rows.shape[1] if rows.is_cuda else CACHED
        parts = [
            self.whole(rows[:, at : at + size], None if there is None else there[:, at : at + size])
            for at in range(0, rows.shape[1], size)
        ]
        return self.columns.read(torch.cat(parts, dim=1).reshape(*shape, -1))


@dataclass(frozen=True)
class _Rows:
    """Rows with the outcome that they are judged by, as each model sees it."""

    judge: Judge
    inputs: Tensor  # (rows, factors, columns)
    present: Tensor | None
    outcome: OutcomeValues  # (models, rows, …)
    tolerance: Tensor | None  # (models, rows, features)
    agreed: Tensor  # (models, rows): how well the row itself agrees with it
    evidence: Tensor  # (rows,): as `lean`, or if it is larger by the best part of what the own state predicts
    passed: Tensor  # (rows,)
    lean: Tensor  # (rows,)
    strange: Tensor  # (rows,)
    start: Tensor  # (rows,): where among the other rows each begins to take factors

    @classmethod
    def of(cls, judge: Judge, inputs: Tensor, present: Tensor | None, target: Tensor | None, seed: int) -> _Rows:
        seen = inputs.expand(judge.models, -1, -1, -1).unsqueeze(2)
        there = None if present is None else present.expand(judge.models, -1, -1).unsqueeze(2)
        density = judge.predict(seen, there).map(lambda each: each[:, :, 0])
        passed = inputs.new_ones(len(inputs))
        if target is None:
            outcome, spread = density.likeliest()
        else:
            came = judge.columns.outcome(target.expand(judge.models, -1, -1))
            each = density.agreement(came, None, 1.0)
            passed = each.mean(0)
            outcome, spread = density.likeliest(came)
            guess, guess_spread = density.likeliest()
            outcome = outcome.where(each >= STRANGE, guess)
            if spread is not None and guess_spread is not None:
                spread = torch.where((each >= STRANGE).unsqueeze(-1), spread, guess_spread)
        tolerance = None if spread is None else (judge.noise * spread).clamp(min=TOLERANCE)
        evidence = lean = inputs.new_full((len(inputs),), -math.inf)
        strange = passed < STRANGE
        if judge.alone is not None:
            limit = None if spread is None else (SHARP * spread).clamp(min=TOLERANCE)
            own = judge.columns.read(judge.alone(inputs[:, judge.own].expand(judge.models, -1, -1)))
            certain = own.sharpen(limit, judge.noise, TOLERANCE)
            given_all = density.sharpen(limit, judge.noise, TOLERANCE).log_likelihood(outcome)
            lean = (certain.log_likelihood(outcome) - given_all).mean(0)
            part = own.find_part(outcome, limit, RARE, TOLERANCE)
            fits = part.log_likelihood(outcome, judge.noise, TOLERANCE)
            evidence = torch.maximum(lean, (fits - given_all).mean(0))
            if target is not None:
                strange = strange & (own.agreement(came, None, 1.0).mean(0) < STRANGE)
        agreed = density.agreement(outcome, tolerance, judge.noise)
        start = hash_rows(inputs) + seed
        return cls(judge, inputs, present, outcome, tolerance, agreed, evidence, passed, lean, strange, start)

    def judge_all(self) -> Judged:
        count, factors = self.inputs.shape[:2]
        binary = self.inputs.new_zeros(count, factors)
        if self.judge.own is not None:
            binary[:, self.judge.own] = 1
        reached = self.inputs.new_ones(count)
        doubtful = torch.nonzero(self.evidence < NEARLY)[:, 0]
        if len(doubtful) and self.judge.own is not None:
            usual = self.pick(doubtful).find_usual(binary[doubtful], OFTEN, LEAST)
            doubtful = doubtful[~usual]
        if len(doubtful):
            binary[doubtful], reached[doubtful] = self.pick(doubtful).find_sets(binary[doubtful])
        unsettled = torch.zeros(count, dtype=torch.bool, device=binary.device)
        unsettled[doubtful] = True
        return Judged(binary, reached, self.passed, self.lean, unsettled, self.strange)

    def pick(self, index: Tensor) -> _Rows:
        """Return some of the rows."""
        return _Rows(
            self.judge,
            self.inputs[index],
            None if self.present is None else self.present[index],
            self.outcome.map(lambda each: each[:, index]),
            None if self.tolerance is None else self.tolerance[:, index],
            self.agreed[:, index],
            self.evidence[index],
            self.passed[index],
            self.lean[index],
            self.strange[index],
            self.start[index],
        )

    # -- exchanging ----------------------------------------------------------------------------------

    def exchange(self, keep: Tensor, times: int) -> Density:
        """Predict outcomes, (models, rows, times / models), with all factors but those kept taken from other rows."""
        judge = self.judge
        each = max(times // judge.models, 1)
        number = torch.arange(judge.models * each, device=keep.device).reshape(judge.models, 1, each)
        drawn = (self.start[:, None] + STRIDE * number) % len(judge.inputs)
        others = judge.inputs[drawn]
        if judge.own is not None:
            others = judge.whole.tokens.carry(others, self.inputs[:, None, judge.own])
        if self.present is not None:
            keep = torch.maximum(keep, 1 - self.present)  # what is absent stays away
        kept = keep.bool()[None, :, None, :]
        there = None
        if self.present is not None and judge.present is not None:
            there = torch.where(kept, self.present[None, :, None], judge.present[drawn])
        return judge.predict(torch.where(kept.unsqueeze(-1), self.inputs[None, :, None], others), there)

    def measure(self, keep: Tensor, times: int = TIMES) -> Tensor:
        """(rows,): how often the outcome comes again with the factors kept."""
        parts = []
        size = max(1, TOGETHER // times)
        for at in range(0, len(keep), size):
            index = torch.arange(at, min(at + size, len(keep)), device=keep.device)
            part = self.pick(index)
            parts.append(part.compare(part.exchange(keep[index], times)).mean((0, 2)))
        return torch.cat(parts)

    def compare(self, density: Density) -> Tensor:
        """(models, rows, variants): how far each variant agrees with the outcome, beside how far the row does."""
        tolerance = None if self.tolerance is None else self.tolerance.unsqueeze(2)
        agreed = density.agreement(self.outcome.map(lambda each: each.unsqueeze(2)), tolerance, self.judge.noise)
        return (agreed / self.agreed.unsqueeze(-1).clamp(min=1e-6)).clamp(max=1)

    def find_usual(self, keep: Tensor, times: int, least: float) -> Tensor:
        """(rows,), true where this outcome is what mostly comes when all but those kept are exchanged.

        No other comes much more often, and there is none, or not several, that come nearly as often: of two that come
        by turns neither is what comes by itself.
        """
        usual = torch.zeros(len(keep), dtype=torch.bool, device=keep.device)
        likely = torch.nonzero(self.measure(keep, FIRST) > NEVER)[:, 0]
        size = max(1, TOGETHER // times)
        for at in range(0, len(likely), size):
            index = likely[at : at + size]
            part = self.pick(index)
            density = part.exchange(keep[index], times)
            same = part.compare(density) > SAME
            again = same.float().mean((0, 2))
            counts = torch.stack([part.count_variant(density, k) for k in range(density.variants)], dim=-1)
            most = counts.mean(0).max(dim=-1).values
            rivals = (~same & (counts >= RIVAL * again.unsqueeze(-1))).float().mean((0, 2))
            usual[index] = (again >= least) & (again >= USUAL * most) & (rivals <= again / 2)
        return usual

    def count_variant(self, density: Density, variant: int) -> Tensor:
        """(models, rows): how often what comes of one variant comes of the others."""
        one = density.map(lambda each: each[:, :, variant : variant + 1])
        outcome, spread = one.likeliest()
        tolerance = None if spread is None else (self.judge.noise * spread).clamp(min=TOLERANCE)
        itself = one.agreement(outcome, tolerance, self.judge.noise).clamp(min=1e-6)
        agreed = (density.agreement(outcome, tolerance, self.judge.noise) / itself > SAME).float()
        others = agreed.sum(2) - agreed[:, :, variant]
        return others / (density.variants - 1)

    # -- sets of factors -----------------------------------------------------------------------------

    def find_sets(self, alone: Tensor) -> tuple[Tensor, Tensor]:
        """Find the best set of each row, and how often the outcome comes again with it."""
        needed = self.find_needed(alone)
        reached = self.reach(needed, alone)
        value = self.value(needed, reached)
        short = torch.nonzero(reached < ENOUGH)[:, 0]
        for _ in range(ROUNDS):
            if not len(short):
                break
            rows = self.pick(short)
            best, at, far = value[short], needed[short], reached[short]
            for k in self.others():
                flipped = needed[short]
                flipped[:, k] = 1 - flipped[:, k]
                if self.present is not None:
                    flipped[:, k] *= self.present[short, k]
                came = rows.reach(flipped, alone[short])
                worth = rows.value(flipped, came)
                better = worth > best
                best, far = torch.where(better, worth, best), torch.where(better, came, far)
                at = torch.where(better.unsqueeze(1), flipped, at)
            moved = best > value[short]
            value[short], needed[short], reached[short] = best, at, far
            short = short[moved & (far < ENOUGH)]
        poor = value < math.log(NEVER) + math.log(ENOUGH) * alone.sum(dim=1)  # worth less than to name nothing
        return torch.where(poor.unsqueeze(1), alone, needed), reached

    def others(self) -> list[int]:
        return [k for k in range(self.inputs.shape[1]) if k != self.judge.own]

    def find_needed(self, alone: Tensor) -> Tensor:
        """(rows, factors): the factors without which alone the outcome would come too rarely, and the own one."""
        needed = alone.clone()
        for k in self.others():
            keep = torch.ones_like(alone)
            keep[:, k] = 0
            rare = torch.nonzero(self.measure(keep, GLANCE) < SURE)[:, 0]
            rare = rare[self.pick(rare).measure(keep[rare]) < ENOUGH] if len(rare) else rare
            # A factor that would act itself, were it another, is not needed for what comes when it does not act.
            spared = self.pick(rare).find_usual(keep[rare], OFTEN, SPARED) if len(rare) else rare
            needed[rare[~spared.bool()], k] = 1
        return needed if self.present is None else torch.maximum(alone, needed * self.present)

    def reach(self, binary: Tensor, alone: Tensor) -> Tensor:
        """(rows,): how often the outcome comes again with these sets; never with none, which was judged before."""
        reached = self.measure(binary)
        rare = torch.nonzero(reached < ENOUGH)[:, 0]
        if len(rare):  # what is usual with a set is brought about by it
            usual = self.pick(rare).find_usual(binary[rare], OFTEN, LEAST)
            reached[rare[usual]] = ENOUGH
        return torch.where((binary == alone).all(dim=1), torch.zeros_like(reached), reached)

    def value(self, binary: Tensor, reached: Tensor) -> Tensor:
        """(rows,): what a set is worth; a factor more must let the outcome come more often by a factor of its own."""
        return reached.clamp(min=NEVER).log() + math.log(ENOUGH) * binary.sum(dim=1)


def hash_rows(inputs: Tensor) -> Tensor:
    """(rows,): a number for each row that follows from its values alone.

    So a row meets the same other rows whenever it is judged, and whatever rows are judged beside it.
    """
    words = inputs.contiguous().view(torch.int32).flatten(1).long()
    weights = torch.arange(1, words.shape[1] + 1, device=words.device) * 2_654_435_761
    return ((words * weights) % 2_147_483_647).sum(dim=1) % 2_147_483_647
