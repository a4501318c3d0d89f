"""The command `probe`: what caused what a function did, within a budget of calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

from ..core.find import causes, is_cause
from ..io.console import print_json
from . import options
from .exit_codes import SUCCESS, choose_exit_code


def probe(
    function: options.FunctionArgument,
    context: options.RequiredContextOption,
    effect: options.RequiredEffectOption,
    inputs: options.InputsOption = None,
    event: options.EventOption = None,
    definition: options.OneDefinitionOption = "modified-hp",
    alpha_sufficiency: options.SufficiencyOption = None,
    alpha_necessity: options.NecessityOption = None,
    rather_than: options.ContrastOption = None,
    vectorized: options.VectorizedOption = False,
    max_calls: options.MaxCallsOption = 10_000,
    max_causes: options.MaxCausesOption = None,
    max_seconds: options.MaxSecondsOption = None,
    confidence: options.BoxConfidenceOption = 0.95,
    least_share: options.LeastShareOption = 0.01,
    seed: options.SamplingSeedOption = 0,
    as_json: options.JsonOption = False,
) -> int:
    """Ask what caused what a Python function, a whole simulator, did; with --event, whether this was a cause.

    FUNCTION is module:function or file.py:function; the module is imported and run, and what it prints goes to stderr.
    The answer says what is proved and what samples make likely. With --event the exit code is 0 for yes and 1 for no; 2
    means that the question could not be asked, or that the calls ran out before the answer was known.
    """
    from ..questions.box_source import read_box

    question: dict[str, Any] = {
        "context": context,
        "effect": effect,
        "definition": definition,
        "alpha_sufficiency": alpha_sufficiency,
        "alpha_necessity": alpha_necessity,
        "contrast": rather_than,
        "max_calls": max_calls,
        "max_seconds": max_seconds,
        "confidence": confidence,
        "least_share": least_share,
        "seed": seed,
    }
    with redirect_stdout(sys.stderr):  # what the function prints is no part of the answer
        box = read_box(function, inputs or (), vectorized=vectorized)
        if event is None:
            answer = causes(box, max_causes=max_causes, **question)
            shown: Any = answer.to_json() if as_json else answer.describe(options.name_option)
        else:
            verdict = is_cause(box, event=event, **question)
            shown = verdict.to_json() if as_json else f"{verdict}\n{verdict.calls:,} calls of the function."
    if as_json:
        print_json(shown)
    elif event is None or verdict.holds is not None:
        print(shown)
    return SUCCESS if event is None else choose_exit_code(verdict)


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    probe: (
        'actcause probe car.py:stop --input speed=0.0..40.0 --input brake=0,1 --context "speed=20,brake=0" '
        '--effect "metres > 30"',
        'actcause probe car.py:box --context "speed=20,brake=0" --effect "metres > 30" --event brake=0 --json',
    )
}
