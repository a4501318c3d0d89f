"""The exit codes of all commands."""

from typing import Protocol

from ..errors import QueryError

SUCCESS = YES = 0
NO = 1
MISTAKE = 2  # the user's, or a budget that left the answer open
INTERRUPTED, CLOSED_PIPE = 130, 141  # what a shell reports for SIGINT and SIGPIPE


class YesOrNo(Protocol):
    """A verdict: yes, no, or None where a budget ran out first."""

    @property
    def holds(self) -> bool | None: ...


def choose_exit_code(verdict: YesOrNo) -> int:
    """Return the code for yes or no; refuse a verdict that is open, with its own sentence."""
    if verdict.holds is None:
        raise QueryError("{verdict}", verdict=verdict)
    return YES if verdict.holds else NO
