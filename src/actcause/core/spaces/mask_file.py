"""The first pair of a partition as a .npy file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ...parallel import Engine

if TYPE_CHECKING:
    from .out_of_core import OutOfCorePartitions
    from .preimages import Partitions


def mask_type(variables: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return unsigned integers with a bit for each variable."""
    kinds = (np.uint8, np.uint16, np.uint32, np.uint64)
    return np.dtype(next(kind for kind in kinds if np.iinfo(kind).bits >= min(variables, 64)))


def write_masks(partitions: Partitions | OutOfCorePartitions, file: BinaryIO, workers: Engine | None = None) -> None:
    """Write the mask that the first pair gives each state, in the order of contexts; bit 0 is the first variable."""
    kind = mask_type(len(partitions.variables))
    header = {"descr": kind.str, "fortran_order": False, "shape": (partitions.states,)}
    np.lib.format.write_array_header_2_0(file, header)
    for masks in partitions.first_masks(workers):
        file.write(masks.astype(kind).tobytes())
