"""The command `examples`: the literature's models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import examples as library
from ..examples import Example
from ..io.console import print_json
from ..questions.source import load_example
from . import options

WRITTEN = (
    "name", "title", "story", "text", "context", "effect", "outcome", "alpha_sufficiency", "alpha_necessity",
    "source", "notes",
)  # fmt: skip


def examples(name: options.ExampleArgument = None, as_json: options.JsonOption = False) -> None:
    """List the literature's models, or show one: its story, its model, its published verdicts."""
    if name is not None:
        example = load_example(name)
        if as_json:
            print_json(_example_document(example))
        else:
            from .render import show
            from .render_examples import example_page

            show(example_page(example))
        return
    listed = [library.load(known) for known in library.names()]
    if as_json:
        print_json([_example_document(example) for example in listed])
    else:
        from .render import show
        from .render_examples import example_table

        show(example_table(listed))


def _example_document(example: Example) -> dict[str, Any]:
    return {
        **{name: getattr(example, name) for name in WRITTEN},
        "context": dict(example.context),
        "notes": list(example.notes),
        "verdicts": [
            {"event": dict(one.event), "definition": one.definition, "holds": one.holds, "source": one.source}
            for one in example.verdicts
        ],
    }


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    examples: ("actcause examples", "actcause examples rock-throwing", "actcause examples --json")
}
