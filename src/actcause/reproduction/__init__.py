"""Tables and figures, each made by one command: experiments, what they gave, and pages written from that alone.

An experiment is a file of the folder `experiments/` with an `EXPERIMENT`. It has *pieces*, small enough to be lost:
a domain, a method and a seed, say. What a piece gave is one line of a file, written when the piece ends and never
changed. It counts as long as this code gives the same: the code that made it, or code that a certificate joins with
that. Pages are written from these files and nothing else.
"""

from .experiment import Experiment, Page, Plot, Record, Results

__all__ = ["Experiment", "Page", "Plot", "Record", "Results"]
