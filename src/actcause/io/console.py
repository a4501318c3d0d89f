"""What programs print: JSON on stdout, and one line of notes on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_json(document: Any) -> None:
    """Print one document; integers of any length are written out."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # the number of minimal pairs can have a hundred thousand digits
    try:
        print(json.dumps(document))
    finally:
        sys.set_int_max_str_digits(limit)


def print_note(message: object) -> None:
    """Print one line on stderr."""
    print(f"actcause: {' '.join(str(message).split())}", file=sys.stderr)
