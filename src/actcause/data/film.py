"""A film of one episode of a recording, with arrows from the causes to the outcome.

    >>> from actcause.data import collect
    >>> from actcause.envs import make
    >>> push = make("push")
    >>> replay(collect(push, frames=200), push, "episode.gif")  # doctest: +SKIP
    Film(path=PosixPath('episode.gif'), episode=1, steps=20)

A GIF needs Pillow, an MP4 also imageio-ffmpeg, which brings its own ffmpeg; both come with the extra `pictures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..envs.canvas import COLOURS, rgb
from ..envs.drawing import draw, draw_scene, factor_names
from ..errors import DataError, import_extra, quote
from ..io.atomic import write_whole_path
from ..worlds import World
from ..worlds.drawing import build_scene
from .domains import rebuild_domain
from .found import read_found, view_found
from .recording import Recording
from .recording_file import is_recording
from .transitions import Transitions
from .validate import Array

if TYPE_CHECKING:
    from ..envs.base import BaseDomain, Domain

FASTEST = 50  # frames a second: browsers slow down GIFs that are faster


@dataclass(frozen=True)
class Film:
    """What was written: where, which episode of the recording, and how many steps, a frame each."""

    path: Path
    episode: int
    steps: int


def replay(
    transitions: Transitions,
    domain: Domain | World,
    out: str | PathLike[str],
    *,
    episode: int | None = None,
    predicted: Any = None,
    fps: float = 12,
) -> Film:
    """Write one episode of a recording of `domain` to `out`, a `.gif` or an `.mp4`.

    A frame shows the state before a step, and arrows to the outcome from what caused its next value:
    solid from the true causes, where the recording has them, and dashed from the `predicted` ones, 0 or 1
    for each row of the recording and each factor. By default it is the first episode with a cause other
    than the outcome's own previous value. The file appears under its name when it is whole.
    """
    target = Path(out)
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise DataError(f"A replay is written as {' or '.join(WRITERS)}. Got '{target.name}' instead.")
    if not isinstance(fps, (int, float)) or not 0 < fps <= FASTEST:
        raise DataError(f"The frames a second must be more than 0 and at most {FASTEST}. Got {quote(fps)} instead.")
    if transitions.layout.factors != domain.factors or dict(transitions.layout.features) != dict(domain.features):
        raise DataError(
            f"The recording's factors and features must be those of {domain.name}: {', '.join(domain.factors)}. "
            f"Got {', '.join(transitions.factors)} instead; give the domain the parameters it was recorded with."
        )
    if not target.parent.is_dir():
        raise DataError(f"The folder '{target.parent}' does not exist; make it first.")
    guessed = _check_predictions(predicted, (len(transitions), len(domain.factors)))
    chosen = _choose_episode(transitions, domain, episode, guessed)
    rows = np.flatnonzero(transitions.episode == chosen)
    with write_whole_path(target, DataError) as partial:
        write(partial, _frames(transitions, domain, rows, chosen, guessed), fps)
    return Film(target, chosen, len(rows))


def film_recording(file: str | PathLike[str], out: str | PathLike[str], *, episode: int | None = None) -> Film:
    """Write an episode of a recorded file, with the causes that `actcause predict` found where the file holds them.

    Of whole states the arrows lead to the domain's own outcome.
    """
    source = Recording.load(file) if is_recording(file) else Transitions.load(file)
    try:
        domain = rebuild_domain(source.metadata)
    except DataError as unknown:
        raise DataError(f"{file}: {unknown}") from unknown
    rows = view_found(source, domain.outcome) if isinstance(source, Recording) else source
    return replay(rows, domain, out, episode=episode, predicted=read_found(rows))


def _check_predictions(given: Any, shape: tuple[int, int]) -> Array | None:
    if given is None:
        return None
    values = np.asarray(given)
    if values.shape != shape or values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise DataError(
            f"The predicted causes must be 0 or 1 for each row and factor, of shape {shape}. "
            f"Got an array of shape {values.shape} and type {values.dtype} instead."
        )
    return values.astype(bool)


def _choose_episode(transitions: Transitions, domain: BaseDomain, wanted: int | None, predicted: Array | None) -> int:
    """Choose the wanted episode, or the first in which something happens."""
    numbers = transitions.episode
    if numbers is None:
        raise DataError("The recording does not say which rows are an episode; replaced(episode=...) adds that.")
    if wanted is not None:
        if wanted not in numbers:
            known = f"{numbers.min()} to {numbers.max()}"
            raise DataError(f"There is no episode {quote(wanted)}; this recording's episodes are {known}.")
        return int(wanted)
    causes = predicted if transitions.cause is None else transitions.cause
    if causes is None:
        return int(numbers[0])
    other = np.arange(len(domain.factors)) != domain.index(domain.outcome)
    telling = np.flatnonzero(causes[:, other].any(axis=1))
    return int(numbers[telling[0]] if len(telling) else numbers[0])


def _frames(
    transitions: Transitions, domain: Domain | World, rows: Array, episode: int, predicted: Array | None
) -> Iterator[Array]:
    for number, row in enumerate(rows.tolist(), start=1):
        overlays = {"cause": transitions.cause, "predicted": predicted}
        given = {name: causes[row] for name, causes in overlays.items() if causes is not None}
        titles = {"cause": "true causes", "predicted": "predicted causes"}
        lines = [f"{titles[name]}: {', '.join(factor_names(domain, cause)) or 'none'}" for name, cause in given.items()]
        caption = [f"{domain.title}, episode {episode}, step {number} of {len(rows)}", *lines]
        state = transitions.state[row, :, : domain.width]
        if isinstance(domain, World):
            present = None if transitions.mask is None else transitions.mask[row]
            yield draw_scene(domain, build_scene(domain, state.astype(float), present), caption=caption, **given)
        else:
            yield draw(domain, state, caption=caption, **given)


def _write_gif(path: Path, frames: Iterator[Array], fps: float) -> None:
    image = import_extra("PIL.Image", "Writing a GIF", "pictures")
    palette = image.new("P", (1, 1))
    palette.putpalette(_palette())
    pictures = (image.fromarray(frame).quantize(palette=palette, dither=image.Dither.NONE) for frame in frames)
    next(pictures).save(
        path, format="GIF", save_all=True, append_images=pictures, duration=round(1000 / fps), loop=0, disposal=1
    )


def _palette() -> list[int]:
    """List the colours of the pictures, and those between each two of them, for smooth edges."""
    colours = [rgb(colour) for colour in COLOURS]
    between = [
        tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
        for one, other in combinations(colours, 2)
        for share in (0.17, 0.33, 0.5, 0.67, 0.83)
    ]
    return [value for colour in [*colours, *between] for value in colour]


def _write_mp4(path: Path, frames: Iterator[Array], fps: float) -> None:
    ffmpeg = import_extra("imageio_ffmpeg", "Writing an MP4", "pictures")
    try:
        ffmpeg.get_ffmpeg_exe()
    except RuntimeError as none:
        raise DataError("imageio-ffmpeg brings no ffmpeg for this machine: install ffmpeg, or write a .gif.") from none
    first = next(frames)
    height, width, _ = first.shape
    film = ffmpeg.write_frames(
        str(path), (width, height), fps=fps, macro_block_size=2, quality=8, output_params=["-fflags", "+bitexact"],
        ffmpeg_log_level="quiet",
    )  # fmt: skip
    sent = 1
    try:
        film.send(None)
        film.send(first.tobytes())
        for frame in frames:
            film.send(frame.tobytes())
            sent += 1
        film.close()
        # ffmpeg may end well on a full disk, with a film that is too short or none at all.
        written = ffmpeg.count_frames_and_secs(str(path))[0]
    except (OSError, RuntimeError):
        written = 0
    finally:
        film.close()
    if written != sent:
        raise DataError("ffmpeg could not write the whole film: is there space left? A .gif says what is wrong.")


WRITERS: Mapping[str, Callable[[Path, Iterator[Array], float], None]] = MappingProxyType(
    {".gif": _write_gif, ".mp4": _write_mp4}
)
