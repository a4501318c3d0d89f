"""highway-env: for which car did the driver brake?

Cars drive on a road of several lanes, each by highway-env's Intelligent Driver Model (IDM). The ego car keeps its lane;
the others change lanes as they like (MOBIL). Outcome: the ego car's speed along the road, 0.2 s later.

The IDM looks at one car, the next in front, and takes a term off the acceleration: the nearer and the slower that car,
the larger. `extra.effect` is the term in m/s², the largest of the step.

True cause: the car that the driver model looked at, where its term is at least `least`. Below that the ego car drives
as if the road were free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..envs.base import Array
from .base import World, WorldRow

SUBSTEPS, SECONDS = 3, 1 / 15  # highway-env decides and moves 15 times a second; a row is three of that
SPEEDS, WISHES = (12.0, 30.0), (10.0, 30.0)  # m/s: at the start, and what drivers want
EGO_WISH = 30.0
EGO_START, START = (140.0, 160.0), (60.0, 420.0)  # m along the road
GAP = 12.0  # m between cars of a lane at the start


@dataclass(frozen=True)
class Highway(World):
    """highway-env's traffic: an ego car that keeps its lane among cars that do not.

    Args:
        cars: How many other cars there are.
        lanes: Lanes of the road.
        least: From which braking term on, in m/s², the car in front is a cause.
        check: Step again without each car in turn, and without all that are no cause; the ego car's speed differs
            where it is another by `least` times the length of a step.
    """

    name = "highway"
    title = "highway-env traffic"
    horizon = 40
    simulator = "highway-env"
    licence = "MIT"
    untold = "the other cars change lanes by plans that are no factor of a row"
    revisions = ("first recorded",)
    shared_class = ("car", 1)
    outcome = "ego"
    outcome_features = ("vx",)

    cars: int = 6
    lanes: int = 3
    least: float = 0.3
    check: bool = False

    def __post_init__(self) -> None:
        self._check("cars", "lanes", least=1, whole=True)
        self._check("least")

    @property
    def factors(self) -> tuple[str, ...]:
        """The ego car, then the others."""
        return ("ego", *(f"car{number}" for number in range(1, self.cars + 1)))

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """Place and velocity of each car: x along the road, y across it."""
        return dict.fromkeys(self.factors, ("x", "y", "vx", "vy"))

    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one episode after the other, without end; an accident ends an episode."""
        highway = _Simulator(self.load("highway_env.road.road"), self.load("highway_env.vehicle.behavior"))
        while True:
            yield list(self._episode(_Traffic(highway, generator, self.cars, self.lanes)))

    def _episode(self, traffic: _Traffic) -> Iterator[WorldRow]:
        for _ in range(self.horizon):
            state = dict(zip(self.factors, traffic.read(), strict=True))
            before = deepcopy(traffic) if self.check else None
            terms = traffic.step()
            if terms is None:
                return
            cause = terms >= self.least
            extra: dict[str, float | bool] = {"effect": max(0.0, float(terms.max()))}
            extra |= {f"contact.{car}": bool(np.isfinite(term)) for car, term in zip(self.edges, terms, strict=True)}
            if before is not None:
                extra |= self._check_by_stepping(before, traffic.speed, cause)
            yield WorldRow(state, (traffic.speed,), [self.edges[car] for car in np.flatnonzero(cause)], extra)

    def _check_by_stepping(self, before: _Traffic, speed: float, cause: Array) -> dict[str, bool]:
        """Step without each car in turn, then without all that are no cause."""
        enough = self.least * SUBSTEPS * SECONDS
        each = np.eye(self.cars, dtype=bool)
        differs = [abs(before.step_without(gone) - speed) >= enough for gone in (*each, ~cause)]
        found = {f"differs.{car}": other for car, other in zip(self.edges, differs, strict=False)}
        return {**found, "kept": not differs[-1]}


@dataclass(frozen=True)
class _Simulator:
    """The modules of highway-env, and its driver with a memory of whom it looked at."""

    roads: Any
    behaviour: Any

    @cached_property
    def driver_class(self) -> Any:
        driver = self.behaviour.IDMVehicle

        class WatchedDriver(driver):  # type: ignore[misc, valid-type]
            """A driver that notes the term that each car in front takes off its acceleration."""

            def acceleration(self, ego_vehicle: Any, front_vehicle: Any = None, rear_vehicle: Any = None) -> Any:
                chosen = super().acceleration(ego_vehicle, front_vehicle, rear_vehicle)
                if ego_vehicle is self and front_vehicle is not None:
                    term = float(super().acceleration(self) - chosen)
                    self.looked[id(front_vehicle)] = max(term, self.looked.get(id(front_vehicle), -np.inf))
                return chosen

        return WatchedDriver


class _Traffic:
    """A road with cars on it: the ego car first."""

    def __init__(self, simulator: _Simulator, generator: np.random.Generator, cars: int, lanes: int) -> None:
        network = simulator.roads.RoadNetwork.straight_road_network(lanes, speed_limit=EGO_WISH)
        self._road = simulator.roads.Road(network, np_random=np.random.RandomState(generator.integers(2**31)))
        taken: list[tuple[float, int]] = []
        for number in range(cars + 1):
            kind = simulator.behaviour.IDMVehicle if number else simulator.driver_class
            x, lane = _find_room(generator, START if number else EGO_START, lanes, taken)
            taken.append((x, lane))
            index = ("0", "1", lane)
            car = kind(
                self._road,
                network.get_lane(index).position(x, 0),
                speed=generator.uniform(*SPEEDS),
                target_lane_index=index,
                target_speed=generator.uniform(*WISHES) if number else EGO_WISH,
                enable_lane_change=number > 0,
            )
            self._road.vehicles.append(car)

    @property
    def speed(self) -> float:
        return float(self._road.vehicles[0].velocity[0])

    def read(self) -> list[tuple[float, ...]]:
        return [(*map(float, car.position), *map(float, car.velocity)) for car in self._road.vehicles]

    def step(self) -> Array | None:
        """Drive on; return the largest term of each other car, -inf if it was not looked at. None: an accident."""
        ego, *others = self._road.vehicles
        ego.looked = {}
        for _ in range(SUBSTEPS):
            self._road.act()
            self._road.step(SECONDS)
        if any(car.crashed for car in self._road.vehicles):
            return None
        return np.array([ego.looked.get(id(car), -np.inf) for car in others])

    def step_without(self, gone: Array) -> float:
        """Return the ego car's next speed without some of the others; nothing here is changed."""
        other = deepcopy(self)
        ego, *others = other._road.vehicles
        other._road.vehicles = [ego, *(car for car, leave in zip(others, gone, strict=True) if not leave)]
        other.step()
        return other.speed


def _find_room(
    generator: np.random.Generator, stretch: tuple[float, float], lanes: int, taken: Sequence[tuple[float, int]]
) -> tuple[float, int]:
    """Draw a place on the road that is not too near to the cars that are there."""
    while True:
        x, lane = float(generator.uniform(*stretch)), int(generator.integers(lanes))
        if all(lane != other or abs(x - at) > GAP for at, other in taken):
            return x, lane
