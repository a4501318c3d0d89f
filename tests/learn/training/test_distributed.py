"""Several processes that torch's launcher started train as one: the same rows, the same curve, the same weights."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from actcause import learn
from actcause.data import collect
from actcause.learn import LearnError, MaskJACI, runs
from actcause.learn.training import launch, surprises
from waiting import wait_until

TOLERANCE = 0.03  # of each smoothed loss: the processes draw their masks from generators of their own
SMOOTH = 6  # lines of the history, of 50 steps each
OPTIONS = {"steps": 300, "distil_steps": 100, "width": 16, "batch": 256, "device": "cpu", "seed": 1}

# Processes as torch's launcher starts them, by forks of one that has imported torch already: two that train from start
# to end, stop early and go on, and refuse; then two that are commands, with a mistake.
PROGRAM = """
import json, os, socket, sys, traceback
from pathlib import Path
import torch._dynamo  # what the first optimiser imports
from actcause.cli import main
from actcause.data import collect
from actcause.learn import MaskJACI, LearnError, runs
from actcause.learn.training import launch, surprises
from actcause.learn.checkpoint import save

surprises.STEPS = 100
folder, options = Path(sys.argv[1]), json.loads(sys.argv[2])

def start(name, function):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    children = [os.fork() or begin(name, function, {**shared, "RANK": rank, "LOCAL_RANK": rank}) for rank in range(2)]
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

def begin(name, function, variables):
    os.environ.update({key: str(value) for key, value in variables.items()})
    os.dup2(os.open(folder / f"{name}{variables['RANK']}.errors", os.O_CREAT | os.O_WRONLY), 2)
    code = 1
    try:
        code = function()
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)

def learn():
    data = collect("1-in", 3000, seed=3)

    def train(name, data=data, resume=False, **more):
        learner = MaskJACI(**{**options, **more})
        return runs.train(learner, data, folder / name, resume=resume, every=0, tensorboard=False)

    def refused(name, **more):
        try:
            train(name, **more)
        except LearnError as error:
            return str(error)

    with launch.join_processes("cpu") as member:
        whole = train("whole")
        save(whole.learner, folder / f"rank{member.rank}.safetensors")
        short = {"steps": 20, "distil_steps": 10, "width": 8, "batch": 64}
        train("once", **short)
        stopped = train("twice", **short, max_seconds=1e-6)
        resumed = train("twice", **short, resume=True)
        again = train("twice", **short, resume=True)
        said = {
            "size": member.size,
            "statuses": [stopped.status, resumed.status, again.notes[0]],
            "batch": refused("odd", batch=30),
            "data": refused("other", data=data.subset(slice(member.rank, None))),
        }
        (folder / f"said{member.rank}.json").write_text(json.dumps(said))
    return 0

def mistake():
    words = ["train", str(folder / "data.parquet"), "--out", str(folder / "run")]
    return main([*words, "--device", "cpu", "--set", "batch=30"])

