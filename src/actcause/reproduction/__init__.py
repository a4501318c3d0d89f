"""Tables and figures, each made by one command: experiments, what they gave, and pages written from that alone.

An experiment is a file of the folder `experiments/` with an `EXPERIMENT`. It has *pieces*, small enough to be lost:
a domain, a method and a seed, say. What a piece gave is one JSON file, written when the piece ends; a piece that is
there for the same code and settings is never run again. Pages are written from these files and nothing else.
"""

from .experiment import Experiment, Page, Plot, Record, Results

__all__ = ["Experiment", "Page", "Plot", "Record", "Results"]
