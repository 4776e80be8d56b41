# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the TCB formulas for single numbers, as the reference for the demo.

This module is written only from the formulas and imports nothing from the package, so a mistake in either appears as an
error. It evaluates single tracks with the ends of 3D Studio. It is slow, and written to be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

Vector = tuple[float, ...]
Quaternion = tuple[float, float, float, float]


class Key(Protocol):
    """Hold the data of a key. Quaternions are w, x, y, z."""

    @property
    def frame(self) -> float: ...
    @property
    def value(self) -> Vector: ...
    @property
    def tension(self) -> float: ...
    @property
    def continuity(self) -> float: ...
    @property
    def bias(self) -> float: ...
    @property
    def ease_to(self) -> float: ...
    @property
    def ease_from(self) -> float: ...


def value_at(keys: Sequence[Key], frame: float) -> Vector:
    """Return the value of a vector track, which is constant outside its keys."""
    left, u = _segment(keys, frame)
    if len(keys) == 1:
        return keys[0].value
    outgoing, incoming = _tangent(keys, left, 1), _tangent(keys, left + 1, -1)
    h1, h2 = (2 * u - 3) * u * u + 1, (3 - 2 * u) * u * u
    h3, h4 = u * (u - 1) ** 2, u * u * (u - 1)
    ends = zip(keys[left].value, keys[left + 1].value, outgoing, incoming, strict=True)
    return tuple(h1 * p + h2 * q + h3 * b + h4 * a for p, q, b, a in ends)


def rotation_at(keys: Sequence[Key], frame: float) -> Quaternion:
    """Return the unit quaternion of a rotation track, which takes the shorter arc between keys."""
    left, u = _segment(keys, frame)
    q = _same_hemisphere(keys)
    if len(keys) == 1:
        return q[0]
    points = [q[left], _control(keys, q, left, 1), _control(keys, q, left + 1, -1), q[left + 1]]
    while len(points) > 1:
        points = [slerp(a, b, u) for a, b in pairwise(points)]
    return points[0]


def ease(u: float, ease_from: float, ease_to: float) -> float:
    """Return the eased fraction of a segment at the fraction `u` of its time."""
    total = ease_from + ease_to
    if total == 0:
        return u
    if total > 1:
        ease_from, ease_to = ease_from / total, ease_to / total
    k = 1 / (2 - ease_from - ease_to)
    if u < ease_from:
        return k / ease_from * u * u
    if u <= 1 - ease_to:
        return k * (2 * u - ease_from)
    return 1 - k / ease_to * (1 - u) ** 2


def slerp(p: Quaternion, q: Quaternion, t: float) -> Quaternion:
    """Interpolate along the arc from p to q without a change of sign, for any t."""
    angle = 2 * math.atan2(
        _length([a - b for a, b in zip(p, q, strict=True)]), _length([a + b for a, b in zip(p, q, strict=True)])
    )
    if angle == 0:
        return p
    at_p, at_q = math.sin((1 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle)
    return unit([at_p * a + at_q * b for a, b in zip(p, q, strict=True)])


def angle_between(p: Sequence[float], q: Sequence[float]) -> float:
    """Return the angle between two orientations, 0 to pi radians. q and -q are the same orientation."""
    p, q = unit(p), unit(q)
    apart = _length([a - b for a, b in zip(p, q, strict=True)])
    across = _length([a + b for a, b in zip(p, q, strict=True)])
    return 4 * math.atan2(min(apart, across), max(apart, across))


def product(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the product of quaternions, which rotates by q and then by p."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def of_euler(angles: Sequence[float]) -> Quaternion:
    """Return the rotation about X, then Y, then Z, in Blender's order XYZ."""
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(angle / 2), math.sin(angle / 2)) for angle in angles)
    return product((cz, 0.0, 0.0, sz), product((cy, 0.0, sy, 0.0), (cx, sx, 0.0, 0.0)))


def unit(q: Sequence[float]) -> Quaternion:
    w, x, y, z = q
    length = _length(q)
    return w / length, x / length, y / length, z / length


def _segment(keys: Sequence[Key], frame: float) -> tuple[int, float]:
    """Return the row of the key before the frame, and the eased local parameter after it, 0 to 1."""
    if frame <= keys[0].frame:
        return 0, 0.0
    for left, (start, end) in enumerate(pairwise(keys)):
        if frame <= end.frame:
            return left, ease((frame - start.frame) / (end.frame - start.frame), start.ease_from, end.ease_to)
    return max(0, len(keys) - 2), 1.0


def _adjust(keys: Sequence[Key], n: int, side: int) -> float:
    """Return the fraction of the time between the key's neighbors that is on one side (-1 before, 1 after)."""
    here, d1, d2 = keys[n], keys[n].frame - keys[n - 1].frame, keys[n + 1].frame - keys[n].frame
    return 0.5 + (1 - abs(here.continuity)) * ((d1 if side < 0 else d2) / (d1 + d2) - 0.5)


def _tangent(keys: Sequence[Key], n: int, side: int) -> Vector:
    """Return the tangent on that side of key n: a[n] before it, b[n] after it."""
    here, last = keys[n], len(keys) - 1
    if n in (0, last):
        other = 1 if n == 0 else last - 1
        chord = [side * (q - p) for p, q in zip(here.value, keys[other].value, strict=True)]
        if last == 1:
            return tuple((1 - here.tension) * c for c in chord)
        beyond = _tangent(keys, other, -side)
        return tuple((1 - here.tension) * (1.5 * c - 0.5 * t) for c, t in zip(chord, beyond, strict=True))
    c, b = side * here.continuity, here.bias
    scale = (1 - here.tension) * _adjust(keys, n, side)
    ends = zip(keys[n - 1].value, here.value, keys[n + 1].value, strict=True)
    return tuple(scale * ((1 + b) * (1 + c) * (p - o) + (1 - b) * (1 - c) * (q - p)) for o, p, q in ends)


def _control(keys: Sequence[Key], q: Sequence[Quaternion], n: int, side: int) -> Quaternion:
    """Return the control quaternion on that side of key n."""
    here, last = keys[n], len(keys) - 1
    t, c, b = here.tension, here.continuity, here.bias
    if n in (0, last):
        return slerp(q[n], q[1 if n == 0 else last - 1], (1 - t) * (1 + side * c * b) / 3)
    g1, g2 = slerp(q[n], q[n - 1], -(1 + b) / 3), slerp(q[n], q[n + 1], (1 - b) / 3)
    direction = slerp(g1, g2, (1 - side * c) / 2)
    return slerp(q[n], direction, side * (1 - t) * 2 * _adjust(keys, n, side))


def _same_hemisphere(keys: Sequence[Key]) -> list[Quaternion]:
    """Return the unit quaternions of the keys, each with the sign that is closer to the previous quaternion."""
    result: list[Quaternion] = []
    for key in keys:
        w, x, y, z = unit(key.value)
        away = bool(result) and sum(a * b for a, b in zip(result[-1], (w, x, y, z), strict=True)) < 0
        result.append((-w, -x, -y, -z) if away else (w, x, y, z))
    return result


def _length(components: Sequence[float]) -> float:
    return math.sqrt(sum(component * component for component in components))
