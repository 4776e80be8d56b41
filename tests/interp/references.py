# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent computation of each method's curve through random keys.

tools/methods.py measures errors against these references, and tests of the command compare Blender's playback with
them. None of them use `interp`. They use scipy, NumPy, fractions, or independent formulas at 50 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline, CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation, Slerp

from tests.interp import exact, exact_shoemake, exact_turns, scipy_b_splines

Array = npt.NDArray[np.float64]
Curve = Callable[[Array], Array]

COMPONENTS = 3
LARGEST_TURN = 2.0
"""Maximum rotation in radians between keys, 115 degrees."""


@dataclass
class Drawn:
    """Values of keys, or quaternions (w, x, y, z), and the method's expected curve at any frames.

    `parameters` has the rows of `Keys.parameters`. `velocities` is None if the method does not use velocities.
    """

    values: Array
    curve: Curve
    velocities: Array | None = None
    parameters: Array = field(kw_only=True)


@dataclass(frozen=True)
class Reference:
    """A reference implementation: its name, and its function that draws keys at given frames."""

    name: str
    draw: Callable[[np.random.Generator, Array], Drawn]


def positive(generator: np.random.Generator, frames: Array) -> Array:
    """Return values between 0.1 and 10, because the logarithmic method requires positive values."""
    return 10.0 ** generator.uniform(-1.0, 1.0, (len(frames), COMPONENTS))


def orientations(generator: np.random.Generator, frames: Array, largest: float = LARGEST_TURN) -> Rotation:
    """Return quaternions, each rotated from the previous one about a random axis."""
    turns = generator.normal(size=(len(frames), 3))
    turns *= generator.uniform(0.0, largest, (len(frames), 1)) / np.linalg.norm(turns, axis=1, keepdims=True)
    known = [Rotation.from_quat(generator.normal(size=4))]
    for turn in turns[1:]:
        known.append(Rotation.from_rotvec(turn) * known[-1])
    return Rotation.concatenate(known)


def quaternions(known: Rotation) -> Array:
    """w, x, y, z."""
    return np.roll(known.as_quat(), 1, axis=-1)


def unrolled(q: Array) -> Array:
    """Return the quaternions with signs that are continuous from key to key."""
    products = np.einsum("ij,ij->i", q[1:], q[:-1])
    return q * np.cumprod(np.append(1.0, np.where(products < 0.0, -1.0, 1.0)))[:, np.newaxis]


def unset(frames: Array) -> Array:
    return np.zeros((5, len(frames)))


def shaped(generator: np.random.Generator, frames: Array) -> Array:
    """Return random tension, continuity and bias, and an ease at every other key."""
    parameters = generator.uniform(-1.0, 1.0, (5, len(frames)))
    parameters[3:] = np.abs(parameters[3:]) * (np.arange(len(frames)) % 2)
    return parameters


def values(curve: Callable[[Array, Array], Curve]) -> Callable[[np.random.Generator, Array], Drawn]:
    """Return keys of values without parameters."""

    def draw(generator: np.random.Generator, frames: Array) -> Drawn:
        keys = positive(generator, frames)
        return Drawn(keys, curve(frames, keys), parameters=unset(frames))

    return draw


def moving_values(curve: Callable[[Array, Array, Array], Curve]) -> Callable[[np.random.Generator, Array], Drawn]:
    """Return keys of values with velocities."""

    def draw(generator: np.random.Generator, frames: Array) -> Drawn:
        keys = positive(generator, frames)
        velocities = generator.normal(size=keys.shape) * 0.2
        return Drawn(keys, curve(frames, keys, velocities), velocities, parameters=unset(frames))

    return draw


def turning(curve: Callable[[Array, Rotation], Curve]) -> Callable[[np.random.Generator, Array], Drawn]:
    """Return keys of rotations without parameters."""

    def draw(generator: np.random.Generator, frames: Array) -> Drawn:
        known = orientations(generator, frames)
        return Drawn(quaternions(known), curve(frames, known), parameters=unset(frames))

    return draw


def sampled(evaluate: Callable[[float], object]) -> Curve:
    """Return the curve of a function of one frame."""
    return lambda at: np.array([[float(x) for x in evaluate(frame)] for frame in at])


# Values


def tcb_values(generator: np.random.Generator, frames: Array) -> Drawn:
    keys, parameters = positive(generator, frames), shaped(generator, frames)
    return Drawn(keys, sampled(exact.Track(frames, keys, parameters).vector), parameters=parameters)


def linear_values(frames: Array, keys: Array) -> Curve:
    return lambda at: np.stack([np.interp(at, frames, row) for row in keys.T], axis=1)


