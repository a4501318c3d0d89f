"""The commands about learning from recordings: `train`, `predict` and `evaluate`."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import DataError, MissingExtraError, QueryError
from ..io.atomic import exit_on_terminate
from ..io.console import print_json, print_note
from ..io.settings import parse_setting
from ..learn.training_source import FRAMES
from .graphs import ALL, load_whole, predict_whole, train_whole
from .progress import show_rows, show_training

if TYPE_CHECKING:
    from ..learn import Learner
    from ..learn.training_source import TrainingSource

OWN_OPTIONS = {"seed": "--seed", "device": "--device", "max_seconds": "--max-seconds"}


def _methods() -> tuple[str, ...]:
    try:
        return tuple(_library().names())
    except MissingExtraError:
        return ()


with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from .graphs import OutcomeOption
    from .options import AddressOption, EngineOption, JsonOption, WorkersOption, option

    SourceArgument = Annotated[
        list[str],
        typer.Argument(metavar="DATA_OR_DOMAIN", help="A file of transitions, or a domain to record some of."),
    ]
    RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that 'actcause train' wrote.")]
    DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="A Parquet or CSV file of transitions.")]
    RunOption = Annotated[Path, option("--out RUN", "A folder for the run.")]
    RecordingsArgument = Annotated[
        list[str],
        typer.Argument(metavar="DATA", help="Files of transitions, folders of them, or patterns: 'data/*.parquet'."),
    ]
    AnnotatedOption = Annotated[str, option("--out PATH", "A file for one file, a folder for several.")]
    MethodOption = Annotated[str, option("--method NAME", "How to learn: see docs/learning.md.", names=_methods)]
    SeedOption = Annotated[str, option("--seed S", "Fixes weights, order and split; several (0..9) are a sweep.")]
    SeedsOption = Annotated[
        int, option("--seeds N", "Train N seeds, S and those after it, side by side, and keep the best.", min=1)
    ]
    DeviceOption = Annotated[str, option("--device NAME", "cpu, cuda, or auto: cuda if there.")]
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
    MappingOption = Annotated[
        Path | None,
        option("--mapping FILE", "JSON or TOML: which columns are which factors.", default="by their names"),
    ]
    TensorboardOption = Annotated[
        bool | None,
        option("--tensorboard/--no-tensorboard", "Write event files for it.", default="where it is installed"),
    ]
    HindsightOption = Annotated[bool, option("--hindsight", "Take the observed outcome into account.")]
    ResampleOption = Annotated[
        bool | None,
        option(
            "--resample/--no-resample",
            "Score as many states with a cause as without.",
            default="as the paper: for push and break",
        ),
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
    library = _library()
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
            taken = {name: f"--set {name}" for name in given} | {"device": "--device", "max_seconds": "--max-seconds"}
            request = {
                "source": rows, "out": out, "settings": grid.Grid.read(settings, taken).values, "method": method,
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
            return 0
        with suppress(RunError):
            runs.summary(out)
            print_note(f"stopped; go on with: {launch.prefix()}{go_on}")
        return 128 + int(getattr(interrupt, "signal", signal.SIGINT))
    if not speaks:
        return 0
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
        return 0
    print(f"{fitted.method} on {run.rows:,} rows of {Path(rows.name).name}, {run.status}: {out}")
    if run.seeds is not None:
        print(run.seeds)
    shares = dict(fitted.learned_.get("shares", {}))
    if shares:
        listed = ", ".join(f"{factor} {share:.1%}" for factor, share in shares.items())
        print(f"Found to be a cause in held-out rows: {listed}.")
    return 0


def predict(
    run: RunArgument,
    data: RecordingsArgument,
    out: AnnotatedOption,
    hindsight: HindsightOption = False,
    mapping: MappingOption = None,
    device: DeviceOption = "auto",
    workers: WorkersOption = None,
    engine_name: EngineOption = "local",
    address: AddressOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the rows of files with what caused the outcome of each.

    To the columns of DATA come extra.found.FACTOR, extra.probability.FACTOR, and extra.unsure,
    which is true where the learned model predicts badly and no answer can be trusted. Row groups are
    annotated one by one, in as much memory as they need; a command that was cut off goes on where it
    stopped when it is given again, and files that are finished are left as they are.
    """
    _library()
    from ..learn.loading import holds_graphs
    from ..learn.prediction import predict_files
    from ..parallel import engine

    if holds_graphs(run):
        return predict_whole(run, data, out, hindsight=hindsight, device=device, as_json=as_json)
    for name in data:
        if isfile(name):
            with suppress(DataError):  # of one of several files: the others are finished
                choose_mapping(name, mapping)
    try:
        with exit_on_terminate(), engine(engine_name, workers, address) as pool, show_rows() as on_progress:
            done = predict_files(
                run, data, out,
                hindsight=hindsight, mapping=mapping, device=device, workers=pool, on_progress=on_progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        print_note("stopped; the same command goes on where it stopped.")
        return 128 + signal.SIGINT
    if as_json:
        print_json({"out": out, **done.to_json()})
    elif done.files:
        print(done.describe(out))
    for sentence in done.failed.values():
        print_note(sentence)
    return 2 if done.failed else 0


def evaluate(
    run: RunArgument,
    file: DataArgument,
    resample: ResampleOption = None,
    hindsight: HindsightOption = False,
    mapping: MappingOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Score a run on transitions whose true causes are known.

    Of the data that the run was trained on only the held-out part is scored; other data whole.
    """
    _library()
    from ..data import load
    from ..learn import evaluate_graphs, evaluate_run

    whole = load_whole(file)
    found: Any
    if whole is not None:
        found = evaluate_graphs(run, whole, hindsight=hindsight, device=device)
    else:
        data = load(file, choose_mapping(file, mapping))
        found = evaluate_run(run, data, resample=resample, hindsight=hindsight, device=device)
    if as_json:
        print_json(found.to_json())
    else:
        print(found)


# -- helpers ---------------------------------------------------------------------------------------


def _library() -> Any:
    """`actcause.learn`, or what to install."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401

        from .. import learn
    except ModuleNotFoundError as missing:
        if missing.name not in ("safetensors", "torch"):
            raise
        raise MissingExtraError("Learning from data", "learn") from None
    return learn


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


def choose_mapping(file: Path | str, mapping: Path | None) -> Any:
    """Choose how a file is read, and say so where the user did not."""
    from .. import data

    chosen = data.choose_mapping(file, mapping)
    if chosen.note is not None:
        print_note(f"{chosen.note} --mapping FILE says otherwise.")
    return chosen.mapping


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
    predict: (
        "actcause predict run break.parquet --out found.parquet",
        "actcause predict run break.parquet --hindsight --out found.parquet",
        "actcause predict run 'break*.parquet' --out causes/ --workers 2",
    ),
    evaluate: ("actcause evaluate run break.parquet", "actcause evaluate run break.parquet --hindsight --json"),
}
