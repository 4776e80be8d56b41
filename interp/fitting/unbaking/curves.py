# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves between two samples of a track, with any tangents at both: what keys may have been played by.

A window is two rows of the samples, `first` and `last`, with some rows between them; u is the local parameter. Tangents
are derivatives by u: of numbers, or angular velocities in the parent's frame. Source: docs/formulas.md, "Keys of baked
curves".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ...batch import IndexArray
from ...keys import Float64Array
from ...rotations import sphere
from ...rotations.exponential import rate_of_velocity, velocity_of_exp
from ...rotations.sphere_curves import DeCasteljau, GramCurve, Squad

AUTOMATIC = 1.0 / 2.5614
"""The length of Blender's automatic handles, as a part of their segment's frames."""
_NEWTON_STEPS = 5
_RIDGE = 1e-10
"""Of two tangents of which the rows determine only one number: the least of all that meet it."""

_TINY = float(np.finfo(np.float64).tiny)

_PART_OF_ARCS = 0.03
"""Parts of segments of up to 90 degrees are no such curves by up to half of this, times the square of their angle."""
_PART_OF_HANDLES = 0.1
"""The same of handles, times their way."""

_MOVES = 100.0
"""Directions in which samples move by this, as a part of the noise, tell something."""


Starts = dict[bytes, tuple[Float64Array, Float64Array]]


class Windows(NamedTuple):
    """Windows of a track's samples: `first` and `last` of shape (m,), `rows` (m, s) between them."""

    first: IndexArray
    last: IndexArray
    rows: IndexArray

    @classmethod
    def between(cls, first: int, last: int) -> Windows:
        """Return the window with all rows between two."""
        return cls(np.array([first]), np.array([last]), np.arange(first + 1, last)[np.newaxis])

    def take(self, chosen: IndexArray) -> Windows:
        """Return some of the windows."""
        return Windows(self.first[chosen], self.last[chosen], self.rows[chosen])

    @property
    def local(self) -> Float64Array:
        """Return the local parameter at the rows, without ease."""
        length = self.last - self.first
        parameter: Float64Array = (self.rows - self.first[:, np.newaxis]) / length[:, np.newaxis]
        return parameter


