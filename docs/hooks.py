"""What mkdocs calls while it builds: the page of examples is written from the catalogue itself."""

from __future__ import annotations

from typing import Any

from actcause import DEFINITIONS, Answer, Status, causes, examples, is_cause
from actcause.examples import Example

MARKER = "<!-- the catalogue stands here -->"
SHOWN = 6
MAX_STEPS = 100_000  # a budget that ends the same way on every machine
MANY_CONTEXTS = 10_000_000  # of models in which a step takes long


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill the catalogue in; mkdocs calls this for every page."""
    return with_catalogue(markdown)


def with_catalogue(markdown: str) -> str:
    """Write every example out where the marker stands."""
    if MARKER not in markdown:
        return markdown
    return markdown.replace(MARKER, "\n".join(_section(examples.load(name)) for name in examples.names()))


def _section(example: Example) -> str:
    lines = [
        f"## {example.title} {{ #{example.name} }}",
        f"`{example.name}`: {example.story}",
        f"```text\n{example.text}\n```",
        f"In the context `{_assignments(example.context)}`: what caused `{example.effect}`?",
        _answers(example),
    ]
    if example.alpha_sufficiency is not None:
        lines.append(
            f"Functional causes with `alpha_sufficiency={example.alpha_sufficiency}`, "
            f"`alpha_necessity={example.alpha_necessity}`."
        )
    if example.verdicts:
        lines.append(_published(example))
    lines += [f"- {note}" for note in example.notes]
    lines.append(f"Source: {example.source}.")
    return "\n\n".join(lines) + "\n"


def _answers(example: Example) -> str:
    """Say what each definition finds, those that find the same together."""
    said: dict[str, list[str]] = {}
    for definition in DEFINITIONS:
        answer = causes(
            example.model,
            context=example.context,
            effect=example.effect,
            definition=definition,
            max_steps=10 if example.model.context_count > MANY_CONTEXTS else MAX_STEPS,
            **_shares(example),
        )
        said.setdefault(_causes(answer), []).append(definition)
    rows = [f"| {', '.join(definitions)} | {found} |" for found, definitions in said.items()]
    return "\n".join(["| by | causes |", "| --- | --- |", *rows])


def _causes(answer: Answer) -> str:
    found = answer.causes[: SHOWN + 1]
    events = sorted("`" + _assignments(cause.event) + "`" for cause in found[:SHOWN])
    if len(found) > SHOWN:
        return f"{'; '.join(events)}; and more"
    if answer.status is not Status.COMPLETE:
        return "not searched to the end here"
    return "; ".join(events) or "none"


def _published(example: Example) -> str:
    """Show what was published beside what comes out here; definitions on which both say the same together."""
    said: dict[tuple[str, str, str, str], list[str]] = {}
    for verdict in example.verdicts:
        here = is_cause(
            example.model,
            context=example.context,
            effect=example.effect,
            event=verdict.event,
            definition=verdict.definition,
            **_shares(example),
        )
        published = "" if verdict.computed else _word(verdict.holds)
        row = (_assignments(verdict.event), published, _word(here.holds), verdict.source)
        said.setdefault(row, []).append(verdict.definition)
    rows = [
        f"| `{event}` | {', '.join(definitions)} | {published} | {here} | {where} |"
        for (event, published, here, where), definitions in said.items()
    ]
    return "\n".join(["| event | by | published | here | where |", "| --- | --- | --- | --- | --- |", *rows])


def _shares(example: Example) -> dict[str, Any]:
    return {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}


def _word(holds: bool | None) -> str:
    return "open" if holds is None else "cause" if holds else "no cause"


def _assignments(assignment: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in assignment.items())
