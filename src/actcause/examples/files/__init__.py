"""Models of the literature as files of other tools, to be read with `actcause.formats`."""

from pathlib import Path

from ...errors import QueryError, quote, suggest

FOLDER = Path(__file__).parent
FILES = ("mammalian-cell-cycle.bnet", "pressure-tank.xml")


def path(name: str) -> Path:
    """Find a file that comes with the examples.

    >>> path("pressure-tank.xml").name
    'pressure-tank.xml'
    """
    if name not in FILES:
        hint = suggest(str(name), FILES) or "."
        raise QueryError(f"There is no file {quote(name)} with the examples{hint} There are {' and '.join(FILES)}.")
    return FOLDER / name
