"""State spaces past memory: all pairs of least cost, exactly, while only parts of the space are held.

Below `alpha_sufficiency` 1/2 states do not compete (see `solvers/assignment.py`): a state is given the smallest sets of
variables that are sufficient and necessary there, whatever others are given. So states can be looked at part by part,
if what *other* states say about one can be had without holding them. It can:

- With a set `X` held, let the other variables that the outcome reads take all their `T` assignments. A state with
  outcome `y` finds `X` sufficient if at least `T - floor(a T)` of them give `y`, `a` being `alpha_sufficiency`. That is
  more than half of `T`, so for each assignment of `X` at most one outcome can do it: the most frequent one.
- With everything but `X` held, a state finds `X` necessary (nothing else changing in between) unless more than
  `T - max(1, ceil(n T))` assignments of `X` give `y`, `n` being `alpha_necessity`. Up to `n` = 1/2 that is at least
  half, so again the most frequent outcome alone can forbid it; above, at most `T // (T - ceil(n T) + 1)` can.

An outcome that is not among the most frequent ones comes out too seldom to make a set sufficient and too seldom to make
it unnecessary: counting it as 0 gives the same verdict as its exact count. What must be known is therefore one value
and one count for each assignment of what is held, found by going over the outcome's table once, in blocks
(`frequent_outcomes.py`). Where so much is held that these would not fit, little is left to vary, and each state tries
it out itself. Necessity by changes that pass through other variables looks at the state's own context only. Then every
part of the contexts is solved by itself (`part.py`), by the solver of spaces in memory; costs add up, and the numbers
of choices multiply. Both steps are tasks of an engine, so workers share them.
"""

from .problem import divisible, large
from .result import OutOfCorePartitions
from .search import partitions

__all__ = ["OutOfCorePartitions", "divisible", "large", "partitions"]
