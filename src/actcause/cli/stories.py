"""The stories of `actcause demo`: three in which the definitions part ways, then causes learned from data alone.

Every verdict and every number is computed when it runs, but for the paper's own figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from .. import examples
from ..core.answer import Answer, Query
from ..core.compare import Opinion, compare
from ..core.definitions import DEFINITIONS
from ..core.expression import Name
from ..core.find import is_cause, partitions
from ..core.spaces.state_checks import NecessityCheck, check_necessity
from ..core.spaces.state_space import StateSpace
from ..errors import MissingExtraError
from .render import assignments, block, dim, draw_table, replay_sentence
from .render_comparison import reasons, verdict_table
from .render_partition import preimage_table

if TYPE_CHECKING:
    from ..data import Transitions
    from ..examples import Example
    from ..learn import Evaluation, Learner
    from ..learn.training.loop import TrainingProgress

LEGEND = dim(
    "cause: a cause by itself. part: no cause by itself, but together with others it makes up one. no: neither."
)
# Small enough for a demonstration; the defaults take longer and err less.
LEARNED: Mapping[str, tuple[int, dict[str, Any]]] = {
    "1-in": (60_000, {"steps": 2400, "distil_steps": 800, "width": 64, "batch": 512}),
    "block-1d": (30_000, {"steps": 1000, "distil_steps": 400, "width": 48, "batch": 256}),
}


class Story(NamedTuple):
    """A story: what is printed, and the same as a document."""

    name: str
    page: RenderableType
    document: dict[str, Any]


def opening() -> RenderableType:
    """Say what is about to be shown."""
    return Text(
        "What actually caused this? A model says how each thing follows from others, and a context how things were "
        f"this time. Below, {len(DEFINITIONS)} definitions of 'actual cause' from the literature give their answers."
    )


def compute_stories() -> Iterator[Story]:
    """Compute the three stories, one after another."""
    yield _bottle()
    yield _fire()
    yield _pusher()


def closing() -> RenderableType:
    """Say what to try next."""
    lines = (
        "actcause ask rock-throwing --event BT=1  # did Billy break it?",
        "actcause ask voting-close --responsibility  # how much was one vote?",
        "actcause partition rock-throwing  # what matters in every state",
        "actcause domains  # worlds to learn from",
        "actcause examples  # the literature's models",
    )
    return Group(*_heading("Try next"), block("\n".join(lines)))


def learn_stories(film: Path, callback: Callable[[TrainingProgress], None] | None = None) -> Iterator[Story]:
    """Find causes in recordings, without a model and without labels; an episode of the last becomes a film."""
    if find_spec("torch") is None or find_spec("safetensors") is None:
        missing = MissingExtraError("Learning causes from recordings", "learn,pictures")
        yield Story("learning", Group(*_heading("Learning from data"), Text(str(missing))), {"missing": str(missing)})
        return
    yield _tell_vectors(callback)
    yield _tell_block(film, callback)


def _tell_vectors(callback: Callable[[TrainingProgress], None] | None) -> Story:
    from ..learn import evaluate
    from ..reproduction.published import read_published_errors

    paper = round(read_published_errors()["jaci"]["1-in"] / 100, 4)
    learner, held, seconds, rows = _train("1-in", callback)
    evaluation = evaluate(learner, held)
    page = Group(
        *_heading("Learning from data: no model, no labels"),
        Text(
            f"{rows:,} transitions of two random vectors: when does a1 cause y? The truth is known, but not looked at; "
            f"JACI, by expectation-maximisation, was trained in {seconds:.0f} s. Errors on {evaluation.states:,} "
            "states of episodes that it never saw:"
        ),
        _error_table(evaluation, {"the paper's JACI": paper}),
    )
    return Story("learning", page, {"seconds": seconds, "paper": paper, **evaluation.to_json()})


def _tell_block(film: Path, callback: Callable[[TrainingProgress], None] | None) -> Story:
    from ..data import replay
    from ..envs import make
    from ..learn import evaluate

    name = "block-1d"
    learner, held, seconds, _ = _train(name, callback)
    evaluation = evaluate(learner, held)
    document = {"seconds": seconds, "film": None, **evaluation.to_json()}
    try:
        episode = replay(held, make(name), film, predicted=learner.predict(held))
        document["film"] = str(episode.path)
        arrows = "solid arrows are true causes, dashed ones those found"
        caption = f"Episode {episode.episode} is in {episode.path}: {arrows}."
    except MissingExtraError as missing:
        caption = str(missing)
    page = Group(
        *_heading("What pushed the block?"),
        Text(f"The same on a line with a pusher, a block and an obstacle, trained in {seconds:.0f} s:"),
        _error_table(evaluation, {}),
        Text(caption),
    )
    return Story("film", page, document)


def _train(name: str, callback: Callable[[TrainingProgress], None] | None) -> tuple[Learner, Transitions, float, int]:
    """Train a learner; give it, the episodes held out, the seconds it took, and the rows there were."""
    from ..data import collect
    from ..learn import JACI
    from ..learn.training.replica import split_of

    frames, options = LEARNED[name]
    data = collect(name, frames, seed=0)
    started = perf_counter()
    learner = JACI(seed=0, **options).fit(data, callback=callback)
    return learner, split_of(data, learner.held_out, learner.seed)[1], perf_counter() - started, frames


def _error_table(evaluation: Evaluation, others: Mapping[str, float]) -> RenderableType:
    trivial = {"never": "saying never", "always": "saying always", "rate": "guessing at the true rate"}
    errors = {"learned here": evaluation.edge_error, "learned here, in hindsight": evaluation.hindsight, **others}
    errors |= {label: evaluation.trivial[name] for name, label in trivial.items()}
    return draw_table(
        "", "error", rows=[(label, f"{error:.2%}") for label, error in errors.items() if error is not None]
    )


def _bottle() -> Story:
    example = examples.load("rock-throwing")
    opinions = _compare(example)
    verdict = is_cause(example.model, context=example.context, effect=example.effect, event={"ST": 1})
    assert verdict.witness is not None
    page = Group(
        *_story(example, "1 is yes, 0 is no. A line without '=' is set by the context; the others follow from it."),
        verdict_table(opinions),
        LEGEND,
        Text(_but_for_sentence(opinions)),
        Text(f"By {verdict.query.definition}: {verdict.sentence} {replay_sentence(verdict.query, verdict.witness)}"),
    )
    return Story(example.name, page, {"answers": [o.to_json() for o in opinions], "verdict": verdict.to_json()})


def _fire() -> Story:
    example = examples.load("forest-fire-disjunctive")
    opinions = _compare(example)
    page = Group(
        *_story(example),
        verdict_table(opinions),
        LEGEND,
        Text(_but_for_sentence(opinions)),
        Text(_division_sentence(opinions, {"L": 1})),
    )
    return Story(example.name, page, {"answers": [opinion.to_json() for opinion in opinions]})


def _pusher() -> Story:
    example = examples.load("pusher-1d")
    model, obstacle = example.model, example.context["X"]
    opinions = _compare(example, event={"X": obstacle}, definitions=("modified-hp", "functional"))
    started = perf_counter()
    space = StateSpace.from_model(model, example.outcome)
    pairs = partitions(space, **_shares(example))
    counts = {preimage.binary: len(preimage) for preimage in pairs.first().preimages}
    seconds = perf_counter() - started
    states = len(space)
    rarity = check_necessity(model, Name(example.outcome), space, space.find_context(example.context), ["X"])
    unmoved = model.ranges[example.outcome][0]
    page = Group(
        *_story(example),
        Text(f"Is the obstacle a cause, {abs(unmoved - obstacle):,} steps from where the block stood?"),
        *reasons(opinions),
        Text(_rarity_sentence(rarity, opinions[-1].answer.query)),
        Text(f"What {example.outcome} depends on in all {states:,} states, found in {seconds:.2f} s:", style="bold"),
        preimage_table(pairs.variables, counts),
        dim(f"binary: one digit each for {', '.join(pairs.variables)}; 1 if it matters."),
    )
    document = {
        "verdicts": [opinion.to_json() for opinion in opinions],
        "states": states,
        "cost": pairs.cost,
        "preimages": counts,
        "seconds": seconds,
    }
    return Story(example.name, page, document)


def _heading(title: str) -> list[RenderableType]:
    return [Text(""), Rule(Text(title, style="bold"), align="left")]


def _story(example: Example, legend: str = "") -> list[RenderableType]:
    return [
        *_heading(example.title),
        Text(example.story),
        block(example.text),
        *([dim(legend)] if legend else []),
        Text(f"In the context {assignments(example.context)}: what caused {example.effect}?", style="bold"),
    ]


def _compare(example: Example, **more: Any) -> list[Opinion]:
    return list(compare(example.model, context=example.context, effect=example.effect, **_shares(example), **more))


def _shares(example: Example) -> dict[str, Any]:
    return {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}


def _events(opinion: Opinion) -> list[dict[str, int]]:
    assert isinstance(opinion.answer, Answer)
    return [dict(cause.event) for cause in opinion.answer]


def _but_for_sentence(opinions: Sequence[Opinion]) -> str:
    """Say what the oldest definition makes of it."""
    opinion = next(opinion for opinion in opinions if opinion.definition == "but-for")
    alone = [assignments(event) for event in _events(opinion) if len(event) == 1]
    effect = opinion.answer.query.effect_text
    question = f"The plain question is but-for: without it, would {effect} not have happened?"
    if alone:
        return f"{question} That singles out {' and '.join(alone)}."
    return f"{question} No single event passes: undo any one of them, and {effect} still happens."


def _division_sentence(opinions: Sequence[Opinion], event: Mapping[str, int]) -> str:
    """Say which definitions blame an event by itself, and which only together with others."""
    alone = [opinion.definition for opinion in opinions if event in _events(opinion)]
    part = [
        opinion.definition
        for opinion in opinions
        if opinion.definition not in alone and any(event.items() <= cause.items() for cause in _events(opinion))
    ]
    by_itself, together = (", ".join(names) or "none" for names in (alone, part))
    return f"{assignments(event)} is a cause by itself for: {by_itself}. Only together with others for: {together}."


def _rarity_sentence(rarity: NecessityCheck, query: Query) -> str:
    """Say how many values of the obstacle would have undone the effect, against what is asked for."""
    count = f"Of the {rarity.total:,} values of X, {rarity.count:,} would have undone it"
    if query.alpha_necessity is None:
        return f"{count}."
    least = ceil(query.alpha_necessity * rarity.total)
    return f"{count}; {query.definition} asks for a share of {query.alpha_necessity} here, that is, {least:,} of them."
