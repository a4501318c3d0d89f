"""The demonstration: three short stories in which the definitions part ways, then causes learned from data alone.

Every verdict and every number that it prints is computed when it runs, but for the paper's own figure.
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
from ..core.answer import Answer, Verdict
from ..core.definitions import DEFINITIONS
from ..core.find import causes, is_cause, partitions
from ..core.spaces.state_space import StateSpace
from ..errors import MissingExtraError
from .render import assignments, block, plain_table, preimage_table, reasons, replayed, verdict_table

if TYPE_CHECKING:
    from ..data import Transitions
    from ..examples import Example
    from ..learn import Evaluation, Learner
    from ..learn.training.loop import TrainingProgress

PERMISSIVE = "strong"
LEGEND = Text(
    "cause: a cause by itself. part: no cause by itself, but together with others it makes up one. no: neither.",
    style="dim",
)


PAPER = 0.036  # JACI on 1-in: Chuck et al., Functional Actual Cause, the table of errors
# Small enough for a demonstration; the defaults take longer and err less.
LEARNED: Mapping[str, tuple[int, dict[str, Any]]] = {
    "1-in": (60_000, {"steps": 2400, "distil_steps": 800, "width": 64, "batch": 512}),
    "block-1d": (30_000, {"steps": 1000, "distil_steps": 400, "width": 48, "batch": 256}),
}


class Scene(NamedTuple):
    """A story: what is printed, and the same as a document."""

    name: str
    page: RenderableType
    document: dict[str, Any]


def opening() -> RenderableType:
    """What is about to be shown."""
    return Text(
        "What actually caused this? A model says how each thing follows from others, and a context how things were "
        f"this time. Below, {len(DEFINITIONS)} definitions of 'actual cause' from the literature give their answers."
    )


def scenes() -> Iterator[Scene]:
    """The stories, one after another."""
    yield _bottle()
    yield _fire()
    yield _pusher()


def closing() -> RenderableType:
    """What to try next."""
    lines = (
        "actcause ask rock-throwing --event BT=1  # did Billy break it?",
        "actcause ask voting-close --responsibility  # how much was one vote?",
        "actcause partition rock-throwing  # what matters in every state",
        "actcause domains  # worlds to learn from",
        "actcause examples  # the literature's models",
    )
    return Group(*_heading("Try next"), block("\n".join(lines)))


def learned(film: Path, callback: Callable[[TrainingProgress], None] | None = None) -> Iterator[Scene]:
    """Causes found in recordings, without a model and without labels; an episode of the last becomes a film."""
    if find_spec("torch") is None or find_spec("safetensors") is None:
        missing = MissingExtraError("Learning causes from recordings", "learn,pictures")
        yield Scene("learning", Group(*_heading("Learning from data"), Text(str(missing))), {"missing": str(missing)})
        return
    yield _vectors(callback)
    yield _block(film, callback)


def _vectors(callback: Callable[[TrainingProgress], None] | None) -> Scene:
    from ..learn import evaluate

    learner, held, seconds, rows = _trained("1-in", callback)
    found = evaluate(learner, held)
    page = Group(
        *_heading("Learning from data: no model, no labels"),
        Text(
            f"{rows:,} transitions of two random vectors: when does a1 cause y? The truth is known, but not looked at; "
            f"JACI, by expectation-maximisation, was trained in {seconds:.0f} s. Errors on {found.states:,} states of "
            "episodes that it never saw:"
        ),
        _errors(found, {"the paper's JACI": PAPER}),
    )
    return Scene("learning", page, {"seconds": seconds, "paper": PAPER, **found.to_json()})


def _block(film: Path, callback: Callable[[TrainingProgress], None] | None) -> Scene:
    from ..data import replay
    from ..envs import make
    from ..learn import evaluate

    name = "block-1d"
    learner, held, seconds, _ = _trained(name, callback)
    found = evaluate(learner, held)
    document = {"seconds": seconds, "film": None, **found.to_json()}
    try:
        made = replay(held, make(name), film, predicted=learner.predict(held))
        document["film"] = str(made.path)
        told = f"Episode {made.episode} is in {made.path}: solid arrows are true causes, dashed ones those found."
    except MissingExtraError as missing:
        told = str(missing)
    page = Group(
        *_heading("What pushed the block?"),
        Text(f"The same on a line with a pusher, a block and an obstacle, trained in {seconds:.0f} s:"),
        _errors(found, {}),
        Text(told),
    )
    return Scene("film", page, document)


def _trained(name: str, callback: Callable[[TrainingProgress], None] | None) -> tuple[Learner, Transitions, float, int]:
    """A learner, the episodes held out, the seconds it took, and the rows there were."""
    from ..data import collect
    from ..learn import JACI
    from ..learn.training.replica import split_of

    frames, options = LEARNED[name]
    data = collect(name, frames, seed=0)
    started = perf_counter()
    learner = JACI(seed=0, **options).fit(data, callback=callback)
    return learner, split_of(data, learner.held_out, learner.seed)[1], perf_counter() - started, frames


def _errors(found: Evaluation, others: Mapping[str, float]) -> RenderableType:
    trivial = {"never": "saying never", "always": "saying always", "rate": "guessing at the true rate"}
    rows = {"learned here": found.edge_error, "learned here, in hindsight": found.hindsight, **others}
    rows |= {said: found.trivial[name] for name, said in trivial.items()}
    return plain_table(("", "error"), [(said, f"{error:.2%}") for said, error in rows.items() if error is not None])


def _bottle() -> Scene:
    example = examples.load("rock-throwing")
    answers = _by_every_definition(example)
    verdict = is_cause(example.model, context=example.context, effect=example.effect, event={"ST": 1})
    assert verdict.witness is not None
    page = Group(
        *_story(example, "1 is yes, 0 is no. A line without '=' is set by the context; the others follow from it."),
        verdict_table(answers),
        LEGEND,
        Text(_without(answers)),
        Text(f"By {verdict.query.definition}: {verdict.sentence} {replayed(verdict.query, verdict.witness)}"),
        *_odd_one_out(answers, event={"BT": 1}, other="ST"),
    )
    return Scene(example.name, page, {"answers": [a.to_json() for a in answers], "verdict": verdict.to_json()})


def _fire() -> Scene:
    example = examples.load("forest-fire-disjunctive")
    answers = _by_every_definition(example)
    page = Group(
        *_story(example),
        verdict_table(answers),
        LEGEND,
        Text(_without(answers)),
        Text(_divided(answers, {"L": 1})),
    )
    return Scene(example.name, page, {"answers": [a.to_json() for a in answers]})


def _pusher() -> Scene:
    example = examples.load("pusher-1d")
    model, obstacle = example.model, example.context["X"]
    shares: dict[str, Any] = {
        "alpha_sufficiency": example.alpha_sufficiency,
        "alpha_necessity": example.alpha_necessity,
    }
    verdicts = [
        is_cause(
            model,
            context=example.context,
            effect=example.effect,
            event={"X": obstacle},
            definition=definition,
            **shares,
        )
        for definition in ("modified-hp", "functional")
    ]
    started = perf_counter()
    found = partitions(StateSpace.from_model(model, example.outcome), **shares)
    preimages = found.first().preimages
    seconds = perf_counter() - started
    states = len(found.space)
    unmoved = model.ranges[example.outcome][0]
    page = Group(
        *_story(example),
        Text(f"Is the obstacle a cause, {abs(unmoved - obstacle):,} steps from where the block stood?"),
        *reasons(verdicts),
        Text(_rarity(verdicts[-1])),
        Text(f"What {example.outcome} depends on in all {states:,} states, found in {seconds:.2f} s:", style="bold"),
        preimage_table(preimages),
        Text(f"binary: one digit each for {', '.join(found.variables)}; 1 if it matters.", style="dim"),
    )
    document = {
        "verdicts": [verdict.to_json() for verdict in verdicts],
        "states": states,
        "cost": found.cost,
        "preimages": {preimage.binary: len(preimage) for preimage in preimages},
        "seconds": seconds,
    }
    return Scene(example.name, page, document)


def _heading(title: str) -> list[RenderableType]:
    return [Text(""), Rule(Text(title, style="bold"), align="left")]


def _story(example: Example, legend: str = "") -> list[RenderableType]:
    return [
        *_heading(example.title),
        Text(example.story),
        block(example.text),
        *([Text(legend, style="dim")] if legend else []),
        Text(f"In the context {assignments(example.context)}: what caused {example.effect}?", style="bold"),
    ]


def _by_every_definition(example: Example) -> list[Answer]:
    return [
        causes(
            example.model,
            context=example.context,
            effect=example.effect,
            definition=definition,
            alpha_sufficiency=example.alpha_sufficiency,
            alpha_necessity=example.alpha_necessity,
        )
        for definition in DEFINITIONS
    ]


def _blaming(answers: Sequence[Answer], event: Mapping[str, int]) -> list[str]:
    """The definitions by which an event is a cause by itself."""
    return [a.query.definition for a in answers if any(dict(cause.event) == event for cause in a.causes)]


def _without(answers: Sequence[Answer]) -> str:
    """What the oldest definition makes of it."""
    answer = next(answer for answer in answers if answer.query.definition == "but-for")
    alone = [assignments(cause.event) for cause in answer.causes if len(cause.event) == 1]
    effect = answer.query.effect_text
    asked = f"The plain question is but-for: without it, would {effect} not have happened?"
    if alone:
        return f"{asked} That singles out {' and '.join(alone)}."
    return f"{asked} No single event passes: undo any one of them, and {effect} still happens."


def _divided(answers: Sequence[Answer], event: Mapping[str, int]) -> str:
    """Which definitions blame an event by itself, and which only together with others."""
    alone = _blaming(answers, event)
    part = [
        a.query.definition
        for a in answers
        if a.query.definition not in alone and any(event.items() <= dict(cause.event).items() for cause in a.causes)
    ]
    by_itself, together = (", ".join(names) or "none" for names in (alone, part))
    return f"{assignments(event)} is a cause by itself for: {by_itself}. Only together with others for: {together}."


def _odd_one_out(answers: Sequence[Answer], event: Mapping[str, int], other: str) -> list[RenderableType]:
    """A footnote where the permissive definition alone blames an event, and what it goes by."""
    if _blaming(answers, event) != [PERMISSIVE]:
        return []
    query = answers[0].query
    outcomes = [
        f"{assignments({name: values[name] for name in query.effect_variables})} for {other}={value}"
        for value in query.model.ranges[other]
        for values in [query.model.evaluate(query.context, do={**event, other: value})]
    ]
    return [
        Text(
            f"{PERMISSIVE} is the odd one out here: it alone blames {assignments(event)}, because with it the model "
            f"gives {' and '.join(outcomes)}; how the effect comes about is not asked. See "
            "docs/choosing-a-definition.md.",
            style="dim",
        )
    ]


def _rarity(verdict: Verdict) -> str:
    """How many values of the event's one variable would have undone the effect, against what is asked for."""
    query = verdict.query
    [name] = verdict.event
    effects = [query.effect.value(query.model.evaluate(query.context, {name: x})) for x in query.model.ranges[name]]
    undone = len(effects) - sum(map(bool, effects))
    said = f"Of the {len(effects):,} values of {name}, {undone:,} would have undone it"
    if query.alpha_necessity is None:
        return f"{said}."
    least = ceil(query.alpha_necessity * len(effects))
    return f"{said}; {query.definition} asks for a share of {query.alpha_necessity} here, that is, {least:,} of them."
