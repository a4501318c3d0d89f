"""The commands about learning from recordings: `train`, `predict` and `evaluate`."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from . import sources
from .errors import MissingExtraError, QueryError, suggest
from .output import ended_cleanly, print_json, print_note

if TYPE_CHECKING:
    from .data import Transitions
    from .learn.training import Moment

FRAMES = 100_000
RARE = ("push", "break")  # the paper scores these on states of which half are non-trivial
OWN_OPTIONS = {"seed": "--seed", "device": "--device", "max_seconds": "--max-seconds"}


def _methods() -> tuple[str, ...]:
    try:
        return tuple(_library().names())
    except MissingExtraError:
        return ()


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    SourceArgument = Annotated[
        str, typer.Argument(metavar="DATA_OR_DOMAIN", help="A file of transitions, or a domain to record some of.")
    ]
    RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that 'actcause train' wrote.")]
    DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="A Parquet or CSV file of transitions.")]
    RunOption = Annotated[Path, typer.Option("--out", metavar="RUN", help="A folder for the run.")]
    FileOption = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write.")]
    MethodOption = Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="How to learn: see docs/learning.md.",
            autocompletion=lambda incomplete: [name for name in _methods() if name.startswith(incomplete)],
        ),
    ]
    SeedOption = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Fixes weights, order and split.")]
    DeviceOption = Annotated[str, typer.Option("--device", metavar="NAME", help="cpu, cuda, or auto: cuda if there.")]
    ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off.")]
    OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace a run.")]
    BudgetOption = Annotated[
        float | None, typer.Option("--max-seconds", metavar="SECONDS", help="Stop after this long; can be resumed.")
    ]
    PatienceOption = Annotated[
        int | None,
        typer.Option("--patience", metavar="STEPS", min=1, help="End a stage whose loss stands still for so long."),
    ]
    FramesOption = Annotated[
        int | None,
        typer.Option("--frames", metavar="N", min=1, help="Of a domain: how many.", show_default=f"{FRAMES:,}"),
    ]
    DrawOption = Annotated[
        int | None, typer.Option("--draw", metavar="D", min=0, help="Of a domain: its parameters.", show_default="S")
    ]
    SetOption = Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the method, such as steps=6000; repeatable."),
    ]
    MappingOption = Annotated[
        Path | None, typer.Option("--mapping", metavar="FILE", help="JSON or TOML: which columns are which factors.")
    ]
    TensorboardOption = Annotated[
        bool | None,
        typer.Option(
            "--tensorboard/--no-tensorboard", help="Write event files for it.", show_default="where it is installed"
        ),
    ]
    HindsightOption = Annotated[bool, typer.Option("--hindsight", help="Take the observed outcome into account.")]
    ResampleOption = Annotated[
        bool | None,
        typer.Option(
            "--resample/--no-resample",
            help="Score as many states with a cause as without.",
            show_default="as the paper: for push and break",
        ),
    ]


def train(
    source: SourceArgument,
    out: RunOption,
    method: MethodOption = "jaci-em",
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    max_seconds: BudgetOption = None,
    patience: PatienceOption = None,
    frames: FramesOption = None,
    draw: DrawOption = None,
    options: SetOption = None,
    mapping: MappingOption = None,
    tensorboard: TensorboardOption = None,
    as_json: sources.JsonOption = False,
) -> int:
    """Learn which factors caused the outcome, from transitions alone; true causes are not looked at.

    A run is a folder with the learned model, the course of training and, until it has finished,
    a checkpoint: after Ctrl-C, a time budget or a power cut, --resume goes on to the same result.
    """
    library = _library()
    from .learn import runs
    from .learn.errors import RunError
    from .learn.session import device_of

    given = dict(sources.setting(text, "steps=6000", OWN_OPTIONS) for text in options or ())
    learner = library.make(method, **given, seed=seed, device=device, max_seconds=max_seconds)
    learner.check_options()
    device_of(device)
    data = _data(source, mapping, seed, frames, draw)
    again = {
        "--method": method, "--seed": seed, "--device": device, "--max-seconds": max_seconds, "--patience": patience,
        "--frames": frames, "--draw": draw, "--mapping": mapping,
    }  # fmt: skip
    try:
        with progress() as told:
            done = runs.train(
                learner, data, out, resume=resume, overwrite=overwrite, source=Path(source).name, callback=told,
                patience=patience, tensorboard=tensorboard,
            )  # fmt: skip
    except KeyboardInterrupt as asked:
        with suppress(RunError):
            runs.summary(out)
            print_note(f"stopped; go on with: {_command(source, out, again, options)}")
        return 128 + int(getattr(asked, "signal", signal.SIGINT))
    for note in done.notes:
        print_note(note)
    if done.status == "stopped":
        print_note(f"out of time; go on with: {_command(source, out, again, options)}")
    fitted = done.learner
    shares = dict(fitted.learned_.get("shares", {}))
    if as_json:
        print_json(
            {
                "out": str(out),
                "method": fitted.method,
                "rows": len(data),
                "status": done.status,
                "seconds": round(done.seconds, 2),
                "settings": fitted.settings(),
                "learned": fitted.learned_,
                "notes": list(done.notes),
            }
        )
    else:
        print(f"{fitted.method} on {len(data):,} rows of {Path(source).name}, {done.status}: {out}")
        if shares:
            listed = ", ".join(f"{factor} {share:.1%}" for factor, share in shares.items())
            print(f"Found to be a cause in held-out rows: {listed}.")
    return 0


def predict(
    run: RunArgument,
    file: DataArgument,
    out: FileOption,
    hindsight: HindsightOption = False,
    mapping: MappingOption = None,
    device: DeviceOption = "auto",
    as_json: sources.JsonOption = False,
) -> None:
    """Write the rows of a file with what caused the outcome of each.

    To the columns of DATA come extra.found.FACTOR, extra.probability.FACTOR, and extra.unsure,
    which is true where the learned model predicts badly and no answer can be trusted.
    """
    _library()
    from .data import Writer, read_batches
    from .learn import runs
    from .learn.annotate import annotated

    learner = runs.load(run, device=device)
    parts = (annotated(learner, batch, hindsight=hindsight) for batch in read_batches(file, mapping))
    first = next(parts)
    names = [name for name in first.extra if name.startswith("found.") or name == "unsure"]
    sums = dict.fromkeys(names, 0)

    def write(part: Transitions) -> None:
        writer.append(part)
        for name in names:
            sums[name] += int(part.extra[name].sum())

    with ended_cleanly(), Writer(out, first.layout, metadata=first.metadata) as writer:
        write(first)
        for part in parts:
            write(part)
        rows = writer.rows
    unsure = sums.pop("unsure") / rows
    rates = {name.removeprefix("found."): count / rows for name, count in sums.items()}
    if as_json:
        answers = "hindsight" if hindsight else "state"
        print_json(
            {"out": str(out), "rows": rows, "method": learner.method, "from": answers, "rates": rates, "unsure": unsure}
        )
    else:
        listed = ", ".join(f"{factor} {rate:.1%}" for factor, rate in rates.items())
        print(f"{rows:,} transitions in {out}; found to be a cause: {listed}; unsure {unsure:.1%}.")


def evaluate(
    run: RunArgument,
    file: DataArgument,
    resample: ResampleOption = None,
    hindsight: HindsightOption = False,
    mapping: MappingOption = None,
    device: DeviceOption = "auto",
    as_json: sources.JsonOption = False,
) -> None:
    """Score a run on transitions whose true causes are known.

    Of the data that the run was trained on only the held-out part is scored; other data whole.
    """
    _library()
    from .data import load
    from .learn import runs
    from .learn.metrics import evaluate as score
    from .learn.session import split_of

    learner, data = runs.load(run, device=device), load(file, mapping)
    held = runs.trained_on(run, data)
    if held:
        data = split_of(data, learner.held_out, learner.seed)[1]
    half = data.metadata.get("domain") in RARE if resample is None else resample
    answers: Any = learner.explain_proba(data) if hindsight else learner
    found = score(answers, data, resample=half, hindsight=False, threshold=learner.threshold_)
    if as_json:
        more = {"method": learner.method, "from": "hindsight" if hindsight else "state", "held_out": held}
        print_json(found.to_json() | {"hindsight": hindsight} | more)
        return
    part = "held-out states of the data it was trained on" if held else "states"
    balanced = "; half of them non-trivial" if half else ""
    print(f"{learner.method} on {found.states:,} {part}{balanced}:")
    print(found)


# -- helpers ---------------------------------------------------------------------------------------


def _library() -> Any:
    """`actcause.learn`, or what to install."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401

        from . import learn
    except ModuleNotFoundError as missing:
        if missing.name not in ("safetensors", "torch"):
            raise
        raise MissingExtraError("Learning from data", "learn") from None
    return learn


