"""The command `ask`: what caused an effect, by one definition or by all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from .. import parallel
from ..core.answer import Verdict
from ..core.compare import compare
from ..errors import QueryError
from ..io.console import print_json
from ..questions.source import read_model, read_timing
from . import options
from .exit_codes import SUCCESS, choose_exit_code
from .progress import show_line


def ask(
    model: options.OptionalModelArgument = None,
    context: options.ContextOption = None,
    effect: options.EffectOption = None,
    event: options.EventOption = None,
    definition: options.DefinitionOption = "modified-hp",
    alpha_sufficiency: options.SufficiencyOption = None,
    alpha_necessity: options.NecessityOption = None,
    rather_than: options.ContrastOption = None,
    normally: options.NormallyOption = None,
    normality_order: options.NormalityOrderOption = None,
    steps: options.AskedStepsOption = None,
    trace: options.TraceOption = None,
    solver: options.SolverOption = "auto",
    max_causes: options.MaxCausesOption = None,
    max_seconds: options.MaxSecondsOption = None,
    responsibility: options.ResponsibilityOption = False,
    questions: options.QuestionsOption = None,
    out: options.AnswersOption = None,
    workers: options.WorkersOption = None,
    engine: options.EngineOption = "local",
    address: options.AddressOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """What caused the effect? Or, with --event: was this a cause of it?

    With --event the exit code is 0 for yes and 1 for no; 2 means that the question could not be asked, or that the
    time ran out first. With --definition all it is 0 once every definition has had its say.

    With --questions a line of JSON is the answer to each, in order; what a question leaves out, the command line
    says. The exit code is 2 if a line was wrong. With --out a command that was cut off goes on when given again.
    """
    question: dict[str, Any] = {
        "context": context,
        "effect": effect,
        "event": event,
        "alpha_sufficiency": alpha_sufficiency,
        "alpha_necessity": alpha_necessity,
        "rather_than": rather_than,
        "normally": normally or None,
        "normality_order": normality_order,
    }
    if questions is not None:
        from ..questions.file import answer_file

        limits = {"max_causes": max_causes, "max_seconds": max_seconds}
        fields = {"model": model, "definition": definition, "solver": solver, "responsibility": responsibility}
        times = {"steps": steps, "trace": trace}
        defaults = {name: value for name, value in (question | fields | times | limits).items() if value is not None}
        with parallel.engine(engine, workers, address) as pool:
            answer_file(questions, defaults, pool, out)
        return SUCCESS
    if model is None:
        raise QueryError("Missing argument 'MODEL', or --questions with a file of them. Try 'actcause ask --help'.")
    if out is not None:
        raise QueryError("--out takes the answers to --questions; use --json and redirect it for a single answer.")
    everything = definition == "all"
    if max_causes is None and not as_json:
        max_causes = options.COMPARED_CAUSES if everything else options.SHOWN_CAUSES
    if max_seconds is None and everything and not as_json:
        max_seconds = options.COMPARED_SECONDS
    timing = read_timing(steps, trace, context, effect, event, rather_than, *(normally or ()))
    source = read_model(model, timing)
    if (engine, workers, address) != ("local", None, None):
        parallel.engine(engine, workers, address)  # one question needs no workers, but a wrong engine is refused
    with show_line() if everything else nullcontext() as report:
        comparison = compare(
            source.model,
            **source.read_question(**question),
            definitions=None if everything else definition,
            solver=solver,
            max_causes=max_causes,
            max_seconds=max_seconds,
            responsibility=responsibility,
            on_progress=None if report is None else lambda name: report(f"asking {name} …"),
        )
        opinions = list(comparison)
    if as_json:
        print_json(comparison.to_json() if everything else opinions[0].to_json())
    elif everything:
        from .render import show
        from .render_comparison import comparison_page

        show(comparison_page(opinions))
    else:
        from .render import opinion_page, show

        show(opinion_page(opinions[0]))
    verdict = opinions[-1].answer
    return SUCCESS if everything or not isinstance(verdict, Verdict) else choose_exit_code(verdict)


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    ask: (
        "actcause ask rock-throwing",
        "actcause ask rock-throwing --definition all",
        "actcause ask rock-throwing --event BT=1; echo $?",
        "actcause ask voting-close --responsibility",
        'actcause ask trumping --rather-than "C == 0"',
        'actcause ask pens --normally "P == 0"',
        'actcause ask tank.txt --trace tank.csv --effect "alarm@7 == 1"',
        "actcause ask --questions questions.jsonl --out answers.jsonl --workers 2",
        'actcause ask model.txt --context "ST=1,BT=1" --effect "BS == 1" --event "ST=1" --json',
    )
}
