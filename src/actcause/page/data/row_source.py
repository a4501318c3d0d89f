"""What a browser may name as a source of rows: a recording of the data folder, or a domain to record some of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...data.domains import domain_names

Name = Annotated[str, Field(min_length=1, max_length=200)]
Seed = Annotated[int, Field(ge=0, le=2**31)]
MOST_FRAMES = 500_000


class StrictRequest(BaseModel):
    """A request body: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class RenameRequest(StrictRequest):
    """Another name for a recording or a run."""

    name: Name


class RowSource(StrictRequest):
    """A recording by its name, or a domain; `draw` fixes a domain's random parameters and `seed` the rollouts."""

    file: Name | None = None
    domain: Name | None = None
    draw: Seed = 0
    seed: Seed = 0
    frames: Annotated[int, Field(ge=100, le=MOST_FRAMES)] = 2000

    @model_validator(mode="after")
    def _check(self) -> RowSource:
        if (self.file is None) == (self.domain is None):
            raise ValueError("name either a recording or a domain")
        if self.domain is not None and self.domain not in domain_names():
            raise ValueError(f"there is no such domain; choose one of {', '.join(domain_names())}")
        return self

    def to_payload(self) -> dict[str, Any]:
        """Write it as workers and jobs get it."""
        if self.file is not None:
            return {"file": self.file}
        return {"domain": self.domain, "draw": self.draw, "seed": self.seed, "frames": self.frames}
