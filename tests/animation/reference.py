# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent, slow implementation of the TCB formulas of docs/formulas in double precision, for comparison."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Key(NamedTuple):
    frame: float
    value: tuple[float, ...]
    tension: float = 0.0
    continuity: float = 0.0
    bias: float = 0.0
    ease_to: float = 0.0
    ease_from: float = 0.0


def ease(u: float, a: float, b: float) -> float:
    s = a + b
    if s == 0 or u in (0, 1):
        return u
    if s > 1:
        a, b = a / s, b / s
    k = 1 / (2 - a - b)
    if u < a:
        return k / a * u * u
    if u <= 1 - b:
        return k * (2 * u - a)
    return 1 - k / b * (1 - u) ** 2


@dataclass
class Neighbours:
    """The neighbors of a key, or None where there is no key."""

    before: Key | None
    after: Key | None
    d1: float
    d2: float

    def adjust(self, key: Key) -> tuple[float, float]:
        level, all_ = 1 - abs(key.continuity), self.d1 + self.d2
        return 0.5 + level * (self.d1 / all_ - 0.5), 0.5 + level * (self.d2 / all_ - 0.5)


def neighbours(keys: Sequence[Key], n: int, loop: bool) -> Neighbours:
    last = len(keys) - 1
    if loop and last > 1 and n in (0, last):
        d1, d2 = keys[last].frame - keys[last - 1].frame, keys[1].frame - keys[0].frame
        return Neighbours(keys[last - 1], keys[1], d1, d2)
    before, after = keys[n - 1] if n > 0 else None, keys[n + 1] if n < last else None
    d1 = keys[n].frame - before.frame if before else 0.0
    d2 = after.frame - keys[n].frame if after else 0.0
    return Neighbours(before, after, d1, d2)


def locate(keys: Sequence[Key], frame: float, cycle: str) -> tuple[int, float]:
    """Return the segment and the eased parameter in the segment."""
    first, last = keys[0].frame, keys[-1].frame
    if cycle != "SINGLE" and len(keys) > 1 and not first <= frame <= last:
        frame = first + math.fmod(frame - first, last - first)
        if frame < first:
            frame += last - first
        elif frame == first:
            frame = last  # The last key is at the joint of a cycle, and the first key just after it.
    if frame <= first:
        return 0, 0.0
    if frame >= last:
        return max(0, len(keys) - 2), 1.0
    n = bisect_right([key.frame for key in keys], frame) - 1
    u = (frame - keys[n].frame) / (keys[n + 1].frame - keys[n].frame)
    return n, ease(u, keys[n].ease_from, keys[n + 1].ease_to)


def scalar(keys: list[tuple], frame: float, cycle: str = "SINGLE", ends: str = "TANGENT") -> float:
    """Evaluate a track of one component with keys (frame, value, tension, …).

    `ends` is "3DS" for rotations about one axis.
    """
    track = [Key(frame, (value,), *rest) for frame, value, *rest in keys]
    if len(track) == 1:
        return track[0].value[0]
    loop = cycle == "LOOP" and len(track) > 2
    n, u = locate(track, frame, cycle)

    def p(key: Key) -> float:
        return key.value[0]

    def side(m: int, incoming: bool) -> float:
        key = track[m]
        near = neighbours(track, m, loop)
        t, c, b = key.tension, key.continuity, key.bias
        if near.before is not None and near.after is not None:
            adjust_in, adjust_out = near.adjust(key)
            # In a loop, the first and last keys have the same pose, so each chord starts at the key's own value.
            before = track[-1].value[0] - track[-2].value[0] if loop and m == 0 else p(key) - p(track[m - 1])
            after = track[1].value[0] - track[0].value[0] if loop and m == len(track) - 1 else p(track[m + 1]) - p(key)
            if incoming:
                return (1 - t) * adjust_in * ((1 + b) * (1 - c) * before + (1 - b) * (1 + c) * after)
            return (1 - t) * adjust_out * ((1 + b) * (1 + c) * before + (1 - b) * (1 - c) * after)
        chord = p(track[1]) - p(track[0]) if m == 0 else p(track[-1]) - p(track[-2])
        if ends == "3DS":
            return (1 - t) * (1 + (c * b if m == 0 else -c * b)) * chord
        if len(track) == 2:
            return (1 - t) * chord
        if m == 0:
            return (1 - t) * (1.5 * chord - 0.5 * side(1, True))
        return (1 - t) * (1.5 * chord - 0.5 * side(m - 1, False))

    p0, p1, b0, a1 = p(track[n]), p(track[n + 1]), side(n, False), side(n + 1, True)
    return (2 * u**3 - 3 * u**2 + 1) * p0 + (u**3 - 2 * u**2 + u) * b0 + (3 * u**2 - 2 * u**3) * p1 + (u**3 - u**2) * a1


