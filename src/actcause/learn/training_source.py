"""Where the rows of a training come from: a file, or a domain that is recorded as `collect` does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import QueryError, suggest

if TYPE_CHECKING:
    from ..data import Recording, Transitions

FRAMES = 100_000  # recorded of a domain, unless told otherwise
BLOCK = 1 << 20


@dataclass(frozen=True)
class TrainingSource:
    """A file with its mapping, or a domain with how much of it is recorded; `check` says whether it can be."""

    name: str
    mapping: str | None = None
    frames: int | None = None
    draw: int | None = None
    outcome: str | None = None  # of a recording of whole states: whose view

    @property
    def is_domain(self) -> bool:
        from ..data.domains import domain_names  # and all domains with it, which no other command needs

        return self.name in domain_names()

    def absolute(self) -> TrainingSource:
        """Give the same source, wherever a process stands."""
        name = self.name if self.is_domain else str(Path(self.name).absolute())
        mapping = None if self.mapping is None else str(Path(self.mapping).absolute())
        return replace(self, name=name, mapping=mapping)

    def check(self) -> None:
        """Refuse what is neither a file nor a domain, and options of the one for the other."""
        from ..data.domains import domain_names

        if self.is_domain:
            if self.mapping is not None:
                raise QueryError(
                    "{parameter} is for a file, and {name} is a domain.", parameter="mapping", name=self.name
                )
            return
        if not Path(self.name).exists():
            hint = suggest(self.name, domain_names()) or "; see 'actcause domains'."
            raise QueryError(f"'{self.name}' is neither a file nor a domain{hint}")
        for parameter, value in (("frames", self.frames), ("draw", self.draw)):
            if value is not None:
                raise QueryError(
                    "{parameter} is for a domain, and {name} is a file.", parameter=parameter, name=self.name
                )

    def read(self, seed: int) -> Transitions:
        """Read the rows; those of a domain are recorded with the training's seed."""
        from ..data import choose_mapping, collect, load
        from ..data.domains import make_seeded_domain

        self.check()
        if self.outcome is not None:
            return self.read_recording(seed).view(self.outcome)
        if not self.is_domain:
            return load(self.name, choose_mapping(self.name, self.mapping).mapping)
        world = make_seeded_domain(self.name, seed, self.draw)
        return collect(world, FRAMES if self.frames is None else self.frames, seed, metadata={"domain": self.name})

    def read_recording(self, seed: int) -> Recording:
        """Read whole states; those of a domain are recorded with the training's seed."""
        from ..data import Recording, collect_recording
        from ..data.domains import make_seeded_domain

        self.check()
        if self.mapping is not None:
            raise QueryError(
                "{parameter} is for tables; whole states are read from our own files.", parameter="mapping"
            )
        if not self.is_domain:
            return Recording.load(self.name)
        frames = FRAMES if self.frames is None else self.frames
        world = make_seeded_domain(self.name, seed, self.draw)
        return collect_recording(world, frames, seed, metadata={"domain": self.name})

    def digest(self) -> str | None:
        """Digest the bytes of a file; None for a domain, whose name and options say all."""
        if self.is_domain:
            return None
        digest = blake2b(digest_size=16)
        top = Path(self.name)
        try:
            for path in sorted(part for part in top.rglob("*") if part.is_file()) if top.is_dir() else [top]:
                with open(path, "rb") as file:
                    while block := file.read(BLOCK):
                        digest.update(block)
        except OSError as refused:
            raise QueryError(f"'{self.name}' cannot be read: {refused.strerror or refused}.") from None
        return digest.hexdigest()
