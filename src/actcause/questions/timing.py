"""How far a model is unrolled in time: as many steps as are said, or as a question or a trace mentions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.model import Model
from ..core.parser import TOKEN
from ..core.steps import AT, PRIME, find_last_step
from ..core.trace import Trace
from ..errors import QueryError


@dataclass(frozen=True)
class Timing:
    """The steps that were asked for, the trace that was recorded, and the last step that a question mentions."""

    steps: int | None = None
    trace: Trace | None = None
    mentioned: int | None = None

    @classmethod
    def read(cls, steps: int | None, trace: Trace | None, texts: Iterable[str | None]) -> Timing:
        """Look for steps in formulas and assignments, such as the 7 of 'alarm@7 == 1'."""
        words = (word for text in texts if text for word in TOKEN.findall(text) if AT in word)
        return cls(steps, trace, find_last_step(words))

    @property
    def last(self) -> int | None:
        """The step to unroll to; None where nothing is said of time."""
        recorded = None if self.trace is None else self.trace.steps
        mentioned = self.mentioned
        if self.steps is not None:
            if mentioned is not None and isinstance(self.steps, int) and mentioned > self.steps:
                wrong = "{parameter} must be at least {mentioned}, the last step of the question; got {got}."
                raise QueryError(wrong, parameter="steps", mentioned=mentioned, got=self.steps)
            return self.steps
        if mentioned is None or recorded is None:
            return recorded if mentioned is None else mentioned
        if mentioned > recorded:
            wrong = (
                "{parameter} ends at step {recorded}, but the question mentions step {mentioned}; record more of it."
            )
            raise QueryError(wrong, parameter="trace", recorded=recorded, mentioned=mentioned)
        return mentioned

    def unroll(self, model: Model) -> Model:
        """Unroll a model; one that is unrolled already, or that has no time and is not said to, stays as it is."""
        last = self.last
        if last is None or (self.steps is None and any(AT in name for name in model.variables)):
            return model
        if self.steps is None and self.trace is None and not any(name.endswith(PRIME) for name in model.variables):
            return model  # the unknown name is reported where it stands
        return model.unrolled(last)
