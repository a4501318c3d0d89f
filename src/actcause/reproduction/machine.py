"""What made a result: versions, cores, chips and the commit; nothing that identifies the machine."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = {"numpy": "numpy", "torch": "torch", "pysat": "python-sat"}  # by the name they are imported under
SOURCES = ("src", "experiments")
CHANGED = "+changes"  # after a commit from which the sources differ


def list_versions() -> dict[str, str]:
    """List the versions of Python, this package and its libraries; a worker may have loaded them before."""
    from .. import __version__

    found = {"actcause": __version__, "python": platform.python_version()}
    for module, package in PACKAGES.items():
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            if module in sys.modules:
                found[package] = str(getattr(sys.modules[module], "__version__", "unknown"))
    return found


def describe_machine() -> dict[str, Any]:
    """Describe the processor and how many cores may be used; the GPU, where something ran on one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found: dict[str, Any] = {"CPU": _cpu(), "cores": cores}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        found["GPU"] = torch.cuda.get_device_name()
    return found


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    named = re.findall(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else []
    return named[0].strip() if named else platform.machine()


def read_commit(folder: Path) -> str | None:
    """Read the commit of a clone, with "+changes" where its sources differ; None where there is no repository."""
    here = run_git(folder, "rev-parse", "--short=12", "HEAD")
    if here is None:
        return None
    changed = run_git(folder, "status", "--porcelain", "--", *SOURCES)
    return f"{here}{CHANGED}" if changed else here


def run_git(folder: Path, *words: str) -> str | None:
    """Ask git about a folder; None if it cannot be run or refuses."""
    try:
        ran = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()


def read_peak_memory() -> float | None:
    """Read how much memory this process has held at most, in GiB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(held * (1 if sys.platform == "darwin" else 1024) / 2**30, 2)