def tangents_for(u: Float64Array, target: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the tangents (m, 2, d) that play the least squares of a target (m, s, d) at u, and what they leave of it.

    The target is 0 at both ends.
    """
    weights = np.empty((len(u), 2, u.shape[1]))
    v = 1.0 - u
    mixed = u * v
    weights[:, 0], weights[:, 1] = mixed * v, -mixed * u
    products = weights @ weights.transpose(0, 2, 1)
    aa, ab, bb = products[:, :1, :1], products[:, :1, 1:], products[:, 1:, 1:]
    ridge = _RIDGE * (aa + bb) + _TINY
    aa, bb = aa + ridge, bb + ridge
    sums = weights @ target
    a, b = sums[:, :1], sums[:, 1:]
    tangents = np.empty_like(sums)
    tangents[:, :1], tangents[:, 1:] = bb * a - ab * b, aa * b - ab * a
    tangents /= aa * bb - ab * ab
    return tangents, target - weights.transpose(0, 2, 1) @ tangents


class Curves(ABC):
    """The curves of one construction between samples.

    Parameters
    ----------
    samples : ndarray, shape (n, d)
        One a frame; unit quaternions of neighbouring signs for rotations.
    noise : ndarray, shape (d,) or (1,)
        The largest error of samples: of rotations radians.
    starts : dict
        The eases that were found to begin with of windows of these samples, whatever the construction and noise.
    """

    is_linear = False
    """Whether curves are linear in their tangents, and a part of one is one again."""

    def __init__(self, samples: Float64Array, noise: Float64Array, starts: Starts) -> None:
        self.samples, self.noise, self.starts = samples, noise, starts
        self.stays = (np.diff(samples, axis=0) == 0.0).all(axis=1)

    @property
    def count(self) -> int:
        """Return the number of samples."""
        return len(self.samples)

    @property
    def width(self) -> int:
        """Return in how many directions samples move, about how many axes rotations."""
        ways = (
            self.ways(Windows(np.zeros(1, np.intp), np.zeros(1, np.intp), np.arange(self.count)[np.newaxis]))[0]
            / self.noise
        )
        along = ways @ np.linalg.svd(ways, full_matrices=False)[2].T
        return max(int((np.abs(along).max(axis=0, initial=0.0) > _MOVES).sum()), 1)

    def timing(self, t: Float64Array) -> Float64Array:
        """Return the local parameter without ease at parts t of the frames of a window."""
        return t

    @abstractmethod
    def ways(self, windows: Windows) -> Float64Array:
        """Return the ways from the first samples to the rows, shape (m, s, d)."""

    def off_lines(self, windows: Windows, u: Float64Array) -> Float64Array:
        """Return how far samples are from the straight way between the ends, shape (m, s, d)."""
        chord = self.chords(windows.first, windows.last)[:, np.newaxis]
        off: Float64Array = self.ways(windows) - chord * u[..., np.newaxis]
        return off

    def start(self, windows: Windows, u: Float64Array) -> Float64Array:
        """Return tangents (m, 2, d) with which curves are near the samples."""
        # The cubic with both tangents 0 is the straight way at another parameter.
        return tangents_for(u, self.off_lines(windows, u * u * (3.0 - 2.0 * u)))[0]

    @abstractmethod
    def off(self, windows: Windows, u: Float64Array, tangents: Float64Array) -> Float64Array:
        """Return how far samples are from the curves with tangents (m, 2, d) at u, shape (m, s, d)."""

    @abstractmethod
    def slack(self, windows: Windows) -> Float64Array:
        """Return how much more than segments the beginnings of longer ones are off (m,), as parts of the noise."""

    @abstractmethod
    def chords(self, first: IndexArray, last: IndexArray) -> Float64Array:
        """Return the way from one sample to another, shape (m, d): the tangent of the straight one."""


class ValueCurves(Curves):
    """Cubics of numbers."""

    is_linear = True

    def ways(self, windows: Windows) -> Float64Array:
        """See `Curves`."""
        ways: Float64Array = self.samples[windows.rows] - self.samples[windows.first][:, np.newaxis]
        return ways

    def off(self, windows: Windows, u: Float64Array, tangents: Float64Array) -> Float64Array:
        """See `Curves`."""
        v = (1.0 - u)[..., np.newaxis]
        off = self.off_lines(windows, u * u * (3.0 - 2.0 * u))
        u = u[..., np.newaxis]
        curved: Float64Array = off - u * v * v * tangents[:, :1] + u * u * v * tangents[:, 1:]
        return curved

    def slack(self, windows: Windows) -> Float64Array:
        """See `Curves`: a part of a cubic is a cubic."""
        return np.zeros(len(windows.first))

    def chords(self, first: IndexArray, last: IndexArray) -> Float64Array:
        """See `Curves`."""
        return self.samples[last] - self.samples[first]


class HandleCurves(ValueCurves):
    """Bezier segments whose handles are as long as Blender's automatic ones, which are no cubics of the frame."""

    def timing(self, t: Float64Array) -> Float64Array:
        """See `Curves`: the root of the cubic of the frame, by Newton's steps."""
        s = t.copy()
        for _ in range(_NEWTON_STEPS):
            v = 1.0 - s
            frame = 3.0 * s * v * (AUTOMATIC * v + (1.0 - AUTOMATIC) * s) + s**3
            rate = 3.0 * (AUTOMATIC * (v * v + s * s) + 2.0 * (1.0 - 2.0 * AUTOMATIC) * s * v)
            s = s - (frame - t) / rate
        return s

    def slack(self, windows: Windows) -> Float64Array:
        """See `Curves`."""
        slack: Float64Array = _PART_OF_HANDLES * (np.abs(self.ways(windows)) / self.noise).max(axis=(1, 2))
        return slack


class _Turning(Curves):
    """Curves of rotations."""

    def __init__(self, samples: Float64Array, noise: Float64Array, starts: Starts) -> None:
        super().__init__(samples, noise, starts)
        self._quaternions = np.ascontiguousarray(samples.T)

    def _turns(self, first: IndexArray, rows: IndexArray) -> Float64Array:
        """Return the rotation vectors from the first samples (m,) to those of the rows (m, s), shape (3, m, s)."""
        start = sphere.conjugate(self._quaternions[:, first])
        turns: Float64Array = 2.0 * sphere.log(sphere.product(self._quaternions[:, rows], start[:, :, np.newaxis]))
        return turns

    def ways(self, windows: Windows) -> Float64Array:
        """See `Curves`."""
        return self._turns(windows.first, windows.rows).transpose(1, 2, 0)

    def chords(self, first: IndexArray, last: IndexArray) -> Float64Array:
        """See `Curves`."""
        return self._turns(first, last[:, np.newaxis])[:, :, 0].T

    def slack(self, windows: Windows) -> Float64Array:
        """See `Curves`: the part that isn't a cubic."""
        angles = np.abs(self.ways(windows)).max(axis=(1, 2))
        slack: Float64Array = _PART_OF_ARCS * angles**2 / self.noise[0]
        return slack


class RotationVectorCurves(_Turning):
    """Cubics of rotation vectors, as Hermite's, Catmull and Rom's and the solved splines are."""

    def start(self, windows: Windows, u: Float64Array) -> Float64Array:
        """See `Curves`."""
        tangents = super().start(windows, u)
        chord = self.chords(windows.first, windows.last)
        tangents[:, 1] = velocity_of_exp(chord.T, tangents[:, 1].T).T
        return tangents

    def off(self, windows: Windows, u: Float64Array, tangents: Float64Array) -> Float64Array:
        """See `Curves`."""
        rate = rate_of_velocity(self.chords(windows.first, windows.last).T, tangents[:, 1].T).T[:, np.newaxis]
        v = (1.0 - u)[..., np.newaxis]
        off = self.off_lines(windows, u * u * (3.0 - 2.0 * u))
        u = u[..., np.newaxis]
        curved: Float64Array = off - u * v * v * tangents[:, :1] + u * u * v * rate
        return curved


class _OnSphere(_Turning):
    """Curves of arcs between four quaternions, of which the inner two follow from the tangents."""

    @staticmethod
    @abstractmethod
    def curve(start: Float64Array, end: Float64Array, leaving: Float64Array, arriving: Float64Array) -> GramCurve:
        """Return the segments between quaternions (4, m) with tangents (3, m)."""

    def off(self, windows: Windows, u: Float64Array, tangents: Float64Array) -> Float64Array:
        """See `Curves`."""
        start, end = self._quaternions[:, windows.first], self._quaternions[:, windows.last]
        curve = self.curve(start, end, tangents[:, 0].T, tangents[:, 1].T)
        segment = np.repeat(np.arange(len(u)), u.shape[1])
        target = self._quaternions[:, windows.rows.ravel()]
        turn = sphere.product(target, sphere.conjugate(curve.value(segment, u.ravel())))
        turn *= np.where(turn[0] < 0.0, -1.0, 1.0)
        off: Float64Array = 2.0 * sphere.log(turn).reshape(3, *u.shape).transpose(1, 2, 0)
        return off


class DeCasteljauCurves(_OnSphere):
    """Curves of 3D Studio 4."""

    @staticmethod
    def curve(start: Float64Array, end: Float64Array, leaving: Float64Array, arriving: Float64Array) -> GramCurve:
        """See `_OnSphere`."""
        out, into = sphere.exp(leaving / 6.0), sphere.exp(-arriving / 6.0)
        return DeCasteljau(np.stack([start, sphere.product(out, start), sphere.product(into, end), end]))


class SquadCurves(_OnSphere):
    """Curves of 3ds Max."""

    @staticmethod
    def curve(start: Float64Array, end: Float64Array, leaving: Float64Array, arriving: Float64Array) -> GramCurve:
        """See `_OnSphere`."""
        chord = 2.0 * sphere.log(sphere.product(end, sphere.conjugate(start)))
        out, into = sphere.exp((leaving - chord) / 4.0), sphere.exp((chord - arriving) / 4.0)
        return Squad(np.stack([start, sphere.product(out, start), sphere.product(into, end), end]))
