"""Black boxes: a whole simulator as one function of named inputs, and the causes of what it does."""

from .answer import BoxAnswer, BoxCause, BoxReplay, BoxVerdict, BoxWitness
from .ask import box_causes, judge_box
from .box import BlackBox
from .inputs import Interval

__all__ = [
    "BlackBox",
    "BoxAnswer",
    "BoxCause",
    "BoxReplay",
    "BoxVerdict",
    "BoxWitness",
    "Interval",
    "box_causes",
    "judge_box",
]
