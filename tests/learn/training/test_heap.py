"""Freed memory is kept: many tensors made again and again touch fresh pages once, not each time."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MEASURE = """
import resource, sys, torch
from actcause.learn.training.heap import keep_freed_memory

def count_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        tensors = [torch.zeros(2**20, dtype=torch.float32) for _ in range(4)]  # of 4 MiB, and all freed together
        del tensors
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

torch.set_num_threads(1)
before = count_faults()
keep_freed_memory()
print(before, count_faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives memory back like this")
def test_what_is_freed_is_not_asked_of_the_system_again() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    once = 4 * 2**22 // 4096  # pages of the four tensors
    assert after < 3 * once, f"{before} faults before, {after} after"