def _data(source: str, mapping: Path | None, seed: int, frames: int | None, draw: int | None) -> Transitions:
    """The rows of a file, or of a domain as `collect` records them."""
    from . import envs
    from .data import collect, load

    if source not in envs.names():
        if not Path(source).exists():
            hint = suggest(source, envs.names()) or "; see 'actcause domains'."
            raise QueryError(f"'{source}' is neither a file nor a domain{hint}")
        for option, value in (("--frames", frames), ("--draw", draw)):
            if value is not None:
                raise QueryError(f"{option} is for a domain, and {source} is a file.")
        return load(source, mapping)
    if mapping is not None:
        raise QueryError(f"--mapping is for a file, and {source} is a domain.")
    drawn = draw is not None or "draw" in envs.parameters(source)
    world = envs.make(source, **({"draw": seed if draw is None else draw} if drawn else {}))
    return collect(world, FRAMES if frames is None else frames, seed, metadata={"domain": source})


def _command(source: str, out: Path, given: Mapping[str, Any], options: list[str] | None) -> str:
    """The command that goes on with a run."""
    words = ["actcause", "train", source]
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    for text in options or ():
        words += ["--set", text]
    return shlex.join([*words, "--out", str(out), "--resume"])


@contextmanager
def progress() -> Iterator[Callable[[Moment], None]]:
    """A progress bar on stderr, where that is a terminal: the stage, its losses and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[values]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("preparing", total=1, values="")

        def told(moment: Moment) -> None:
            values = " ".join(f"{name} {value:.3g}" for name, value in moment.values.items())
            bar.update(task, description=moment.stage, completed=moment.step, total=moment.steps, values=values)

        yield told


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    train: (
        "actcause train break.parquet --out run",
        "actcause train 1-in --frames 50000 --seed 1 --out vectors",
        "actcause train mine.csv --mapping mine.toml --method jaci-em --set steps=6000 --out mine",
        "actcause train break.parquet --out run --resume",
    ),
    predict: (
        "actcause predict run break.parquet --out found.parquet",
        "actcause predict run break.parquet --hindsight --out found.parquet",
    ),
    evaluate: ("actcause evaluate run break.parquet", "actcause evaluate run break.parquet --hindsight --json"),
}
