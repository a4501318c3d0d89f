"""An experiment for tests, as the text of its file."""

LETTERS = '''"""Letters: an experiment for tests."""

import time
from dataclasses import dataclass
from pathlib import Path

from actcause.reproduction import Experiment, Page, Plot

LOG = Path(__file__).parent / "log"


@dataclass(frozen=True)
class Arguments:
    letters: str = "abcd"
    factor: int = 2


@dataclass(frozen=True)
class Piece:
    letter: str
    number: int


def pieces(arguments):
    return [Piece(letter, 1) for letter in arguments.letters]


def settings(piece, arguments):
    return {"factor": arguments.factor}


def doubled(text, factor):
    return text * factor


def run(pack, arguments, device):
    for piece in pack:
        with LOG.open("a") as file:
            file.write(piece.letter)
    time.sleep(PAUSE)
    return [{"text": doubled(piece.letter, arguments.factor), "size": len(pack)} for piece in pack]


def page(results):
    # What is shown may change.
    said = " ".join(one.value["text"] for one in results.records)
    data = [len(one.value["text"]) for one in results.records]
    return Page(f"The letters: {said}", (Plot("letters", "Lengths", data, draw),))


def draw(figure, data):
    figure.add_subplot().bar(range(len(data)), data)


PAUSE = 0.0
EXPERIMENT = Experiment(
    name="letters", title="Letters", paper="Of no paper.", expected="1 s", arguments=Arguments(), quick=Arguments("ab"),
    tiny=Arguments("a"), pieces=pieces, settings=settings, run=run, page=page, uses=lambda piece: ("exact",),
    together=lambda piece: piece.number,
)
'''
