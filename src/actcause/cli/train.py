"""The command `train`: learning from recordings."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import MissingExtraError, QueryError
from ..io.console import print_json, print_note
from ..io.settings import parse_setting
from ..learn.training_source import FRAMES
from .exit_codes import SUCCESS
from .graphs import ALL, train_whole
from .predict import choose_mapping, import_learn
from .progress import show_training

if TYPE_CHECKING:
    from ..learn import Learner
    from ..learn.training_source import TrainingSource

OWN_OPTIONS = {"seed": "--seed", "device": "--device", "max_seconds": "--max-seconds"}


def _methods() -> tuple[str, ...]:
    try:
        return tuple(import_learn().names())
    except MissingExtraError:
        return ()


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from .graphs import OutcomeOption
    from .options import (
        AddressOption,
        DeviceOption,
        EngineOption,
        JsonOption,
        MappingOption,
        WorkersOption,
        option,
    )

    SourceArgument = Annotated[
        list[str],
        typer.Argument(metavar="DATA_OR_DOMAIN", help="A file of transitions, or a domain to record some of."),
    ]
    RunOption = Annotated[Path, option("--out RUN", "A folder for the run.")]
    MethodOption = Annotated[str, option("--method NAME", "How to learn: see docs/learning.md.", names=_methods)]
    SeedOption = Annotated[str, option("--seed S", "Fixes weights, order and split; several (0..9) are a sweep.")]
    SeedsOption = Annotated[
        int, option("--seeds N", "Train N seeds, S and those after it, side by side, and keep the best.", min=1)
    ]
    ResumeOption = Annotated[bool, option("--resume", "Go on with a run that was cut off.")]
    OverwriteOption = Annotated[bool, option("--overwrite", "Replace a run.")]
    BudgetOption = Annotated[float | None, option("--max-seconds SECONDS", "Stop after this long; can be resumed.")]
    PatienceOption = Annotated[
        int | None, option("--patience STEPS", "End a stage whose loss stands still for so long.", min=1)
    ]
    FramesOption = Annotated[int | None, option("--frames N", "Of a domain: how many.", min=1, default=f"{FRAMES:,}")]
    DrawOption = Annotated[int | None, option("--draw D", "Of a domain: its parameters.", min=0, default="S")]
    SetOption = Annotated[
        list[str] | None, option("--set NAME=VALUE", "An option of the method, such as steps=6000; repeatable.")
    ]
    SweepOption = Annotated[
        list[str] | None,
        option("--sweep NAME=VALUES...", "Train every combination: penalty=0.01,0.02 seed=0..9 method=grad,cf."),
    ]
    TensorboardOption = Annotated[
        bool | None,
        option("--tensorboard/--no-tensorboard", "Write event files for it.", default="where it is installed"),
    ]


def train(
    words: SourceArgument,
    out: RunOption,
    method: MethodOption = "jaci-auto",
    seed: SeedOption = "0",
    seeds: SeedsOption = 1,
    device: DeviceOption = "auto",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    max_seconds: BudgetOption = None,
    patience: PatienceOption = None,
    frames: FramesOption = None,
    draw: DrawOption = None,
    outcome: OutcomeOption = None,
    options: SetOption = None,
    sweep: SweepOption = None,
    mapping: MappingOption = None,
    tensorboard: TensorboardOption = None,
    workers: WorkersOption = None,
    engine_name: EngineOption = "local",
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> int:
    """Learn which factors caused the outcome, from transitions alone; true causes are not looked at.

    A run is a folder with the learned model, the course of training and, until it has finished, a checkpoint: after
    Ctrl-C, a time budget or a power cut, --resume goes on to the same result.

    With --seeds several are trained side by side, and the best is kept, chosen without labels. With --sweep, or several
    values of --seed, RUN holds a run for every combination, and a table of them, best first; the same command goes on
    where it stopped. Under torchrun several processes train one run together.

    With --outcome all the causes of every factor are learned from a recording of whole states.
    """
    library = import_learn()
    from ..learn.sweeps import grid
    from ..learn.training import launch
    from ..learn.training_source import TrainingSource
    from . import sweep as command

    given = dict(parse_setting(text, "steps=6000", OWN_OPTIONS) for text in options or ())
    with launch.one_voice(), _name_settings(given):
        source, settings = command.split_words(words, sweep or ())
        first, *others = _parse_seeds(seed)
        view = None if outcome == ALL else outcome
        rows = TrainingSource(source, None if mapping is None else str(mapping), frames, draw, view)
        if launch.rank() == 0 and outcome is None and not rows.is_domain and isfile(source):
            choose_mapping(source, mapping)
        shared = {**given, "seed": first, "device": device, "max_seconds": max_seconds}
        if others:
            settings.append(f"seed={seed}")
        given_options = {
            "--method": method, "--seed": seed, "--seeds": seeds if seeds > 1 else None, "--device": device,
            "--max-seconds": max_seconds, "--patience": patience, "--frames": frames, "--draw": draw,
            "--mapping": mapping, "--outcome": outcome,
        }  # fmt: skip
        go_on = _command(source, out, given_options, options)
        if outcome == ALL:
            for name in (name for name, used in {"--sweep": settings, "--patience": patience}.items() if used):
                raise QueryError(f"{name} is for the training of one outcome, not for --outcome all.")
            return train_whole(
                method, shared, rows, out,
                seeds=seeds, resume=resume, overwrite=overwrite, go_on=go_on, as_json=as_json,
            )  # fmt: skip
        if settings and seeds > 1:
            raise QueryError("--seeds keeps the best of one training; a sweep has its seeds in seed=0..9.")
        if settings:
            owners = {name: f"--set {name}" for name in given} | {"device": "--device", "max_seconds": "--max-seconds"}
            request = {
                "source": rows, "out": out, "settings": grid.Grid.read(settings, owners).values, "method": method,
                "options": shared, "patience": patience, "tensorboard": tensorboard,
            }  # fmt: skip
            if overwrite:
                raise QueryError("--overwrite is for one run; a sweep goes on with its folder, or takes another.")
            return command.run(request, engine_name=engine_name, workers=workers, address=address, as_json=as_json)
        if workers not in (None, 1) or engine_name != "local" or address is not None:
            raise QueryError("--workers and --engine are for several trainings: add --sweep, or several seeds.")
        learner = library.make(method, **shared)
        return _train(
            learner, rows, out, seeds=seeds, resume=resume, overwrite=overwrite, patience=patience,
            tensorboard=tensorboard, go_on=go_on, as_json=as_json,
        )  # fmt: skip


def _train(learner: Learner, rows: TrainingSource, out: Path, *, go_on: str, as_json: bool, **more: Any) -> int:
    """Train one run; of several processes that a launcher started, the first one speaks."""
    from ..learn import runs, train_run
    from ..learn.errors import RunError
    from ..learn.training import launch

    speaks = launch.rank() == 0
    try:
        with show_training() if speaks else nullcontext() as callback:
            run = train_run(learner, rows, out, callback=callback, **more)
    except KeyboardInterrupt as interrupt:
        if not speaks:
            return SUCCESS
        with suppress(RunError):
            runs.summary(out)
            print_note(f"stopped; go on with: {launch.prefix()}{go_on}")
        return 128 + int(getattr(interrupt, "signal", signal.SIGINT))
    if not speaks:
        return SUCCESS
    for note in run.notes:
        print_note(note)
    if run.status == "stopped":
        print_note(f"out of time; go on with: {launch.prefix()}{go_on}")
    fitted = run.learner
    if as_json:
        print_json(
            {
                "out": str(out),
                "method": fitted.method,
                "rows": run.rows,
                "status": run.status,
                "seconds": round(run.seconds, 2),
                "settings": fitted.settings(),
                "learned": fitted.learned_,
                "notes": list(run.notes),
                **({} if run.seeds is None else {"seeds": run.seeds.to_json()}),
            }
        )
        return SUCCESS
    print(f"{fitted.method} on {run.rows:,} rows of {Path(rows.name).name}, {run.status}: {out}")
    if run.seeds is not None:
        print(run.seeds)
    shares = dict(fitted.learned_.get("shares", {}))
    if shares:
        listed = ", ".join(f"{factor} {share:.1%}" for factor, share in shares.items())
        print(f"Found to be a cause in held-out rows: {listed}.")
    return SUCCESS


# -- helpers ---------------------------------------------------------------------------------------


@contextmanager
def _name_settings(given: Mapping[str, Any]) -> Iterator[None]:
    """Name a wrong option of a method as it was given: `--set steps`."""
    from ..learn.errors import LearnError

    try:
        yield
    except LearnError as wrong:
        if wrong.parameter in given:
            wrong.parameter = f"--set {wrong.parameter}"
        raise


def _parse_seeds(text: str) -> tuple[int, ...]:
    """Parse the seeds in `3`, `0,1,2` or `0..9`."""
    from ..learn.sweeps.grid import values

    seeds = values("seed", text)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in seeds) or not seeds:
        raise QueryError(f"--seed takes an integer of at least 0, or several: 0,1,2 or 0..9. Got '{text}'.")
    return seeds


def _command(source: str, out: Path, given: Mapping[str, Any], options: list[str] | None) -> str:
    """Write the command that goes on with a run."""
    words = ["actcause", "train", source]
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    for text in options or ():
        words += ["--set", text]
    return shlex.join([*words, "--out", str(out), "--resume"])


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    train: (
        "actcause train break.parquet --out run",
        "actcause train 1-in --frames 50000 --seed 1 --out vectors",
        "actcause train mine.csv --mapping mine.toml --method jaci-em --set steps=6000 --out mine",
        "actcause train break.parquet --seeds 3 --out best",
        "actcause train states.parquet --outcome all --out graphs",
        "actcause train break.parquet --out run --resume",
        "actcause train break.parquet --out sweep --sweep penalty=0.01,0.02,0.05 seed=0..9 --workers 2",
    ),
}