def central(frames: Array, keys: Array) -> Curve:
    """Return scipy's Hermite spline with NumPy's central differences."""
    return CubicHermiteSpline(frames, keys, np.gradient(keys, frames, axis=0, edge_order=2))


def logarithmic(frames: Array, keys: Array) -> Curve:
    logarithm = central(frames, np.log(keys))
    return lambda at: np.exp(logarithm(at))


def clamped(frames: Array, keys: Array, velocities: Array) -> Curve:
    return CubicSpline(frames, keys, bc_type=((1, velocities[0]), (1, velocities[-1])))


def in_fractions(frames: Array, keys: Array) -> Curve:
    """Evaluate the polynomial through all keys, by Lagrange's sums as published, in fractions."""
    nodes = [Fraction(frame) for frame in frames]

    def evaluate(at: float) -> list[float]:
        frame = Fraction(at)
        weights = [
            math.prod(((frame - b) / (a - b) for j, b in enumerate(nodes) if j != i), start=Fraction(1))
            for i, a in enumerate(nodes)
        ]
        return [float(sum(w * Fraction(v) for w, v in zip(weights, column, strict=True))) for column in keys.T]

    return sampled(evaluate)


# Rotations


def tcb_rotations(generator: np.random.Generator, frames: Array) -> Drawn:
    q, parameters = quaternions(orientations(generator, frames)), shaped(generator, frames)
    track = exact.Track(frames, q, parameters)
    track.prepare_rotations()
    return Drawn(q, sampled(track.rotation), parameters=parameters)


def slerp(frames: Array, known: Rotation) -> Curve:
    between = Slerp(frames, known)
    return lambda at: quaternions(between(at))


def catmull_rom(frames: Array, known: Rotation) -> Curve:
    return sampled(exact_turns.track(exact_turns.CatmullRom, frames, quaternions(known), unset(frames)).rotation)


def given_velocities(kind: type[exact_turns.Rotations]) -> Callable[[np.random.Generator, Array], Drawn]:
    """Return keys of rotations with angular velocities."""

    def draw(generator: np.random.Generator, frames: Array) -> Drawn:
        q, velocities = quaternions(orientations(generator, frames)), generator.normal(size=(len(frames), 3)) * 0.05
        track = exact_turns.track(kind, frames, q, unset(frames), velocities)
        return Drawn(q, sampled(track.rotation), velocities, parameters=unset(frames))

    return draw


def natural_rotations(frames: Array, known: Rotation) -> Curve:
    return sampled(exact_turns.track(exact_turns.SecondOrder, frames, quaternions(known), unset(frames)).rotation)


def raw_cubic(frames: Array, known: Rotation) -> Curve:
    components = central(frames, unrolled(quaternions(known)))
    return lambda at: components(at) / np.linalg.norm(components(at), axis=1, keepdims=True)


def shoemake(construction: str) -> Callable[[np.random.Generator, Array], Drawn]:
    def curve(frames: Array, known: Rotation) -> Curve:
        return sampled(exact_shoemake.exact_track(frames, quaternions(known), unset(frames), construction).rotation)

    return turning(curve)


def euler_angles(generator: np.random.Generator, frames: Array) -> Drawn:
    """Return Euler angles. Blender's XYZ order is scipy's order about fixed axes. No equivalent angles change less."""
    angles = np.cumsum(generator.uniform(-0.6, 0.6, (len(frames), 3)), axis=0)
    angles[:, 1] = generator.uniform(-1.2, 1.2, len(frames))
    track = exact.Track(frames, angles, unset(frames))

    def curve(at: Array) -> Array:
        return quaternions(Rotation.from_euler("xyz", sampled(track.vector)(at)))

    return Drawn(quaternions(Rotation.from_euler("xyz", angles)), curve, parameters=unset(frames))


def cumulative(frames: Array, controls: Rotation) -> Curve:
    spline = scipy_b_splines.cumulative(frames, controls)
    return lambda at: np.array([quaternions(spline(frame)) for frame in at])


def through_keys(generator: np.random.Generator, frames: Array) -> Drawn:
    """Return keys computed from controls, as the spline's values at the keys' frames.

    If the turns between controls are not too large, the spline through these keys is unique.
    """
    curve = cumulative(frames, orientations(generator, frames, 1.2))
    return Drawn(curve(frames), curve, parameters=unset(frames))


FIFTY = "the formulas at 50 digits"

