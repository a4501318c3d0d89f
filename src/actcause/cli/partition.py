"""The command `partition`: functional actual causes in every state of a space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .. import parallel
from ..core.find import partitions
from ..errors import QueryError
from ..io.atomic import exit_on_terminate, write_whole
from ..io.console import print_json, print_note
from ..questions.source import read_model, read_timing
from . import options
from .progress import show_line

if TYPE_CHECKING:
    from ..core.spaces.out_of_core import OutOfCorePartitions
    from ..core.spaces.preimages import Partitions


def partition(
    model: options.ModelArgument,
    outcome: options.OutcomeOption = None,
    alpha_sufficiency: options.SufficiencyOption = None,
    alpha_necessity: options.NecessityOption = None,
    where: options.WhereOption = None,
    steps: options.AskedStepsOption = None,
    solver: options.PartitionSolverOption = "auto",
    max_pairs: options.MaxPairsOption = 64,
    max_states: options.MaxStatesOption = None,
    max_seconds: options.MaxSecondsOption = None,
    out: options.MasksOption = None,
    workers: options.WorkersOption = None,
    engine: options.EngineOption = "local",
    address: options.AddressOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Find what an outcome depends on, in every state at once: all partitions of minimal cost.

    A pair gives every state the variables that matter there. People are shown the first pair.

    With an --alpha-sufficiency under 1/2 a space that is too large for memory is solved in parts, which
    --workers share.
    """
    from ..core.spaces.mask_file import write_masks
    from ..core.spaces.preimages import Partitions

    source = read_model(model, read_timing(steps, None, outcome, where))
    space = source.read_space(
        outcome=outcome, where=where, alpha_sufficiency=alpha_sufficiency, alpha_necessity=alpha_necessity
    )
    with parallel.engine(engine, workers, address) as pool, show_line() as report:
        pairs = partitions(
            source.model, **space, max_seconds=max_seconds, solver=solver, workers=pool, on_progress=report
        )
        if out is not None and pairs.cost is not None:
            with exit_on_terminate(), write_whole(out, QueryError) as file:
                write_masks(pairs, file, pool)
    if not isinstance(pairs, Partitions):
        print_note(f"the space is too large to be held at once, so its {pairs.states:,} states were solved in parts.")
    if as_json:
        print_json(pairs.to_json(max_pairs=max_pairs, max_states=_limit_states(pairs, max_pairs, max_states)))
    else:
        from .render import show
        from .render_partition import partition_page

        show(partition_page(pairs))


def _limit_states(pairs: Partitions | OutOfCorePartitions, max_pairs: int, max_states: int | None) -> int | None:
    """Limit how many states of each pair are printed; report a limit that is not the user's."""
    most = options.WRITTEN_STATES
    if max_states is not None or pairs.states <= most or not max_pairs or pairs.cost is None:
        return max_states
    print_note(
        f"only the first {most:,} of {pairs.states:,} states are printed; --max-states {pairs.states} prints them all."
    )
    return most


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    partition: (
        "actcause partition rock-throwing",
        "actcause partition rock-throwing --outcome BS --alpha-sufficiency 0.2 --json",
        "actcause partition model.txt --outcome BS --alpha-necessity 0.01",
        "actcause partition pusher-1d --where 'P == 499'",
        "actcause partition model.txt --outcome BS --alpha-sufficiency 0.2 --out masks.npy --workers 2",
    )
}
