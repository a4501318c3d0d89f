"""Memory that tensors free is kept for the next ones, instead of being given back and asked for again.

A step makes and frees the same tensors again and again. The C library of Linux (glibc) keeps freed memory only up to
twice the largest block that it has seen freed so far; what is more it gives back, and the system has to clear every
page anew. With several outcomes side by side that took a third of the time of a training.
"""

from __future__ import annotations

import torch

LARGEST = 2**25 - 2**16  # bytes: glibc learns from freed blocks of less than 32 MiB


def keep_freed_memory() -> None:
    """Free one large block: from now on glibc keeps twice as much. Elsewhere that does nothing."""
    torch.empty(LARGEST, dtype=torch.uint8)
