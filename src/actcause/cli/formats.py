"""The commands `import` and `export`: models from other tools' files, and to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .. import formats as library
from ..errors import QueryError
from ..formats import Imported
from ..io.atomic import write_whole_bytes
from ..io.console import print_json
from ..questions.source import Timing, read_model
from . import options


def import_model(
    file: options.ForeignArgument,
    kind: options.ReadFormatOption = None,
    steps: options.StepsOption = None,
    out: options.TextOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Read a model from a file of another tool and print it as model text.

    What was renamed, chosen or left out, and the probabilities of roots, stand in comments above it.
    """
    imported = library.read(file, kind, steps=steps)
    if out is not None:
        _write(out, _comment(imported))
    if as_json:
        chosen = kind or library.find_format(file)
        print_json({"format": chosen, **imported.to_json()})
    elif out is None:
        print(_comment(imported), end="")


def _comment(imported: Imported) -> str:
    """Write the model as text, with everything else that the file says as comments above it."""
    shares = [
        f"P({name}={value}) = {share}"
        for name, of in imported.prior.items()
        for value, share in of.items()
        if len(of) > 2 or value == max(of)
    ]
    lines = [*([imported.title] if imported.title else []), *imported.notes, *shares]
    return "".join(f"# {' '.join(line.split())}\n" for line in lines) + imported.model.to_text() + "\n"


def export(
    model: options.ModelArgument,
    kind: options.WriteFormatOption = None,
    steps: options.StepsOption = None,
    out: options.TextOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write a model as a file of another tool, or as a drawing of its graph."""
    chosen = kind or (library.find_format(str(out)) if out is not None else None)
    if chosen is None:
        names = ", ".join(name for name, one in library.FORMATS.items() if one.write is not None)
        raise QueryError(f"--format must say what to write, one of {names}.")
    source = read_model(model, Timing(steps))
    title = source.example.title if source.example is not None else "" if model == "-" else Path(model).stem
    text = library.export(source.model, chosen, title=title, prior=source.prior)
    if out is not None:
        _write(out, text)
    if as_json:
        print_json({"format": chosen, "text": text})
    elif out is None:
        print(text, end="")


def _write(out: Path, text: str) -> None:
    write_whole_bytes(out, text.encode(), QueryError)


# A command is called as its function is, and `import` is a word of Python.
import_model.__name__ = "import"

COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    export: (
        "actcause export rock-throwing --format dot",
        "actcause export model.txt --format mermaid --out model.mmd",
        "actcause export pressure-tank --out tank.xml",
        "actcause export tank.txt --steps 3 --format dot",
    ),
    import_model: (
        "actcause import tank.xml",
        "actcause import tank.xml --out tank.txt",
        "actcause import tank.xml --format open-psa --json",
    ),
}
