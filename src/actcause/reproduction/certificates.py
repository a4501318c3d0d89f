"""Certificates: which codes gave the same bytes in the canaries of which parts. A file beside the results.

A certificate joins the digests of the code of results at one commit with those at another: results of an experiment
that depend on the same parts have the same code. It says nothing about a part whose canaries differed. Certificates
make chains: a result is as good as new if one leads from the code that made it to the present code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .experiment import Record, ReproduceError
from .machine import CHANGED
from .store import append_lines, read_lines

FILE = "certificates.jsonl"


@dataclass(frozen=True)
class Certificate:
    """What was compared, and what came out."""

    from_commit: str
    to_commit: str | None  # with "+changes" where the sources differed from it
    codes: Mapping[str, Mapping[str, str]]  # by `label_codes`: the digest of the code before, and after
    equal: Sequence[str]  # parts that gave the same bytes
    different: Sequence[str]
    same_code: Sequence[str] = ()  # those of the equal ones whose code is the same: their canaries did not have to run
    canaries: Mapping[str, Sequence[str | None]] = field(default_factory=dict)  # by part: the digests of those bytes
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""  # what else is to be known

    def joins(self, experiment: str, parts: Iterable[str]) -> list[tuple[str, str]]:
        """List the pairs of codes that it joins: those of an experiment as a whole, and those where it uses parts."""
        labels = dict.fromkeys((experiment, label_codes(experiment, parts)))
        return [pair for label in labels for pair in self.codes.get(label, {}).items()]


def label_codes(experiment: str, parts: Iterable[str]) -> str:
    """Name the code of those results of an experiment that depend on these parts.

    >>> label_codes("accuracy", {"method:grad", "domain:push"})
    'accuracy domain:push method:grad'
    """
    return " ".join([experiment, *sorted(set(parts) - {f"experiment:{experiment}"})])


@dataclass(frozen=True)
class Certificates:
    """All certificates of a folder of results, the oldest first."""

    entries: tuple[Certificate, ...] = ()

    @classmethod
    def read(cls, results: Path) -> Certificates:
        path, entries = results / FILE, []
        with suppress(FileNotFoundError):
            for number, given in read_lines(path):
                try:
                    entries.append(Certificate(**given))
                except TypeError:
                    raise ReproduceError(f"Line {number} of {path} is not a certificate; delete that line.") from None
        return cls(tuple(entries))

    def reach(self, experiment: str, code: str, parts: frozenset[str]) -> frozenset[str]:
        """Find the codes of an experiment that are as good as this one where a result depends on these parts."""
        pairs = [pair for one in self.entries if parts.issubset(one.equal) for pair in one.joins(experiment, parts)]
        reached, before = {code}, 0
        while len(reached) > before:
            before = len(reached)
            reached |= {end for pair in pairs if reached & set(pair) for end in pair}
        return frozenset(reached)

    def explain_gap(self, experiment: str, code: str, parts: frozenset[str], commit: str | None) -> str:
        """Say why no chain leads further, and what to do; `commit` made the result."""
        reached = self.reach(experiment, code, parts)
        for one in reversed(self.entries):
            if any(reached & set(pair) for pair in one.joins(experiment, parts)):
                if not parts.issubset(one.equal):
                    return f"canaries of {', '.join(sorted(parts.difference(one.equal)))} differ from {one.from_commit}"
                clean = one.to_commit is not None and not one.to_commit.endswith(CHANGED)
                commit = one.to_commit if clean else one.from_commit
                break
        return f"code not certified: run `actcause reproduce --certify {commit or 'COMMIT'}`"

    def newest(self, experiment: str, parts: Iterable[str], records: Sequence[Record]) -> tuple[str, str | None]:
        """Return code and commit of the last certificate, or of the last result if no certificate knows its code."""
        pairs = [(pair, one.to_commit) for one in self.entries for pair in one.joins(experiment, parts)]
        known = {code for pair, _ in pairs for code in pair}
        if records and records[-1].code not in known:
            return records[-1].code, records[-1].commit
        return (pairs[-1][0][1], pairs[-1][1]) if pairs else ("", None)


def append_certificates(results: Path, certificates: Iterable[Certificate]) -> Path:
    """Add certificates to those of a folder of results."""
    append_lines(results / FILE, [vars(certificate) for certificate in certificates])
    return results / FILE
