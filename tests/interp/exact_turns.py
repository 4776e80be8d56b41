# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations whose segments are cubics of rotation vectors, at 50 digits, with any spacing, along the shortest path.

The construction follows docs/formulas, "Cubics of rotation vectors". The methods differ in the velocities at the keys,
which are central differences, given velocities, or the velocities of a C2 rotation ("C2 rotations").
"""

from __future__ import annotations

import mpmath as mp

from tests.interp import exact


class Rotations(exact.Track):
    """Rotations with one velocity per key, `velocity`, in radians per frame."""

    def chord(self, p, q):
        return [2 * x for x in exact.log(exact.multiply(q, exact.conjugate(p)))[1:]]

    def velocity(self, key):
        raise NotImplementedError

    def segment(self, n):
        """The turn, and the derivatives of the rotation vector at the start and end, by the local parameter."""
        if not hasattr(self, "segments"):
            self.segments = {}
        if n not in self.segments:
            d, turn = self.f[n + 1] - self.f[n], self.chord(self.p[n], self.p[n + 1])
            leaving = [d * v for v in self.velocity(n)]
            arriving = list(mp.lu_solve(left_jacobian(turn), mp.matrix([d * v for v in self.velocity(n + 1)])))
            self.segments[n] = turn, leaving, arriving
        return self.segments[n]

    def rotation(self, frame):
        n, u = self.at(frame)
        if not self.last:
            return self.p[0]
        half = [
            (t * (3 * u**2 - 2 * u**3) + a * (u**3 - 2 * u**2 + u) + b * (u**3 - u**2)) / 2
            for t, a, b in zip(*self.segment(n), strict=True)
        ]
        return exact.multiply(exact.exp([mp.mpf(0), *half]), self.p[n])


class CatmullRom(Rotations):
    """Rotations with central differences as velocities. They are slopes of parabolas, including at the ends."""

    def velocity(self, key):
        if self.is_end(key):
            inner = 1 if key == 0 else self.last - 1
            first, second = (0, 1) if key == 0 else (self.last - 1, self.last)
            slope = [x / (self.f[second] - self.f[first]) for x in self.chord(self.p[first], self.p[second])]
            return slope if self.last == 1 else [2 * x - v for x, v in zip(slope, self.velocity(inner), strict=True)]
        before, after = self.quaternion_neighbours(key)
        d1, d2 = self.spacing(key)
        chords = self.chord(before, self.p[key]), self.chord(self.p[key], after)
        return [(d2 * a / d1 + d1 * b / d2) / (d1 + d2) for a, b in zip(*chords, strict=True)]


class Hermite(Rotations):
    """Rotations with given velocities."""

    def velocity(self, key):
        return [mp.mpf(float(x)) for x in self.velocities[key]]


class SecondOrder(Rotations):
    """Rotations with continuous angular acceleration. Newton's method finds the velocities.

    `velocities` contains rows for the first and last keys. If None, the angular acceleration there is 0.
    """

    def velocity(self, key):
        if not hasattr(self, "solution"):
            self.solve()
        return self.solution[key]

    def solve(self):
        keys = range(self.last + 1)
        sides = [Side(self.f[n + 1] - self.f[n], self.chord(self.p[n], self.p[n + 1])) for n in range(self.last)]
        free = self.velocities is None
        found = [mp.matrix(3, 1) for _ in keys]
        if not free:
            for key in (0, self.last):
                found[key] = mp.matrix([mp.mpf(float(x)) for x in self.velocities[key]])
        step = mp.inf
        while step > mp.mpf(10) ** -30:
            rows = []
            for key in keys:
                before, own, after, missing = mp.zeros(3), mp.zeros(3), mp.zeros(3), mp.zeros(3, 1)
                if key in (0, self.last) and not free:
                    own = mp.eye(3)
                    rows.append((before, own, after, missing))
                    continue
                if key > 0:
                    side = sides[key - 1]
                    missing += side.at_end(found[key - 1], found[key])
                    before = 2 * side.jacobian / side.d
                    own += 4 * mp.eye(3) / side.d + side.bend_rates(found[key])
                if key < self.last:
                    side = sides[key]
                    missing -= side.at_start(found[key], found[key + 1])
                    own += 4 * mp.eye(3) / side.d
                    after = 2 * side.inverse / side.d
                rows.append((before, own, after, missing))
            changes = eliminated(rows)
            step = max(abs(x) for change in changes for x in change)
            found = [velocity - change for velocity, change in zip(found, changes, strict=True)]
        self.solution = [list(velocity) for velocity in found]


class Side:
    """The angular accelerations at both ends of a segment, from its length `d`, turn and end velocities."""

    def __init__(self, d, turn):
        self.d, self.turn = d, mp.matrix(turn)
        # Differences lose digits, too.
        with mp.workdps(90):
            self.jacobian = left_jacobian(self.turn)
            self.inverse = mp.inverse(self.jacobian)
            axes = [mp.matrix([int(i == j) for j in range(3)]) for i in range(3)]
            own = [self.bend(axis) for axis in axes]
            self.bends = [
                [list((self.bend(a + b) - own[i] - own[j]) / 2) for j, b in enumerate(axes)] for i, a in enumerate(axes)
            ]

    def bend(self, rate):
        """Return the acceleration at the segment's end due to a constant rate of the rotation vector."""
        h = mp.mpf(10) ** -20
        return (left_jacobian(self.turn + h * rate) - left_jacobian(self.turn - h * rate)) * rate / (2 * h)

    def bilinear(self, a, b):
        pairs = [(i, j) for i in range(3) for j in range(3)]
        return mp.matrix([mp.fsum(a[i] * b[j] * self.bends[i][j][part] for i, j in pairs) for part in range(3)])

    def at_start(self, leaving, arriving):
        return (6 * self.turn - self.d * (4 * leaving + 2 * self.inverse * arriving)) / self.d**2

    def at_end(self, leaving, arriving):
        rate = self.d * self.inverse * arriving
        second = -6 * self.turn + 2 * self.d * leaving + 4 * rate
        return (self.jacobian * second + self.bilinear(rate, rate)) / self.d**2

    def bend_rates(self, arriving):
        """Return the derivative of the quadratic part with respect to the velocity at the end."""
        rate = self.d * self.inverse * arriving
        columns = [2 * self.bilinear(rate, self.inverse[:, i]) / self.d for i in range(3)]
        return mp.matrix([[columns[j][i] for j in range(3)] for i in range(3)])


def left_jacobian(turn):
    """Return the left Jacobian of SO(3) in closed form, or the identity if the turn is 0."""
    # The closed form loses digits at small turns. The precision is sufficient for them.
    with mp.workdps(90):
        x, y, z = turn
        size = mp.sqrt(x * x + y * y + z * z)
        if not size:
            return mp.eye(3)
        cross = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return mp.eye(3) + cross * (1 - mp.cos(size)) / size**2 + cross * cross * (size - mp.sin(size)) / size**3


def eliminated(rows):
    """Solve the equations of each key and its neighbors, given as (matrix before, own, after, right side)."""
    upper = []
    for before, own, after, right in rows:
        if upper:
            last_after, last_right = upper[-1]
            own, right = own - before * last_after, right - before * last_right
        inverse = mp.inverse(own)
        upper.append((inverse * after, inverse * right))
    found = [upper[-1][1]]
    for after, right in upper[-2::-1]:
        found.insert(0, right - after * found[0])
    return found


def track(kind, frames, q, parameters, velocities=None, **options):
    """Return rotations of any of these methods, ready to evaluate."""
    made = kind(frames, q, parameters, **options)
    made.velocities = velocities
    made.prepare_rotations()
    return made
