"""The question on the page as Python and as a command that can be pasted into a shell.

A model with time is written as it was, with the steps that it is unrolled over.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from ... import examples
from ...core.model import Model
from ...core.query import Query
from ...core.steps import find_last_step

MOST_SECONDS = 60  # for each definition in copied Python; a command that asks all of them has a limit of its own
SHARES = ("alpha_sufficiency", "alpha_necessity")


@dataclass(frozen=True)
class WrittenModel:
    """A model as it is copied: its text, the steps that it is unrolled over, and the example that it is, if any."""

    text: str
    steps: int | None
    example: str | None

    @classmethod
    def of(cls, query: Query, written: Model) -> WrittenModel:
        """Find how to write the model of a query, which is what was `written`, or that in time."""
        name = _find_example(query)
        if name is not None:
            example = examples.load(name)
            return cls(example.text, example.steps, name)
        steps = None if written == query.model else find_last_step(query.model.variables)
        return cls(written.to_text(), steps, None)


def write_python(query: Query, event: Mapping[str, int] | None, model: WrittenModel) -> str:
    """Write Python that asks the same of every definition."""
    given = [f"context={dict(query.context)!r}", f"effect={json.dumps(str(query.effect), ensure_ascii=False)}"]
    if event is not None:
        given.append(f"event={dict(event)!r}")
    for name in SHARES:
        if (share := getattr(query, name)) is not None:
            given.append(f'{name}="{share}"')
    if query.contrast is not None:
        given.append(f"contrast={json.dumps(str(query.contrast), ensure_ascii=False)}")
    if query.normality is not None:
        rules = json.dumps([str(rule) for rule in query.normality.rules], ensure_ascii=False)
        given.append(f'normality=ac.Normality({rules}, order="{query.normality.order}")')
    given.append(f"max_seconds={MOST_SECONDS}")
    text = "\n".join(f"    {json.dumps(row + chr(10), ensure_ascii=False)}" for row in model.text.split("\n"))
    unrolled = "" if model.steps is None else f".unrolled({model.steps})"
    verb = "causes" if event is None else "is_cause"
    return (
        "import actcause as ac\n\n"
        f"model = ac.Model.from_text(\n{text}\n){unrolled}\n"
        f"question = dict({', '.join(given)})\n"
        "for definition in ac.DEFINITIONS:\n"
        f"    print(definition, ac.{verb}(model, definition=definition, **question), sep=': ')\n"
    )


def write_command(query: Query, event: Mapping[str, int] | None, model: WrittenModel) -> str:
    """Write a command line that asks the same; an example goes by its name, another model by a here-document."""
    words = ["actcause", "ask", model.example or "-"]
    if model.steps is not None and model.example is None:
        words += ["--steps", str(model.steps)]
    if query.context:
        words += ["--context", _write_assignments(query.context)]
    words += ["--effect", str(query.effect)]
    if event is not None:
        words += ["--event", _write_assignments(event)]
    for option in SHARES:
        if (share := getattr(query, option)) is not None:
            words += [f"--{option.replace('_', '-')}", str(share)]
    if query.contrast is not None:
        words += ["--rather-than", str(query.contrast)]
    if query.normality is not None:
        for rule in query.normality.rules:
            words += ["--normally", str(rule)]
        words += ["--normality-order", query.normality.order]
    line = shlex.join([*words, "--definition", "all", "--responsibility"])
    if model.example:
        return line + "\n"
    end = "MODEL"
    while end in model.text.split("\n"):
        end += "_"
    return f"{line} <<'{end}'\n{model.text}\n{end}\n"


def _find_example(query: Query) -> str | None:
    """Find the example whose model this is, if its own shares would not be put in place of missing ones."""
    for name in examples.names():
        example = examples.load(name)
        if example.model == query.model:
            own = any(getattr(query, share) is None and getattr(example, share) is not None for share in SHARES)
            return None if own else name
    return None


def _write_assignments(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
