# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent implementation of the TCB formulas of docs/formulas at 50 digits, as a reference for `interp`.

It shares no code with `interp`, and uses no closed forms (slerp is as printed) and no batching. Derivatives are central
differences, with negligible error at this precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mpmath as mp
import numpy as np
import numpy.typing as npt

mp.mp.dps = 50

Quaternion = list[mp.mpf]


def ease(t: mp.mpf, a: mp.mpf, b: mp.mpf) -> mp.mpf:
    """Return the eased parameter (docs/formulas, "Ease")."""
    s = a + b
    if s == 0:
        return t
    if s > 1:
        a, b = a / s, b / s
    k = 1 / (2 - a - b)
    if t < a:
        return (k / a) * t * t
    if t <= 1 - b:
        return k * (2 * t - a)
    return 1 - (k / b) * (1 - t) ** 2


def dot(p: Sequence[mp.mpf], q: Sequence[mp.mpf]) -> mp.mpf:
    return mp.fsum(a * b for a, b in zip(p, q, strict=True))


def length(p: Sequence[mp.mpf]) -> mp.mpf:
    return mp.sqrt(dot(p, p))


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    (a, b, c, d), (e, f, g, h) = p, q
    return [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]


def conjugate(q: Quaternion) -> Quaternion:
    return [q[0], -q[1], -q[2], -q[3]]


def log(q: Quaternion) -> Quaternion:
    size = length(q[1:])
    angle = mp.atan2(size, q[0])
    return [mp.mpf(0), *(x * angle / size if size else mp.mpf(0) for x in q[1:])]


def exp(v: Quaternion) -> Quaternion:
    angle = length(v[1:])
    return [mp.cos(angle), *(x * mp.sin(angle) / angle if angle else mp.mpf(0) for x in v[1:])]