def slerp(q1: np.ndarray, q2: np.ndarray, t: float) -> np.ndarray:
    angle = 2 * math.atan2(math.hypot(*(q1 - q2)), math.hypot(*(q1 + q2)))
    if angle < 1e-9:
        return q1 + t * (q2 - q1)
    return (math.sin((1 - t) * angle) * q1 + math.sin(t * angle) * q2) / math.sin(angle)


def unit(q) -> np.ndarray:
    q = np.asarray(q, dtype=np.float64)
    return q / math.hypot(*q)


def rotation(keys: Sequence[Key], frame: float, cycle: str = "SINGLE", shortest: bool = True) -> np.ndarray:
    """Evaluate a track of quaternions by de Casteljau's construction, with ends as in 3D Studio 4."""
    keys = tuple(key._replace(value=tuple(key.value)) for key in keys)
    if len(keys) == 1:
        return unit(keys[0].value)
    n, u = locate(keys, frame, cycle)
    points = segments(keys, cycle, shortest)[n]
    while len(points) > 1:
        points = [slerp(left, right, u) for left, right in pairwise(points)]
    return points[0]


@lru_cache(maxsize=64)
def segments(keys: tuple[Key, ...], cycle: str, shortest: bool) -> list[list[np.ndarray]]:
    """Return the two keys of each segment, with the two control quaternions between them."""
    quaternions = [unit(key.value) for key in keys]
    if shortest:
        for n in range(1, len(keys)):
            if quaternions[n] @ quaternions[n - 1] < 0:
                quaternions[n] = -quaternions[n]
    last = len(keys) - 1
    loop = cycle == "LOOP" and last > 1
    seam = -1.0 if quaternions[last] @ quaternions[0] < 0 else 1.0

    def control(m: int, incoming: bool) -> np.ndarray:
        key, q = keys[m], quaternions[m]
        t, c, b = key.tension, key.continuity, key.bias
        near = neighbours(keys, m, loop)
        if near.before is None:
            return slerp(q, quaternions[1], (1 - t) * (1 + c * b) / 3)
        if near.after is None:
            return slerp(q, quaternions[last - 1], (1 - t) * (1 - c * b) / 3)
        before = seam * quaternions[last - 1] if loop and m == 0 else quaternions[m - 1]
        after = seam * quaternions[1] if loop and m == last else quaternions[(m + 1) % len(keys)]
        adjust_in, adjust_out = near.adjust(key)
        g1, g2 = slerp(q, before, -(1 + b) / 3), slerp(q, after, (1 - b) / 3)
        if incoming:
            return slerp(q, slerp(g1, g2, (1 + c) / 2), -(1 - t) * 2 * adjust_in)
        return slerp(q, slerp(g1, g2, (1 - c) / 2), (1 - t) * 2 * adjust_out)

    return [[quaternions[n], control(n, False), control(n + 1, True), quaternions[n + 1]] for n in range(len(keys) - 1)]


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the rotation by q followed by the rotation by p."""
    (w1, x1, y1, z1), (w2, x2, y2, z2) = p.tolist(), q.tolist()
    return np.array(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + w2 * x1 + y1 * z2 - z1 * y2,
            w1 * y2 + w2 * y1 + z1 * x2 - x1 * z2,
            w1 * z2 + w2 * z1 + x1 * y2 - y1 * x2,
        ]
    )


def of_euler(angles, order: str = "XYZ") -> np.ndarray:
    """Convert Euler angles as in Blender, which rotates about the axis of the first letter first."""
    turns = []
    for letter in order:
        axis = "XYZ".index(letter)
        turn = np.zeros(4)
        turn[0], turn[1 + axis] = math.cos(angles[axis] / 2), math.sin(angles[axis] / 2)
        turns.append(turn)
    return reduce(lambda done, turn: product(turn, done), turns)


def of_axis_angle(angle: float, axis) -> np.ndarray:
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * unit(axis))])


def apart(p: np.ndarray, q: np.ndarray) -> float:
    """Return the angle between two orientations, in radians."""
    p, q = unit(p), unit(q)
    near, far = math.hypot(*(p - q)), math.hypot(*(p + q))
    return 4 * math.atan2(min(near, far), max(near, far))