REFERENCES: dict[str, dict[str, Reference]] = {
    "TCB": {"values": Reference(FIFTY, tcb_values), "rotations": Reference(FIFTY, tcb_rotations)},
    "LINEAR": {
        "values": Reference("numpy.interp", values(linear_values)),
        "rotations": Reference("scipy Slerp", turning(slerp)),
    },
    "CATMULL_ROM": {
        "values": Reference("scipy CubicHermiteSpline, numpy.gradient", values(central)),
        "rotations": Reference(FIFTY, turning(catmull_rom)),
    },
    "HERMITE": {
        "values": Reference("scipy CubicHermiteSpline", moving_values(CubicHermiteSpline)),
        "rotations": Reference(FIFTY, given_velocities(exact_turns.Hermite)),
    },
    "RAW_CUBIC": {"rotations": Reference("scipy CubicHermiteSpline, normalized", turning(raw_cubic))},
    "LOGARITHMIC": {"values": Reference("exp of scipy CubicHermiteSpline", values(logarithmic))},
    "SHOEMAKE": {"rotations": Reference(FIFTY, shoemake("DE_CASTELJAU"))},
    "SHOEMAKE_BLEND": {"rotations": Reference(FIFTY, shoemake("BLEND"))},
    "ROLL_PITCH_YAW": {"rotations": Reference("scipy Euler angles, with splines at 50 digits", euler_angles)},
    "CUBIC_CLAMPED": {
        "values": Reference("scipy CubicSpline", moving_values(clamped)),
        "rotations": Reference(FIFTY, given_velocities(exact_turns.SecondOrder)),
    },
    "CUBIC_NATURAL": {
        "values": Reference(
            "scipy CubicSpline", values(lambda frames, keys: CubicSpline(frames, keys, bc_type="natural"))
        ),
        "rotations": Reference(FIFTY, turning(natural_rotations)),
    },
    "LAGRANGE": {"values": Reference("the formulas in fractions", values(in_fractions))},
    "B_SPLINE": {
        "values": Reference("scipy BSpline", values(scipy_b_splines.scipys)),
        "rotations": Reference("scipy BSpline as products of Rotation", turning(cumulative)),
    },
    "B_SPLINE_THROUGH": {
        "values": Reference(
            "scipy make_interp_spline",
            values(lambda frames, keys: make_interp_spline(frames, keys, bc_type="natural")),
        ),
        "rotations": Reference("scipy BSpline as products of Rotation", through_keys),
    },
}
"""The references for values and for rotations, by method."""

SMOOTHNESS: dict[str, tuple[str, int | None]] = {
    "tcb.VectorSpline": ("C1", 2),
    "tcb.RotationSpline": ("C1", 2),
    "lightwave_kochanek_bartels.LightWaveSpline": ("C1", 2),
    "lightwave_kochanek_bartels.KochanekBartelsSpline": ("C1", 2),
    "lightwave_kochanek_bartels.KochanekBartelsRotationSpline": ("C1", 2),
    "linear.VectorSpline": ("C0", 1),
    "linear.RotationSpline": ("C0", 1),
    "catmull_rom.VectorSpline": ("C1", 2),
    "catmull_rom.RotationSpline": ("C1", 2),
    "hermite.VectorSpline": ("C1", 1),
    "hermite.RotationSpline": ("C1", 1),
    "cubic.NaturalVectorSpline": ("C2", None),
    "cubic.ClampedVectorSpline": ("C2", None),
    "cubic.VectorSpline": ("C2", None),
    "cubic.NaturalRotationSpline": ("C2", None),
    "cubic.ClampedRotationSpline": ("C2", None),
    "b_spline.VectorSpline": ("C2", 3),
    "b_spline.RotationSpline": ("C2", 3),
    "b_spline.ThroughVectorSpline": ("C2", None),
    "b_spline.ThroughRotationSpline": ("C2", None),
    "logarithmic.VectorSpline": ("C1", 2),
    # Smoother at its keys, but C0 at the seam of a loop.
    "lagrange.VectorSpline": ("C2", None),
    "quaternion_cubic.RotationSpline": ("C1", 2),
    "shoemake.RotationSpline": ("C1", 2),
    "shoemake.BlendSpline": ("C1", 2),
    # The previous keys determine which equivalent triple of angles a key uses.
    "roll_pitch_yaw.RotationSpline": ("C1", None),
}
"""The continuity class at keys in general position with all parameters 0, and the number of keys on each side of a
segment that affect it, or None for all keys, by class."""


def smoothness(cls: type) -> tuple[str, int | None]:
    """Return the continuity class and the keys per side of a spline class."""
    return SMOOTHNESS[f"{cls.__module__.rsplit('.', 1)[-1]}.{cls.__name__}"]
