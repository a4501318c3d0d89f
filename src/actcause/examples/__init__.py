"""The literature's models, each with its citation and the verdicts that were published about it.

A theme is a file and a model a function of it, whose docstring draws the model (`->` is an influence, `-|` one that
prevents). No model is parsed before it is read.

>>> example = load("rock-throwing")
>>> print(example.story)
Suzy and Billy both throw a rock at a bottle. Suzy's arrives first and shatters it; Billy's would have.
>>> from actcause import is_cause
>>> print(is_cause(example.model, context=example.context, effect=example.effect, event={"ST": 1}))
Suzy's throw ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.
"""

from .engineering import ENGINEERING
from .example import Example, Published, load
from .files import path
from .generators import attack_tree, binary_tree, fault_tree
from .in_time import IN_TIME
from .norms_and_blame import NORMS_AND_BLAME
from .overdetermination import OVERDETERMINATION
from .preemption import PREEMPTION
from .prevention import PREVENTION
from .published_tables import PUBLISHED_TABLES
from .rare_influences import RARE_INFLUENCES
from .rules_and_omissions import RULES_AND_OMISSIONS
from .switches import SWITCHES

__all__ = ["NAMES", "Example", "Published", "attack_tree", "binary_tree", "fault_tree", "load", "names", "path"]

THEMES = (
    PUBLISHED_TABLES,
    RARE_INFLUENCES,
    OVERDETERMINATION,
    PREEMPTION,
    PREVENTION,
    SWITCHES,
    RULES_AND_OMISSIONS,
    NORMS_AND_BLAME,
    ENGINEERING,
    IN_TIME,
)
NAMES = tuple(name for theme in THEMES for name in theme.names)


def names() -> tuple[str, ...]:
    """List the names of all examples, theme by theme.

    >>> names()[:3]
    ('rock-throwing', 'forest-fire', 'gang-execution')
    """
    return NAMES
