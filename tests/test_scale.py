"""The commands that take --workers and --engine where Ray is missing, and where a disk takes no more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "scale_commands.py"
COMMANDS = {"ask", "partition", "predict", "train", "reproduce"}
# A namespace of mounts of its own: nothing is left mounted when it ends.
NAMESPACE = ["unshare", "--mount", "--map-root-user", "bash", "-c"]
MOUNTED = 'mount -t tmpfs -o size=1m tmpfs "$0" && "$@"'


def read_output(*command: str | Path, **more: Any) -> dict[str, Any]:
    ran = subprocess.run([*command], capture_output=True, text=True, timeout=300, check=False, **more)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_without_ray_every_command_works_and_its_engine_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')\n")
    found = read_output(
        *(sys.executable, PROGRAM, "without-ray", tmp_path / "work"),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert found.keys() == COMMANDS
    for name, ended in found.items():
        assert ended["local"][0] == 0, (name, ended)
        code, sentence = ended["ray"]
        assert code == 2
        assert "pip install 'actcause[scale]'" in sentence
        assert sentence.count("\n") == 1


def test_a_full_disk_and_a_read_only_one_are_one_sentence_and_leave_earlier_results(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    small_disk = [*NAMESPACE, MOUNTED, str(tmp_path / "disk")]
    if shutil.which("unshare") is None or subprocess.run([*small_disk, "true"], check=False).returncode:
        pytest.skip("this system does not let us mount a small disk (unshare --mount)")
    found = read_output(*small_disk, sys.executable, PROGRAM, "refused", tmp_path / "work", tmp_path / "disk")
    assert found.keys() == COMMANDS
    reasons = {"full": "No space left on device", "read-only": "Read-only file system"}
    for name, ended in found.items():
        assert ended["earlier"][0] == 0, (name, ended)
        for how, reason in reasons.items():
            code, sentence, intact = ended[how]
            assert (code, intact) == (2, True), (name, how, sentence)
            assert reason in sentence
            assert sentence.count("\n") == 1