@dataclass
class Track:
    """The keys of one track. `flattest` is the smallest pi - angle of all arcs used."""

    frames: Sequence[float]
    values: npt.NDArray[np.float64]
    parameters: npt.NDArray[np.float64]
    cycle: str = "SINGLE"
    ends: str = "3DS"
    construction: str = "DE_CASTELJAU"
    path: str = "SHORTEST"
    flattest: float = 3.0
    f: list[mp.mpf] = field(default_factory=list)
    p: list[Quaternion] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.f = [mp.mpf(float(frame)) for frame in self.frames]
        self.p = [[mp.mpf(float(x)) for x in row] for row in self.values]
        self.last = len(self.f) - 1
        self.loop = self.cycle == "LOOP" and self.last > 1

    def parameter(self, row: int, key: int) -> mp.mpf:
        return mp.mpf(float(self.parameters[row, key]))

    def tcb(self, key: int) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
        return self.parameter(0, key), self.parameter(1, key), self.parameter(2, key)

    def is_end(self, key: int) -> bool:
        return key in (0, self.last) and not self.loop

    def neighbours(self, key: int) -> tuple[int, int]:
        if key in (0, self.last):
            return self.last - 1, 1
        return key - 1, key + 1

    def spacing(self, key: int) -> tuple[mp.mpf, mp.mpf]:
        if key in (0, self.last):
            return self.f[self.last] - self.f[self.last - 1], self.f[1] - self.f[0]
        return self.f[key] - self.f[key - 1], self.f[key + 1] - self.f[key]

    def adjust(self, key: int) -> tuple[mp.mpf, mp.mpf]:
        d1, d2 = self.spacing(key)
        c = abs(self.parameter(1, key))
        half = mp.mpf(1) / 2
        return half + (1 - c) * (d1 / (d1 + d2) - half), half + (1 - c) * (d2 / (d1 + d2) - half)

    def at(self, frame: mp.mpf) -> tuple[int, mp.mpf]:
        """Return the segment and the eased local parameter."""
        frame = mp.mpf(frame)
        if self.last == 0:
            return 0, mp.mpf(0)
        if self.cycle != "SINGLE" and not self.f[0] <= frame <= self.f[-1]:
            period = self.f[-1] - self.f[0]
            frame = self.f[0] + (frame - self.f[0]) - period * mp.floor((frame - self.f[0]) / period)
            frame = self.f[-1] if frame == self.f[0] else frame
        frame = min(max(frame, self.f[0]), self.f[-1])
        n = max(k for k in range(self.last) if self.f[k] <= frame)
        u = (frame - self.f[n]) / (self.f[n + 1] - self.f[n])
        return n, ease(u, self.parameter(4, n), self.parameter(3, n + 1))

    # Vector tracks

    def tangent(self, incoming: bool, key: int, i: int) -> mp.mpf:
        """Return component i of a[key] or b[key] (docs/formulas, "TCB tangents" and "Ends of TCB tracks")."""
        t, c, b = self.tcb(key)
        p, last = self.p, self.last
        if last == 1:
            return (1 - t) * (p[1][i] - p[0][i])
        if self.is_end(key) and key == 0:
            return (1 - t) * (mp.mpf("1.5") * (p[1][i] - p[0][i]) - self.tangent(True, 1, i) / 2)
        if self.is_end(key):
            return (1 - t) * (mp.mpf("1.5") * (p[last][i] - p[last - 1][i]) - self.tangent(False, last - 1, i) / 2)
        before, after = self.neighbours(key)
        d_in, d_out = p[key][i] - p[before][i], p[after][i] - p[key][i]
        adjust_in, adjust_out = self.adjust(key)
        if incoming:
            return (1 - t) * adjust_in * ((1 + b) * (1 - c) * d_in + (1 - b) * (1 + c) * d_out)
        return (1 - t) * adjust_out * ((1 + b) * (1 + c) * d_in + (1 - b) * (1 - c) * d_out)

    def vector(self, frame: mp.mpf) -> list[mp.mpf]:
        n, t = self.at(frame)
        if self.last == 0:
            return self.p[0]
        result = []
        for i in range(len(self.p[0])):
            r1, r2 = self.tangent(False, n, i), self.tangent(True, n + 1, i)
            result.append(
                self.p[n][i] * (2 * t**3 - 3 * t**2 + 1)
                + r1 * (t**3 - 2 * t**2 + t)
                + self.p[n + 1][i] * (-2 * t**3 + 3 * t**2)
                + r2 * (t**3 - t**2)
            )
        return result

    # Rotation tracks

    def prepare_rotations(self) -> None:
        self.p = [[x / length(q) for x in q] for q in self.p]
        if self.path == "SHORTEST":
            for n in range(1, len(self.p)):
                if dot(self.p[n], self.p[n - 1]) < 0:
                    self.p[n] = [-x for x in self.p[n]]

    def slerp(self, p: Quaternion, q: Quaternion, t: mp.mpf) -> Quaternion:
        less = length([a - b for a, b in zip(p, q, strict=True)])
        more = length([a + b for a, b in zip(p, q, strict=True)])
        angle = 2 * mp.atan2(less, more)
        self.flattest = min(self.flattest, float(mp.pi - angle))
        if angle == 0:
            return p
        at_p, at_q = mp.sin((1 - t) * angle) / mp.sin(angle), mp.sin(t * angle) / mp.sin(angle)
        return [at_p * a + at_q * b for a, b in zip(p, q, strict=True)]

    def quaternion_neighbours(self, key: int) -> tuple[Quaternion, Quaternion]:
        before, after = self.neighbours(key)
        q_before, q_after = self.p[before], self.p[after]
        seam = 1 if dot(self.p[-1], self.p[0]) >= 0 else -1
        if key == 0:
            q_before = [seam * x for x in q_before]
        if key == self.last:
            q_after = [seam * x for x in q_after]
        return q_before, q_after

    def control(self, incoming: bool, key: int) -> Quaternion:
        """Return a[key] or b[key] (docs/formulas, "De Casteljau on the sphere")."""
        t, c, b = self.tcb(key)
        q, last = self.p, self.last
        if self.is_end(key):
            other = q[1] if key == 0 else q[last - 1]
            sign = 1 if key == 0 else -1
            if self.ends == "3DS":
                return self.slerp(q[key], other, (1 - t) * (1 + sign * c * b) / 3)
            if last == 1:
                return self.slerp(q[key], other, (1 - t) / 3)
            towards = self.control(True, 1) if key == 0 else self.control(False, last - 1)
            return self.slerp(q[key], towards, (1 - t) / 2)
        q_before, q_after = self.quaternion_neighbours(key)
        g1 = self.slerp(q[key], q_before, -(1 + b) / 3)
        g2 = self.slerp(q[key], q_after, (1 - b) / 3)
        adjust_in, adjust_out = self.adjust(key)
        if incoming:
            return self.slerp(q[key], self.slerp(g1, g2, (1 + c) / 2), -(1 - t) * 2 * adjust_in)
        return self.slerp(q[key], self.slerp(g1, g2, (1 - c) / 2), (1 - t) * 2 * adjust_out)

    def squad_control(self, incoming: bool, key: int) -> Quaternion:
        """Return in[key] or out[key] (docs/formulas, "Squad")."""
        t, c, b = self.tcb(key)
        fp = fn = mp.mpf(1)
        if self.is_end(key):
            other = self.p[1] if key == 0 else self.p[self.last - 1]
            turn = log(multiply(conjugate(self.p[key]), other))
            qm = qp = turn if key == 0 else [-x for x in turn]
        else:
            q_before, q_after = self.quaternion_neighbours(key)
            qm = log(multiply(conjugate(q_before), self.p[key]))
            qp = log(multiply(conjugate(self.p[key]), q_after))
            d1, d2 = self.spacing(key)
            fp, fn = 2 * d1 / (d1 + d2), 2 * d2 / (d1 + d2)
            fp, fn = fp + abs(c) - abs(c) * fp, fn + abs(c) - abs(c) * fn
        tm = (1 - t) / 2
        ksm, ksp = tm * (1 - c) * (1 + b) * fp, tm * (1 + c) * (1 - b) * fp
        kdm, kdp = tm * (1 + c) * (1 + b) * fn, tm * (1 - c) * (1 - b) * fn
        if incoming:
            turn = [((1 - ksm) * m - ksp * p) / 2 for m, p in zip(qm, qp, strict=True)]
        else:
            turn = [(kdm * m + (kdp - 1) * p) / 2 for m, p in zip(qm, qp, strict=True)]
        return multiply(self.p[key], exp(turn))

    def rotation(self, frame: mp.mpf) -> Quaternion:
        n, t = self.at(frame)
        if self.last == 0:
            return self.p[0]
        if self.construction == "SQUAD":
            outer = self.slerp(self.p[n], self.p[n + 1], t)
            inner = self.slerp(self.squad_control(False, n), self.squad_control(True, n + 1), t)
            return self.slerp(outer, inner, 2 * t * (1 - t))
        points = [self.p[n], self.control(False, n), self.control(True, n + 1), self.p[n + 1]]
        while len(points) > 1:
            points = [self.slerp(points[i], points[i + 1], t) for i in range(len(points) - 1)]
        return points[0]

    def angular_velocity(self, frame: float) -> list[mp.mpf]:
        """Return 2 q' q*, in the parent's frame."""
        step = mp.mpf(10) ** -15
        before, after = self.rotation(mp.mpf(frame) - step), self.rotation(mp.mpf(frame) + step)
        rate = [(b - a) / (2 * step) for a, b in zip(before, after, strict=True)]
        return [2 * x for x in multiply(rate, conjugate(self.rotation(mp.mpf(frame))))[1:]]


def derivative(evaluate: Callable[[mp.mpf], list[mp.mpf]], frame: float, nu: int) -> list[mp.mpf]:
    """Return derivatives from central differences."""
    step = mp.mpf(10) ** -12
    before, here, after = (evaluate(mp.mpf(frame) + side * step) for side in (-1, 0, 1))
    if nu == 1:
        return [(b - a) / (2 * step) for a, b in zip(before, after, strict=True)]
    return [(a - 2 * h + b) / step**2 for a, h, b in zip(before, here, after, strict=True)]


def rows(samples: Sequence[Sequence[mp.mpf]]) -> npt.NDArray[np.float64]:
    """Return samples as float64."""
    return np.array([[float(x) for x in sample] for sample in samples])
