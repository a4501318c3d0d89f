"""The commands `predict` and `evaluate`: what a run says of recordings, and how often it is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any

from ..errors import DataError, MissingExtraError
from ..io.atomic import exit_on_terminate
from ..io.console import print_json, print_note
from .exit_codes import INTERRUPTED, MISTAKE, SUCCESS
from .graphs import load_whole, predict_whole
from .progress import show_rows

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from .options import AddressOption, DeviceOption, EngineOption, JsonOption, MappingOption, WorkersOption, option

    RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that 'actcause train' wrote.")]
    DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="A Parquet or CSV file of transitions.")]
    RecordingsArgument = Annotated[
        list[str],
        typer.Argument(metavar="DATA", help="Files of transitions, folders of them, or patterns: 'data/*.parquet'."),
    ]
    AnnotatedOption = Annotated[str, option("--out PATH", "A file for one file, a folder for several.")]
    HindsightOption = Annotated[bool, option("--hindsight", "Take the observed outcome into account.")]
    ResampleOption = Annotated[
        bool | None,
        option(
            "--resample/--no-resample",
            "Score as many states with a cause as without.",
            default="as the paper: for push and break",
        ),
    ]


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
    import_learn()
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
            summary = predict_files(
                run, data, out,
                hindsight=hindsight, mapping=mapping, device=device, workers=pool, on_progress=on_progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        print_note("stopped; the same command goes on where it stopped.")
        return INTERRUPTED
    if as_json:
        print_json({"out": out, **summary.to_json()})
    elif summary.files:
        print(summary.describe(out))
    for sentence in summary.failed.values():
        print_note(sentence)
    return MISTAKE if summary.failed else SUCCESS


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
    import_learn()
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


# -- what the other commands about recordings need too ------------------------------------------------


def import_learn() -> Any:
    """Import `actcause.learn`, or say what to install."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401

        from .. import learn
    except ModuleNotFoundError as missing:
        if missing.name not in ("safetensors", "torch"):
            raise
        raise MissingExtraError("Learning from data", "learn") from None
    return learn


def choose_mapping(file: Path | str, mapping: Path | None) -> Any:
    """Choose how a file is read, and say so where the user did not."""
    from .. import data

    chosen = data.choose_mapping(file, mapping)
    if chosen.note is not None:
        print_note(f"{chosen.note} --mapping FILE says otherwise.")
    return chosen.mapping


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    predict: (
        "actcause predict run break.parquet --out found.parquet",
        "actcause predict run break.parquet --hindsight --out found.parquet",
        "actcause predict run 'break*.parquet' --out causes/ --workers 2",
    ),
    evaluate: ("actcause evaluate run break.parquet", "actcause evaluate run break.parquet --hindsight --json"),
}
