"""`python -m actcause.reproduction`: `actcause reproduce` where there is neither typer nor rich.

PYTHONPATH=src python -m actcause.reproduction accuracy --device cuda --max-seconds 1500 --archive accuracy.jsonl
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import ActCauseError
from ..io.console import print_note
from .experiment import SIZES
from .request import Request, reproduce


def main(arguments: Sequence[str] | None = None, *, name: str | None = None) -> int:
    """Answer a command line; `name` is the experiment where a file of one is run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if name is None:
        parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--quick", dest="size", action="store_const", const="quick")
    for option in ("results", "experiments", "docs", "archive", "take"):
        parser.add_argument(f"--{option}", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--together", type=int, metavar="N")
    parser.add_argument("--only", action="append", default=[], metavar="FIELD=VALUES")
    parser.add_argument("--keep-stale", action="store_true")
    parser.add_argument("--max-seconds", type=float)
    parser.add_argument("--workers", type=int, metavar="N")
    parser.add_argument("--engine", default="local", metavar="NAME")
    parser.add_argument("--address", metavar="HOST:PORT")
    parser.add_argument("--certify", metavar="COMMIT")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--json", dest="as_json", action="store_true")
    given = vars(parser.parse_args(arguments))
    given["names"] = (name,) if name is not None else tuple(given["names"])
    try:
        return reproduce(Request(**{**given, "only": tuple(given["only"])}))
    except ActCauseError as error:
        print_note(error)
        return 2


if __name__ == "__main__":
    sys.exit(main())
