# SPDX-License-Identifier: GPL-3.0-or-later
"""Shoemake's construction of 1985 as described by Szirmay-Kalos, at 50 digits."""

from __future__ import annotations

import mpmath as mp

from tests.interp import exact


class ExactShoemake(exact.Track):
    """The construction in Szirmay-Kalos, section 13.5: mirrored, bisected, blended.

    For any spacing, both neighbors are taken at the distance of the closer neighbor, and the arc is divided in the
    ratio of the lengths. With even spacing, these are the neighbors themselves, and the arc is bisected.
    """

    def mirrored(self, p, q):
        """Return p mirrored with respect to q."""
        twice = 2 * exact.dot(p, q)
        return [twice * b - a for a, b in zip(p, q, strict=True)]

    def towards(self, key):
        """Return the control a[key] and its distance in frames."""
        before, after = self.quaternion_neighbours(key)
        d1, d2 = self.spacing(key)
        near = min(d1, d2)
        near_before, near_after = self.slerp(self.p[key], before, near / d1), self.slerp(self.p[key], after, near / d2)
        return self.slerp(self.mirrored(near_before, self.p[key]), near_after, d1 / (d1 + d2)), near

    def along(self, key, frames):
        """Evaluate the great arc through a key and its control, at a number of frames from the key."""
        control, near = self.towards(key)
        return self.slerp(self.p[key], control, frames / near)

    def rotation(self, frame):
        n, t = self.at(frame)
        if self.last == 0:
            return self.p[0]
        q, following, d = self.p[n], self.p[n + 1], self.f[n + 1] - self.f[n]
        if self.last == 1:
            return self.slerp(q, following, t)
        starts, ends = self.is_end(n), self.is_end(n + 1)
        if self.construction == "BLEND":
            between = self.slerp(q, following, t)
            left = None if starts else self.slerp(self.along(n, t * d), between, t)
            right = None if ends else self.slerp(between, self.along(n + 1, (t - 1) * d), t)
            if starts or ends:
                return right if starts else left
            return self.slerp(left, right, t)
        third = mp.mpf(1) / 3
        leave = self.slerp(q, self.along(n + 1, -d / 2), 2 * third) if starts else self.along(n, third * d)
        arrive = self.slerp(following, self.along(n, d / 2), 2 * third) if ends else self.along(n + 1, -third * d)
        points = [q, leave, arrive, following]
        while len(points) > 1:
            points = [self.slerp(points[i], points[i + 1], t) for i in range(len(points) - 1)]
        return points[0]


def exact_track(frames, q, parameters, construction, cycle="SINGLE", path="SHORTEST"):
    track = ExactShoemake(frames, q, parameters, cycle=cycle, path=path, construction=construction)
    track.prepare_rotations()
    return track
