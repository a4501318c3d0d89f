"""A full disk and a read-only one: one clear line, and whatever was there before stays as it was."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main
from actcause.data import DataError, collect, load

ACTCAUSE = [sys.executable, "-m", "actcause"]
LONG = ["collect", "push", "--frames", "100000", "--out", "a.parquet"]
SHORT = ["collect", "push", "--frames", "500", "--seed", "9", "--out", "a.parquet"]
CONVERT = ["convert", "a.parquet", "--out", "b.parquet"]
GIF = ["replay", "a.parquet", "--out", "b.gif"]
MP4 = ["replay", "a.parquet", "--out", "b.mp4"]
FILL = "dd if=/dev/zero of=filled bs=1k 2>/dev/null"
# A namespace of mounts of its own: nothing is left mounted when it ends.
MOUNT = "mount -t tmpfs -o size=1m tmpfs ."


def in_namespace(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    entered = f'{MOUNT} && cd "$PWD" && {script}'
    command = ["unshare", "--mount", "--map-root-user", "bash", "-c", entered, "bash", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    if shutil.which("unshare") is None or in_namespace(tmp_path, "true").returncode:
        pytest.skip("this system does not let us mount a small disk (unshare --mount)")
    collect("push", 500, 0, out=tmp_path / "kept.parquet", metadata={"domain": "push"})
    return tmp_path


@pytest.mark.parametrize(
    ("prepare", "command", "says"),
    [
        ("true", LONG, "Cannot write a.parquet: No space left on device."),
        (FILL, SHORT, "Cannot write a.parquet: No space left on device."),
        (FILL, CONVERT, "Cannot write b.parquet: No space left on device."),
        (FILL, GIF, "Cannot write b.gif: No space left on device."),
        (FILL, MP4, "ffmpeg could not write the whole film"),
        ("mount -o remount,ro .", SHORT, "Cannot write a.parquet: Read-only file system."),
        ("mount -o remount,ro .", CONVERT, "Cannot write b.parquet: Read-only file system."),
        ("mount -o remount,ro .", GIF, "Cannot write b.gif: Read-only file system."),
        ("mount -o remount,ro .", MP4, "Cannot write b.mp4: Read-only file system."),
    ],
)
def test_a_real_disk_that_takes_nothing_more_is_one_line_and_keeps_what_it_has(
    disk: Path, prepare: str, command: list[str], says: str
) -> None:
    kept = disk / "kept.parquet"
    mounted = disk / "disk"
    mounted.mkdir()
    script = f'cp "{kept}" a.parquet; {prepare}; "$@"; echo "code $?"; sha256sum < a.parquet; rm -f filled; ls -A'
    ended = in_namespace(mounted, script, *ACTCAUSE, *command)
    assert says in ended.stderr
    assert [line for line in ended.stderr.splitlines() if not line.startswith("rm:")] == [
        next(line for line in ended.stderr.splitlines() if says in line)
    ]
    code, digest, *left = ended.stdout.splitlines()
    assert code == "code 2"
    assert digest.split()[0] == hashlib.sha256(kept.read_bytes()).hexdigest()
    assert left == ["a.parquet"]


@pytest.mark.parametrize(("number", "when"), [(errno.ENOSPC, "write"), (errno.ENOSPC, "flush"), (errno.EROFS, "open")])
def test_an_error_of_the_disk_leaves_the_earlier_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, when: str
) -> None:
    out = tmp_path / "a.parquet"
    collect("push", 100, 0, out=out)
    before = out.read_bytes()

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    place = {
        "write": "pyarrow.parquet.ParquetWriter.write_table",
        "flush": "actcause.io.atomic.os.fsync",
        "open": "actcause.io.atomic.open",
    }
    monkeypatch.setattr(place[when], refuse, raising=False)
    with pytest.raises(DataError, match=f"Cannot write .*: {os.strerror(number)}"):
        collect("push", 1000, 1, out=out)
    assert main(["collect", "push", "--frames", "1000", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said
    monkeypatch.undo()
    assert out.read_bytes() == before
    assert len(load(out)) == 100
    assert list(tmp_path.iterdir()) == [out]
