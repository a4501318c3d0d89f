"""The command `probability`: how probably an event was necessary, sufficient, or a cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.definitions import DEFINITIONS
from ..core.find import get_definition
from ..errors import QueryError
from ..io.console import print_json
from ..questions.context_file import read_context_file
from ..questions.source import read_model, read_timing
from . import options


def probability(
    model: options.ModelArgument,
    event: options.RequiredEventOption,
    prior: options.PriorOption = None,
    contexts: options.ContextsOption = None,
    effect: options.EffectOption = None,
    instead: options.InsteadOption = None,
    evidence: options.EvidenceOption = None,
    definition: options.DefinitionOption = "modified-hp",
    steps: options.AskedStepsOption = None,
    samples: options.SamplesOption = 10_000,
    seed: options.SamplingSeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    max_seconds: options.MaxSecondsOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure how probably an event was necessary (PN), sufficient (PS), both (PNS), and an actual cause.

    Contexts come from --prior, independent roots or the word 'uniform', or from a file of --contexts with a column
    'probability'; a file of another tool that has probabilities needs neither. Results are exact fractions where
    contexts can be enumerated or counted, else estimates.
    """
    from ..core.probabilities import probabilities

    source = read_model(model, read_timing(steps, None, effect, event, instead, evidence, prior))
    own = source.prior if set(source.prior) == set(source.model.roots) else None
    if prior is not None and contexts is not None:
        raise QueryError("--prior and --contexts both say how probable contexts are; leave one of them out.")
    if prior is None and contexts is None and not own:
        raise QueryError("Say how probable contexts are with --prior, such as --prior 'A=0.3', or with --contexts.")
    distribution: Any = (prior or own) if contexts is None else read_context_file(contexts, source.model)
    names = tuple(DEFINITIONS) if definition == "all" else (get_definition(definition).name,)
    found = probabilities(
        source.model,
        prior=distribution,
        event=source.read_event(event),
        effect=source.read_effect(effect),
        instead=None if instead is None else source.read_event(instead, "instead"),
        evidence=evidence,
        samples=samples,
        seed=seed,
        confidence=confidence,
        max_seconds=max_seconds,
    )
    if as_json:
        print_json(found.to_json(*names))
    else:
        from .render import show
        from .render_probability import probability_page

        show(probability_page(found, names))


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    probability: (
        'actcause probability rock-throwing --prior "ST=0.5, BT=0.5" --event ST=1',
        'actcause probability rock-throwing --prior uniform --event ST=1 --evidence "BS == 1" --definition all',
        'actcause probability model.txt --prior uniform --event ST=1 --effect "BS == 1" --json',
    )
}
