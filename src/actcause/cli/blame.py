"""The command `blame`: responsibility, expected over what one did not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ..core.query import as_share
from ..core.responsibility import blame as measure_blame
from ..errors import QueryError, quote
from ..io.console import print_json
from ..questions.context_file import read_context_file
from ..questions.source import ModelSource, read_model, read_timing
from . import options


def blame(
    model: options.ModelArgument,
    event: options.RequiredEventOption,
    prior: options.PriorOption = None,
    contexts: options.ContextsOption = None,
    effect: options.EffectOption = None,
    believed: options.BelievedOption = None,
    definition: options.OneDefinitionOption = "modified-hp",
    steps: options.AskedStepsOption = None,
    max_seconds: options.MaxSecondsOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure blame: the degree of responsibility, expected over contexts and over models.

    Contexts come from --prior or from a file of --contexts with a column 'probability', as for 'actcause probability'.
    If the model itself is in doubt, name the others that may be true by --believed, each with its probability; MODEL
    has the rest. The event is what was done, so it is set in every context.
    """
    timing = read_timing(steps, None, effect, event, prior)
    source = read_model(model, timing)
    effect_formula, action = source.read_effect(effect), source.read_event(event)
    if (prior is None) == (contexts is None):
        raise QueryError("Say how probable contexts are: with --prior, such as --prior 'A=0.3', or with --contexts.")
    others = [_read_believed(text) for text in believed or ()]
    own_share = 1 - sum((share for _, share in others), Fraction(0))
    if own_share < 0:
        raise QueryError(f"The probabilities of --believed must sum to at most 1; got {float(1 - own_share):g}.")
    models = [(model, source, own_share), *((name, read_model(name, timing), share) for name, share in others)]
    cases = [
        (each.model, context, share * probability)
        for _, each, share in models
        if share
        for context, probability in _list_contexts(each, prior, contexts)
    ]
    degree = measure_blame(
        source.model,
        contexts=cases,
        effect=effect_formula,
        event=action,
        definition=definition,
        max_seconds=max_seconds,
    )
    if as_json:
        document = {
            "event": dict(action),
            "effect": str(effect_formula),
            "definition": definition,
            "blame": None if degree is None else str(degree),
            "contexts": len(cases),
            "models": [{"model": name, "probability": str(share)} for name, _, share in models],
            "status": "unknown" if degree is None else "complete",
        }
        print_json(document)
    elif degree is not None:
        cause = ", ".join(f"{name}={value}" for name, value in action.items())
        where = f"{len(cases)} contexts" + (f" of {len(models)} models" if others else "")
        print(f"{cause} is to blame for {effect_formula} to the degree {degree}, by {definition}, over {where}.")
    if degree is None:
        raise QueryError("The search was stopped before its end; give --max-seconds more, or fewer contexts.")


def _read_believed(text: str) -> tuple[str, Fraction]:
    """Read 'MODEL=0.3'."""
    name, sign, share = text.rpartition("=")
    if not sign or not name:
        raise QueryError(f"--believed must be a model and its probability, 'other.txt=0.3'; got {quote(text)}.")
    return name, as_share("--believed", share) or Fraction(0)


def _list_contexts(source: ModelSource, prior: str | None, contexts: str | None) -> list[tuple[dict[str, int], Any]]:
    from ..core.probabilities.prior import list_contexts

    given: Any = prior if contexts is None else read_context_file(contexts, source.model)
    return list_contexts(source.model, given)


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    blame: (
        'actcause blame forest-fire-disjunctive --prior "L=1, MD=0.5" --event L=1',
        'actcause blame model.txt --prior "ST=1, BT=0.5" --event ST=1 --effect "BS == 1" --believed rock-throwing=0.5',
    )
}
