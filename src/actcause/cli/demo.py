"""The command `demo`: a short tour."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..io.console import print_json
from . import options
from .progress import show_training


def demo(
    quick: options.QuickOption = False, film: options.FilmOption = options.FILM, as_json: options.JsonOption = False
) -> None:
    """Who broke the bottle? Three short stories in which the definitions part ways, then causes learned from data.

    The second part trains for about a minute and writes a film of an episode; --quick leaves it out.
    """
    from . import stories

    if as_json:
        parts = [*stories.compute_stories(), *([] if quick else stories.learn_stories(film))]
        print_json({story.name: story.document for story in parts})
        return
    from . import render

    render.show(stories.opening())
    for story in stories.compute_stories():
        render.show(story.page)
    if not quick:
        with show_training() as report:
            for story in stories.learn_stories(film, report):
                render.show(story.page)
    render.show(stories.closing())


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    demo: ("actcause demo", "actcause demo --quick", "actcause demo --film episode.gif --json")
}
