"""Painting a scene: dial and legend at the top, the field with its names, arrows, and a caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .base import Array
from .canvas import EDGE, FIELD, INK, PREDICTED, TRUE, Canvas, Point
from .scene import FOOT, LANE, MIDDLE, TOP, UNDER, Body, Scene


class Painter:
    """One scene on one canvas: from top to bottom dial and legend, the field, names, the whole, the caption."""

    def __init__(self, scene: Scene, size: int, lines: int) -> None:
        left, bottom, right, top = scene.view
        self.scene = scene
        self.unit = size / 480
        self.scale = size / max(right - left, top - bottom)
        font = max(11, round(13 * self.unit))
        lanes = sum(body.label == LANE for body in scene.bodies)
        self.head = round(44 * self.unit)
        across, self.up = (right - left) * self.scale, (top - bottom) * self.scale
        self.below = self.head + self.up + (lanes and (lanes + 0.5) * (font + 5))
        tall = self.below + (42 * self.unit if scene.whole else 0) + (lines and lines * (font + 5) + 8)
        wide = max(across, 0.7 * size)
        self.canvas = Canvas(_even(wide), _even(tall), font)
        self.field = (wide - across) / 2, (wide + across) / 2

    def pixel(self, place: Point) -> Point:
        """Return where a place of the world is in the picture; far outside it, somewhere outside."""
        limit = 2.0 * (self.canvas.width + self.canvas.height)
        x = self.field[0] + (place[0] - self.scene.view[0]) * self.scale
        y = self.head + (self.scene.view[3] - place[1]) * self.scale
        return min(max(x, -limit), limit), min(max(y, -limit), limit)

    def half(self, body: Body) -> Point:
        return max(body.extent[0] * self.scale / 2, 2.0), max(body.extent[1] * self.scale / 2, 2.0)

    def anchor(self, body: Body) -> Point:
        """Return where a body's arrow begins: its middle, or the edge of the picture nearest to it."""
        x, y = self.pixel(body.place)
        rim = 6 * self.unit
        inside = min(max(x, self.field[0] + rim), self.field[1] - rim)
        return inside, min(max(y, self.head + rim), self.head + self.up - rim)

    def paint(self, outcome: str, overlays: Mapping[str, Sequence[str]], caption: Sequence[str]) -> Array:
        canvas, scene = self.canvas, self.scene
        middle = (sum(self.field) / 2, self.head + self.up / 2)
        canvas.box(middle, ((self.field[1] - self.field[0]) / 2, self.up / 2), FIELD, FIELD)
        for wall in scene.walls:
            canvas.path([self.pixel(place) for place in wall], INK, 2 * self.unit)
        for body in scene.bodies:
            paint = canvas.disc if body.round else canvas.box
            thick = 1.5 * self.unit if body.colour else 2.5 * self.unit
            paint(self.pixel(body.place), self.half(body), body.colour, body.outline, thick)
        anchors = {body.name: self.anchor(body) for body in scene.bodies}
        if scene.action:
            anchors[scene.action[0]] = self._dial(*scene.action)
        if scene.whole:
            self._whole(*scene.whole)
        goal = next(body for body in scene.bodies if body.name == outcome)
        for colour, names in overlays.items():
            for name in names:
                self._arrow(colour, anchors[name], anchors[outcome], self.half(goal), loop=name == outcome)
        self._labels(18 * self.unit if overlays else 0.0)
        self._legend(overlays)
        for number, line in enumerate(reversed(caption)):
            at = canvas.height - 6 - (number + 0.5) * canvas.line
            canvas.text((8, at), canvas.shorten(line, canvas.width - 16), "lm")
        return canvas.pixels()

    def _arrow(self, colour: str, start: Point, end: Point, half: Point, *, loop: bool) -> None:
        """Bend true causes upwards and predicted ones downwards, so that neither hides the other."""
        side = 1 if colour == TRUE else -1
        if loop:
            radius = min(max(0.4 * max(half), 12 * self.unit), 15 * self.unit)
            turn = np.radians(np.linspace(100, 350, 40))
            corner = end[0] - side * max(half[0], radius) * 0.9, end[1] - max(half[1], radius) * 0.9
            path = np.stack([corner[0] + side * radius * np.cos(turn), corner[1] + radius * np.sin(turn)], axis=1)
        else:
            first, last = np.array(start), np.array(end)
            along = last - first
            length = float(np.hypot(*along))
            ahead = along / length if length > 1 else np.array([1.0, 0.0])
            up = np.array([ahead[1], -ahead[0]]) * (1 if ahead[0] >= 0 else -1)
            bend = (first + last) / 2 + side * up * max(0.3 * length + 24 * self.unit, 90 * self.unit - length)
            t = np.linspace(0, 1, 81)[:, None]
            path = (1 - t) ** 2 * first + 2 * t * (1 - t) * bend + t**2 * last
            outside = np.flatnonzero((np.abs(path - last) > np.multiply(half, 0.7)).any(axis=1))
            path = path[: max(int(outside[-1]) + 1, 6)] if len(outside) else path
        points = [(float(x), float(y)) for x, y in path]
        self.canvas.arrow(points, colour, 2.6 * self.unit, dashed=colour == PREDICTED)

    def _labels(self, loops: float) -> None:
        """Write the names; those above a body leave room for the loops."""
        canvas, lane = self.canvas, 0
        for body in self.scene.bodies:
            x, y = self.pixel(body.place)
            half = self.half(body)
            name = body.text or body.name
            if body.label == LANE:
                at = self.head + self.up + (lane + 0.75) * canvas.line
                lane += 1
                seen, _ = self.anchor(body)
                if seen == x:
                    canvas.path([(x, y + half[1] + 1), (x, at - canvas.line / 2)], EDGE, self.unit)
                far = f"< {name}" if x < seen else f"{name} >" if x > seen else name
                canvas.text((seen, at), far)
            elif body.label in (FOOT, TOP):
                inside = max(half[1] - canvas.line * 0.6, 0)
                canvas.text((x, y + (inside if body.label == FOOT else -inside)), name, rim=body.colour or FIELD)
            elif body.label == MIDDLE:
                canvas.text((x, y), name, colour=INK if body.colour else EDGE, rim=body.colour or FIELD)
            else:
                away = half[1] + canvas.line * 0.6
                canvas.text((x, y + (away if body.label == UNDER else -away - loops)), name)

    def _dial(self, name: str, way: Point) -> Point:
        """Draw the action as a pointer in a circle; return where its arrows begin."""
        radius = self.head * 0.36
        centre = (8 * self.unit + radius, self.head / 2)
        self.canvas.disc(centre, (radius, radius), FIELD)
        tip = tuple(centre[i] + radius * float(np.clip(way[i], -1, 1)) * 0.85 * (1 - 2 * i) for i in (0, 1))
        self.canvas.path([centre, (tip[0], tip[1])], INK, 2 * self.unit)
        dot = (3 * self.unit, 3 * self.unit)
        self.canvas.disc((tip[0], tip[1]), dot, INK, INK)
        self.canvas.text((centre[0] + radius + 6 * self.unit, self.head / 2), name, "lm")
        return centre[0], centre[1] + radius

    def _whole(self, low: float, high: float) -> None:
        """Draw all bodies on a line that shows the whole world, and what of it is seen above."""
        canvas, y = self.canvas, self.below + 22 * self.unit
        left, right = 30 * self.unit, canvas.width - 34 * self.unit

        def along(x: float) -> float:
            return left + (right - left) * min(max((x - low) / (high - low), 0.0), 1.0)

        seen = along(self.scene.view[0]), along(self.scene.view[2])
        canvas.box((sum(seen) / 2, y), ((seen[1] - seen[0]) / 2, 12 * self.unit), FIELD)
        canvas.path([(left, y), (right, y)], INK, 2 * self.unit)
        for body in self.scene.bodies:
            canvas.box((along(body.place[0]), y), (3 * self.unit, 7 * self.unit), body.colour)
        canvas.text((left - 6 * self.unit, y), f"{low:g}", "rm")
        canvas.text((right + 6 * self.unit, y), f"{high:g}", "lm")

    def _legend(self, overlays: Mapping[str, Sequence[str]]) -> None:
        canvas = self.canvas
        right = canvas.width - 8 * self.unit
        wide = canvas.measure("predicted cause")
        for row, colour in enumerate(overlays):
            y = self.head * (0.5 if len(overlays) == 1 else 0.27 + 0.46 * row)
            text = right - wide
            line = [(float(x), y) for x in np.linspace(text - 52 * self.unit, text - 10 * self.unit, 20)]
            canvas.arrow(line, colour, 2 * self.unit, dashed=colour == PREDICTED)
            canvas.text((text, y), "true cause" if colour == TRUE else "predicted cause", "lm")


def _even(length: float) -> int:
    """Films want even sides."""
    return 2 * round(length / 2)
