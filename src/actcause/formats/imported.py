"""What a file of another format becomes: a model, and what the file says besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ..core.model import Model

Prior = Mapping[str, Mapping[int, Fraction]]


@dataclass(frozen=True)
class Imported:
    """A model that was read from another format.

    `prior` has the probabilities of those roots for which the file gives some, exactly as printed there. `notes` say in
    a sentence each what was renamed, chosen or left out.
    """

    model: Model
    title: str = ""
    prior: Prior = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Write everything as plain values; probabilities as text, since they are exact."""
        return {
            "title": self.title,
            "model": self.model.to_text(),
            "variables": list(self.model.variables),
            "roots": list(self.model.roots),
            "prior": {name: {str(value): str(share) for value, share in of.items()} for name, of in self.prior.items()},
            "notes": list(self.notes),
        }
