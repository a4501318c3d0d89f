"""The command `trace`, and what the commands about recordings do with `--outcome`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import QueryError, quote
from ..io.atomic import exit_on_terminate
from ..io.console import print_json, print_note
from .exit_codes import INTERRUPTED, SUCCESS
from .progress import show_rows, show_training

if TYPE_CHECKING:
    from ..data import Recording
    from ..learn.training_source import TrainingSource

ALL = "all"

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    from .options import DeviceOption, JsonOption, option

    OutcomeOption = Annotated[
        str | None,
        option("--outcome NAME", "Of whole states: the factor to explain, or 'all'.", default="the domain's own"),
    ]
    RunArgument = Annotated[
        str, typer.Argument(metavar="RUN", help="A run trained with --outcome all, or 'truth' for the true causes.")
    ]
    FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A recording of whole states.")]
    EpisodeOption = Annotated[int, option("--episode E", "In which episode.", min=0)]
    StepOption = Annotated[int, option("--step T", "At which step of it.", min=0)]
    FactorOption = Annotated[str, option("--factor NAME", "What became of whom.")]
    HindsightOption = Annotated[bool, option("--hindsight", "Take what was observed after each step into account.")]


def trace(
    run: RunArgument,
    file: FileArgument,
    episode: EpisodeOption,
    step: StepOption,
    factor: FactorOption,
    hindsight: HindsightOption = False,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Trace what became of a factor back through local graphs to the actions behind it.

    FILE is a recording of whole states ('actcause collect DOMAIN --outcome all'); RUN learned its graphs
    ('actcause train FILE --outcome all'). With 'truth' in its place the recording's own causes are taken.
    """
    from .. import data

    recording = data.Recording.load(file)
    if run == "truth":
        if recording.cause is None:
            raise QueryError(
                "{file} holds no true causes; in the place of 'truth' give a run: actcause train {file} --outcome all "
                "--out RUN.", file=file.name,
            )  # fmt: skip
        chain = data.trace(recording, episode=episode, step=step, factor=factor)
    else:
        from ..learn import trace_run

        chain = trace_run(run, recording, episode=episode, step=step, factor=factor, hindsight=hindsight, device=device)
    if as_json:
        print_json({"episode": episode, **chain.to_json()})
    else:
        print(chain)


# -- what other commands do with whole states -----------------------------------------------------------


def collect_whole(world: Any, outcome: str, out: Path, frames: int, seed: int, policy: str, domain: str) -> None:
    """Record whole states, all of them or one outcome's view."""
    from .. import data
    from ..data.layout import check_name

    check_name(outcome, [ALL, *world.outcomes], f"Unknown outcome {quote(outcome)}", "choose from")
    with exit_on_terminate(), show_rows() as progress:
        recording = data.collect_recording(
            world, frames, seed, policy=policy, metadata={"domain": domain}, progress=progress
        )
        (recording if outcome == ALL else recording.view(outcome)).save(out)


def train_whole(
    method: str,
    options: Mapping[str, Any],
    source: TrainingSource,
    out: Path,
    *,
    seeds: int,
    resume: bool,
    overwrite: bool,
    go_on: str,
    as_json: bool,
) -> int:
    """Train every outcome of a recording into one run."""
    from ..learn import LocalGraphs, make, train_graphs

    make(method, **options).check_options()  # before there is a folder that a second try would stumble over
    graphs = LocalGraphs(method, **options)
    try:
        with exit_on_terminate(), show_training() as callback:
            recording = source.read_recording(graphs.seed)
            run = train_graphs(
                graphs, recording, out,
                seeds=seeds, resume=resume, overwrite=overwrite, source=Path(source.name).name, callback=callback,
            )  # fmt: skip
    except KeyboardInterrupt:
        print_note(f"stopped; go on with: {go_on}")
        return INTERRUPTED
    graphs = run.graphs
    for note in graphs.notes_:
        print_note(note)
    if run.status == "stopped":
        print_note(f"out of time; go on with: {go_on}")
    if as_json:
        print_json(run.to_json())
        return SUCCESS
    print(f"{graphs.method} on {run.rows:,} rows of {Path(source.name).name}, all outcomes, {run.status}: {out}")
    if graphs.still_:
        print(f"Never change, so have no cause but themselves: {', '.join(graphs.still_)}.")
    return SUCCESS


def load_whole(path: Path | str) -> Recording | None:
    """Read a recording of whole states; None where a file is something else."""
    from ..data import Recording
    from ..data.recording_file import is_recording

    return Recording.load(path) if Path(path).suffix == ".parquet" and is_recording(path) else None


def predict_whole(run: Path, files: list[str], out: str, *, hindsight: bool, device: str, as_json: bool) -> int:
    """Write a recording with the graphs that a run of all outcomes finds in it."""
    from ..data import Recording
    from ..learn import predict_graphs

    if len(files) != 1:
        raise QueryError("A run of all outcomes takes one recording at a time.")
    with exit_on_terminate():
        found = predict_graphs(run, Recording.load(files[0]), hindsight=hindsight, device=device)
        found.save(out)
    if as_json:
        print_json({"out": out, "rows": len(found), "outcomes": list(found.outcomes)})
    else:
        print(f"{len(found):,} rows with the causes of {', '.join(found.outcomes)}: {out}")
    return SUCCESS


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    trace: (
        "actcause trace graphs states.parquet --episode 3 --step 17 --factor block",
        "actcause trace truth states.parquet --episode 3 --step 17 --factor block --json",
    ),
}
