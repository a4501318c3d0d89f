"""What the routers share: the workers, the jobs, the settings, and the way to refuse a request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ActCauseError, ParseError

if TYPE_CHECKING:
    from .jobs import Jobs
    from .settings import Settings
    from .workers import QuestionWorkers


FIELDS = {
    "text": "The model",
    "effect": "The effect",
    "event": "The event",
    "contrast": "What it is set against",
    "normality": "What is normal",
    "steps": "The number of steps",
    "instead": "The field 'Instead of it'",
    "contexts": "What is known",
    "evidence": "What is known",
    "prior": "How probable what was the case is",
    "alpha_sufficiency": "The share that may be undone (alpha sufficiency)",
    "alpha_necessity": "The share that must undo it (alpha necessity)",
    "outcome": "The outcome",
    "where": "The condition",
    "frames": "The number of frames",
    "seed": "The seed",
    "draw": "The seed",  # the form has one for both
    "minutes": "The field 'Minutes at most'",
    "distil_steps": "The number of steps to compress",
    "batch": "The number of rows of a step",
    "width": "The width of the networks",
    "layers": "The number of layers",
}


CHOICES = {("normality_order", "count"): "'compare worlds by: how many, by weight'"}  # as the page words them


# What other languages write, and what model text has for it: after a variable's name, and in formulas.
APART = "each variable on a line of its own"
DECLARED = {
    **dict.fromkeys((":", "<", "~", "←", "=="), "'=' before an equation, 'in' before a range"),
    **dict.fromkeys((";", ","), APART),
}
ELSEWHERE = {
    **dict.fromkeys(("&", "∧", "AND", "And"), "'and'"),
    **dict.fromkeys(("|", "∨", "OR", "Or"), "'or'"),
    **dict.fromkeys(("¬", "NOT", "Not"), "'not'"),
    **dict.fromkeys(("xor", "XOR", "^", "⊕", "≠"), "'!='"),
    **dict.fromkeys((">", "→", "⇒"), "'not A or B' for 'A implies B'"),
    "≤": "'<='", "≥": "'>='", "if": "'1 if A else 0'", "/": "'//', which rounds down", ",": "'and'", ";": APART,
}  # fmt: skip
CAME = re.compile(r"expected .*, got '([^']+)'")


def advise(reason: str) -> str:
    """Say what to write for what another language would have here.

    >>> advise("expected an operator or the end of the line, got 'AND'"), advise("unknown variable 'X'")
    ("; write 'and'", '')
    """
    came = CAME.fullmatch(reason)
    known = DECLARED if "'in'" in reason else ELSEWHERE
    instead = known.get(came[1]) if came else None
    return f"; write {instead}" if instead else ""


class Refused(Exception):  # noqa: N818 - it says what happened, as OutOfBudget does
    """A request that cannot be answered, in one sentence.

    `line` is that of the model text, if it is to blame; `parameter` the field that is.
    """

    def __init__(self, message: str, line: int | None = None, status: int = 422, parameter: str | None = None) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.line = line
        self.status = status
        self.parameter = parameter

    @classmethod
    def of(cls, error: ActCauseError) -> Refused:
        """Tell of a user's mistake in the page's words."""
        if not isinstance(error, ParseError):
            return cls(error.describe(name_field), parameter=error.parameter)
        advice = advise(error.reason)
        if error.parameter is None:
            return cls(f"{error}{advice}", error.line)
        where = f"{name_field(error.parameter)}, at character {error.column}"
        end = "" if error.reason.endswith("?") else "."
        return cls(f"{where}: {error.reason}{advice}{end}", parameter=error.parameter)


def refuse_memory(*, of_model: bool) -> Refused:
    """Refuse what takes more memory than `Limits.memory`."""
    smaller = "ask about a smaller model" if of_model else "take fewer rows or a smaller network"
    return Refused(f"This takes more memory than it may; {smaller}, or start the server with a larger --memory.")


def name_field(parameter: str, value: str = "") -> str:
    """Name a parameter as the page does."""
    return CHOICES.get((parameter, value)) or FIELDS.get(parameter, parameter) + (f" {value}" if value else "")


@dataclass(frozen=True)
class Services:
    """What a request may use."""

    workers: QuestionWorkers
    jobs: Jobs
    settings: Settings

    @property
    def folders(self) -> dict[str, str]:
        """The server's folders, as workers and jobs get them."""
        return {"data": str(self.settings.data), "runs": str(self.settings.runs)}

    async def stop(self) -> None:
        """End every process that was started; to stop twice does no harm."""
        await self.workers.stop()
        await self.jobs.stop()
