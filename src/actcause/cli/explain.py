"""The command `explain`: what explains an effect to someone who does not know the context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..core.model import Model
from ..errors import QueryError
from ..io.console import print_json
from ..questions.context_file import read_context_file
from ..questions.source import read_model, read_timing
from . import options
from .exit_codes import SUCCESS, choose_exit_code

if TYPE_CHECKING:
    from ..core.contexts import ContextTable
    from ..core.explanations import ExplanationVerdict, SufficiencyVerdict


def explain(
    model: options.ModelArgument,
    effect: options.EffectOption = None,
    where: options.WhereOption = None,
    contexts: options.ContextsOption = None,
    prior: options.PriorOption = None,
    event: options.EventOption = None,
    sufficient: options.SufficientOption = False,
    context: options.ContextOption = None,
    least_goodness: options.LeastGoodnessOption = None,
    definition: options.OneDefinitionOption = "modified-hp",
    steps: options.AskedStepsOption = None,
    trace: options.TraceOption = None,
    max_explanations: options.MaxExplanationsOption = None,
    max_seconds: options.ExplainSecondsOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Explain the effect to someone who does not know the context; with --event: decide whether this does.

    All contexts of the model are possible, unless --where, --contexts or --prior says otherwise. With --event the exit
    code is 0 for yes and 1 for no; 2 means that the question could not be asked, or that the time ran out.

    With --sufficient the context is known: what is part of a cause in it, and would have brought the effect about in
    all the others too?
    """
    from ..core import explanations as verbs

    if trace is not None and not sufficient:
        raise QueryError("--trace goes with --sufficient; an explanation is for those who do not know the context.")
    if max_seconds is None and not as_json:
        max_seconds = options.EXPLAINED_SECONDS
    source = read_model(model, read_timing(steps, trace, effect, where, event, context, prior))
    with source.naming_steps():
        question: dict[str, Any] = {
            "contexts": choose_contexts(source.model, where, contexts, prior),
            "effect": source.read_effect(effect),
            "definition": definition,
            "max_seconds": max_seconds,
        }
        if sufficient:
            question["context"] = source.read_context(context)
        elif context is not None:
            raise QueryError(
                "--context goes with --sufficient; an explanation is for those who do not know the context."
            )
        if least_goodness is not None and (sufficient or event is not None):
            raise QueryError("--least-goodness lists partial explanations; leave out --event and --sufficient.")
        if event is not None:
            judge = verbs.is_sufficient_cause if sufficient else verbs.is_explanation
            return _show_verdict(judge(source.model, event=source.read_event(event), **question), as_json)
        if max_explanations is None and not as_json:
            max_explanations = options.SHOWN_CAUSES
        found: verbs.Explanations | verbs.SufficientCauses
        if sufficient:
            found = verbs.sufficient_causes(source.model, max_causes=max_explanations, **question)
        elif least_goodness is not None:
            question |= {"least_goodness": least_goodness, "max_explanations": max_explanations}
            found = verbs.partial_explanations(source.model, **question)
        else:
            found = verbs.explanations(source.model, max_explanations=max_explanations, **question)
    if as_json:
        print_json(found.to_json())
    else:
        from .render import show
        from .render_explanations import explanations_page

        show(explanations_page(found))
    return SUCCESS


def choose_contexts(model: Model, where: str | None, contexts: str | None, prior: str | None) -> ContextTable | None:
    """Choose which contexts are possible, from options of which at most one is given."""
    from ..core.contexts import read_contexts
    from ..core.root_probabilities import read_prior_text

    given = [name for name, value in (("--where", where), ("--contexts", contexts), ("--prior", prior)) if value]
    if len(given) > 1:
        raise QueryError(f"{given[0]} and {given[1]} both say which contexts are possible; leave one of them out.")
    if contexts is not None:
        return read_contexts(model, read_context_file(contexts, model))
    if prior is not None:
        return read_contexts(model, read_prior_text(model, prior), "prior")
    return None if where is None else read_contexts(model, where, "where")


def _show_verdict(verdict: ExplanationVerdict | SufficiencyVerdict, as_json: bool) -> int:
    if as_json:
        print_json(verdict.to_json())
    else:
        from .render import show
        from .render_explanations import explanation_page

        show(explanation_page(verdict))
    return choose_exit_code(verdict)


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    explain: (
        "actcause explain forest-fire-disjunctive",
        'actcause explain forest-fire-conjunctive --where "L == 1"',
        "actcause explain forest-fire-conjunctive --event MD=1; echo $?",
        "actcause explain forest-fire-disjunctive --sufficient",
        'actcause explain rock-throwing --prior "ST=1/4, BT=1/2" --least-goodness 0.5',
        'actcause explain model.txt --effect "BS == 1" --contexts contexts.csv --json',
    )
}