collect("1-in", 1000, seed=1, out=folder / "data.parquet")
print(json.dumps({"learn": start("learn", learn), "mistake": start("mistake", mistake)}))
"""


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("together")
    words = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(OPTIONS)]
    ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    (folder / "codes.json").write_text(ran.stdout)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[runs.Trained]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 100)
        yield runs.train(
            MaskJACI(**OPTIONS),
            collect("1-in", 3000, seed=3),
            tmp_path_factory.mktemp("one") / "run",
            tensorboard=False,
        )
    torch.set_num_threads(threads)


def smooth(folder: Path) -> dict[str, list[float]]:
    """The losses of each stage, over so many lines each."""
    losses = defaultdict(list)
    for line in (folder / "history.jsonl").read_text().splitlines():
        entry = json.loads(line)
        stage = entry.pop("stage")
        entry.pop("step")
        for name, value in entry.items():
            losses[f"{stage}.{name}"].append(value)
    return {k: [sum(v[-SMOOTH:]) / len(v[-SMOOTH:])] if len(v) < SMOOTH else means(v) for k, v in losses.items()}


def means(values: list[float]) -> list[float]:
    return [sum(values[at : at + SMOOTH]) / SMOOTH for at in range(len(values) - SMOOTH + 1)]


def test_every_process_ends_well(together: Path) -> None:
    assert json.loads((together / "codes.json").read_text())["learn"] == [0, 0], (
        together / "learn0.errors"
    ).read_text()


def test_two_processes_have_the_curve_of_one_with_the_same_batch(together: Path, alone: runs.Trained) -> None:
    one, two = smooth(alone.folder), smooth(together / "whole")
    assert one.keys() == two.keys()
    for name in one:
        assert two[name] == pytest.approx(one[name], rel=TOLERANCE, abs=0.005), name


def test_two_processes_end_with_the_same_weights_to_the_last_bit(together: Path) -> None:
    files = [together / f"rank{rank}.safetensors" for rank in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_two_processes_learn_as_well_as_one(together: Path, alone: runs.Trained) -> None:
    data = collect("1-in", 2000, seed=4)
    scores = [learner.score(data) for learner in (alone.learner, learn.load(together / "whole"))]
    assert scores[1] > scores[0] - 0.02
    assert scores[1] > 0.9


def test_one_process_writes_and_what_it_writes_is_a_run(together: Path) -> None:
    assert sorted(path.name for path in (together / "whole").iterdir()) == [
        "history.jsonl", "model.safetensors", "run.json",
    ]  # fmt: skip
    steps = [json.loads(line)["step"] for line in (together / "whole" / "history.jsonl").read_text().splitlines()]
    assert steps == sorted(set(steps))
    assert runs.summary(together / "whole")["processes"] == 2


def test_stopped_by_its_budget_a_training_goes_on_to_the_same_weights(together: Path) -> None:
    for rank in range(2):
        said = json.loads((together / f"said{rank}.json").read_text())
        assert said["size"] == 2
        assert said["statuses"] == ["stopped", "finished", "This run had finished already."]
    once, twice = (learn.load(together / name, device="cpu").nets_ for name in ("once", "twice"))
    for name, net in once.items():
        for key, value in net.state_dict().items():
            assert torch.equal(value, twice[name].state_dict()[key]), (name, key)


def test_a_batch_that_cannot_be_shared_and_data_that_differ_are_refused_by_all(together: Path) -> None:
    for rank in range(2):
        said = json.loads((together / f"said{rank}.json").read_text())
        assert "2 processes cannot share a batch of 30 rows" in said["batch"]
        assert "not the same" in said["data"]
    assert not (together / "odd").exists()
    assert not (together / "other").exists()


def test_as_a_command_one_process_speaks_and_ctrl_c_ends_all(tmp_path: Path) -> None:
    collect("1-in", 1000, seed=1, out=tmp_path / "data.parquet")
    run = tmp_path / "run"
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = ["-m", "actcause", "train", str(tmp_path / "data.parquet"), "--out", str(run), "--device", "cpu"]
    endless = ["--set", "steps=1000000", "--set", "width=8", "--set", "batch=32", "--no-tensorboard"]
    process = subprocess.Popen(
        [*launcher, *command, *endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    history = run / "history.jsonl"
    wait_until(lambda: process.poll() is not None or (history.exists() and history.stat().st_size))
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert printed == ""
    ours = [line for line in said.splitlines() if line.startswith("actcause:")]
    assert len(ours) == 1
    assert "go on with: torchrun --nproc-per-node 2 -m actcause train" in ours[0]
    assert (run / "checkpoint.safetensors").exists()
    assert runs.summary(run)["status"] == "interrupted"


def test_a_mistake_is_one_sentence_and_exit_code_2(together: Path) -> None:
    assert json.loads((together / "codes.json").read_text())["mistake"] == [2, 0]
    said = [(together / f"mistake{rank}.errors").read_text() for rank in range(2)]
    assert said[0].count("\n") == 1
    assert "cannot share a batch of 30 rows" in said[0]
    assert said[1] == ""
    assert not (together / "run").exists()


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "29532")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    with pytest.raises(LearnError, match="2 processes were started for 1 GPUs"), launch.join_processes("cuda"):
        pass


def test_a_process_alone_has_no_others() -> None:
    with launch.join_processes("cpu") as member:
        assert member is None
    assert (launch.rank(), launch.size(), launch.prefix()) == (0, 1, "")
