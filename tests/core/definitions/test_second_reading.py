"""The definitions once more, straight from the words of Halpern's book and of docs/semantics.md.

A model is a dictionary here: name -> (parents, table), a root being its own value. Nothing is shared with the package,
and no variable is left out for not bearing on the effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause import Model, causes, is_cause
from actcause.core.equation import Equation
from strategies import many

BUT_FOR, ORIGINAL, UPDATED, MODIFIED = "but-for", "original-hp", "updated-hp", "modified-hp"
DIRECT, STRONG = "direct", "strong"
SOLVERS = ("auto", "exhaustive")


Tables = dict[str, tuple[tuple[str, ...], dict[tuple[int, ...], int]]]


def run(tables: Tables, do: Mapping[str, int]) -> dict[str, int]:
    values: dict[str, int] = {}
    for name, (parents, table) in tables.items():
        values[name] = do[name] if name in do else table[tuple(values[parent] for parent in parents)]
    return values


def every(names: list[str]) -> Iterator[dict[str, int]]:
    return (dict(zip(names, values, strict=True)) for values in product((0, 1), repeat=len(names)))


def some_of(names: list[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def reads_direct(tables: Tables, y: str, x: dict[str, int]) -> bool:
    """For one W, (X=x, W) fixes Y for all values of every other state variable, and some (X=x', W) does not."""
    actual = run(tables, {})
    outside = [name for name in tables if name != y and name not in x]
    for w in some_of(outside):
        held = {name: actual[name] for name in w}
        free = [name for name in outside if name not in w]

        def fixes(values: dict[str, int], held=held, free=free) -> bool:
            return all(run(tables, {**values, **held, **c})[y] == actual[y] for c in every(free))

        if fixes(x) and any(not fixes(other) for other in every(list(x))):
            return True
    return False


def suffices_along(tables: Tables, y: str, fixed: dict[str, int], network: tuple[str, ...]) -> bool:
    """For all values of the variables outside, Y is as it was and every variable of the network has one value."""
    free = [name for name in tables if name not in fixed and name not in network]
    worlds = [run(tables, {**fixed, **c}) for c in every(free)]
    fixed_effect = all(world[y] == run(tables, {})[y] for world in worlds)
    return fixed_effect and all(len({world[name] for world in worlds}) == 1 for name in network)


def reads_strong(tables: Tables, y: str, x: dict[str, int]) -> bool:
    """For one W and one N around Y: (X=x, W) suffices along N, and some (X=x', W) along no N' inside N around Y."""
    actual = run(tables, {})
    outside = [name for name in tables if name not in x]
    for w in some_of(outside):
        held = {name: actual[name] for name in w}
        around = () if y in w else (y,)  # the event never contains Y here
        for n in some_of([name for name in outside if name not in w and name != y]):
            if suffices_along(tables, y, {**x, **held}, (*n, *around)) and any(
                not any(suffices_along(tables, y, {**other, **held}, (*part, *around)) for part in some_of(list(n)))
                for other in every(list(x))
            ):
                return True
    return False


def reads_but_for(tables: Tables, y: str, x: dict[str, int]) -> bool:
    """Some x', another value for each variable of X, alone makes Y another."""
    others = {name: 1 - value for name, value in x.items()}
    return run(tables, others)[y] != run(tables, {})[y]


def reads_modified(tables: Tables, y: str, x: dict[str, int]) -> bool:
    actual = run(tables, {})
    outside = [name for name in tables if name not in x]
    return any(
        run(tables, {**{name: actual[name] for name in w}, **other})[y] != actual[y]
        for w in some_of(outside)
        for other in every(list(x))
    )


def reads_contingent(tables: Tables, y: str, x: dict[str, int], *, updated: bool) -> bool:
    actual = run(tables, {})
    outside = [name for name in tables if name not in x]
    for w in some_of(outside):
        z = [name for name in outside if name not in w]
        for setting in every(list(w)):
            if all(run(tables, {**setting, **other})[y] == actual[y] for other in every(list(x))):
                continue
            if all(
                run(tables, {**x, **{n: setting[n] for n in kept}, **{n: actual[n] for n in restored}})[y] == actual[y]
                for kept in (some_of(list(w)) if updated else [w])
                for restored in some_of(z)
            ):
                return True
    return False


READINGS: dict[str, Callable[[Tables, str, dict[str, int]], bool]] = {
    BUT_FOR: reads_but_for,
    DIRECT: reads_direct,
    STRONG: reads_strong,
    MODIFIED: reads_modified,
    ORIGINAL: lambda tables, y, x: reads_contingent(tables, y, x, updated=False),
    UPDATED: lambda tables, y, x: reads_contingent(tables, y, x, updated=True),
}


def random_tables(rng: Random) -> Tables:
    tables: Tables = {}
    for index in range(rng.randint(3, 5)):
        parents = tuple(rng.sample(list(tables), min(len(tables), rng.choice([0, 1, 2, 2, 3]) if index else 0)))
        tables[f"X{index}"] = parents, {row: rng.randint(0, 1) for row in product((0, 1), repeat=len(parents))}
    return tables


def as_model(tables: Tables) -> tuple[Model, dict[str, int]]:
    equations = {
        name: Equation(parents, function=lambda *row, table=table: table[row])
        for name, (parents, table) in tables.items()
        if parents
    }
    context = {name: table[()] for name, (parents, table) in tables.items() if not parents}
    return Model(dict.fromkeys(tables, (0, 1)), equations), context


@pytest.mark.parametrize("definition", READINGS)
@given(rng=st.randoms(use_true_random=True))
@many(500)
def test_the_oracle_agrees_with_a_second_reading_of_the_definition(definition: str, rng: Random) -> None:
    tables = random_tables(rng)
    reads = READINGS[definition]
    model, context = as_model(tables)
    actual = run(tables, {})
    assert model.evaluate(context) == actual
    y = list(tables)[-1]
    names = rng.sample(list(tables)[:-1], rng.choice([1, 1, 2]))
    x = {name: actual[name] for name in names}
    verdict = is_cause(
        model, context=context, effect=f"{y} == {actual[y]}", event=x, definition=definition, solver="exhaustive"
    )
    met = reads(tables, y, x)
    assert bool(verdict.conditions["AC2a"] and verdict.conditions["AC2b"]) is met
    minimal = not any(reads(tables, y, {name: actual[name]}) for name in names) if len(names) > 1 else True
    assert verdict.conditions["AC3"] is minimal
    assert verdict.holds is (met and minimal)
    assert is_cause(**verdict.query.arguments, event=x).conditions == verdict.conditions


def test_an_updated_hp_cause_may_need_two_variables() -> None:
    """Rare, and the way in which the update departs from the original (Halpern 2016, Section 2.2)."""

    def table(parents: str, outcomes: str) -> tuple[tuple[str, ...], dict[tuple[int, ...], int]]:
        names = tuple(parents.split())
        return names, dict(zip(product((0, 1), repeat=len(names)), map(int, outcomes), strict=True))

    tables = {
        "A": table("", "1"),
        "B": table("", "1"),
        "C": table("A B", "1010"),
        "D": table("B C A", "10110111"),
        "E": table("C B D A", "0011010100001111"),
    }
    model, context = as_model(tables)
    found = {
        solver: {
            tuple(sorted(cause.event))
            for cause in causes(model, context=context, effect="E == 1", definition=UPDATED, solver=solver)
        }
        for solver in SOLVERS
    }
    assert found["auto"] == found["exhaustive"]
    pairs = [names for names in found["auto"] if len(names) == 2]
    assert pairs
    actual = run(tables, {})
    for names in pairs:
        assert READINGS[UPDATED](tables, "E", {name: actual[name] for name in names})
        assert not any(READINGS[UPDATED](tables, "E", {name: actual[name]}) for name in names)
