# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes of rotation splines, with checked orientations, and the signs and turns of their quaternions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt

from ..arguments import checked_choice, checked_numbers
from ..base_spline import BaseSpline, Cycle, end_to_end
from ..keys import Float64Array, KeyBatch, Keys, KeysError
from ..messages import n_
from ..prepared import Curve
from . import sphere
from .curves import ExceptionalCurve, ProductCurve, Turns
from .full_turns import FullTurns, keys_with_full_turns
from .quaternions import angle_between, conjugate, from_rotation_vector, multiply, shorter, to_axis_angle, unit_vectors
from .representations import RotationCurve
from .turns import Convention, nearest_turns, turn_sign, turns_to_rotations

if TYPE_CHECKING:
    from typing import Self

Path = Literal["SHORTEST", "AS_KEYED"]
_PATHS = get_args(Path)

# The factor by which segment lengths may differ if a solution is certain. At a factor of 15, some keys had none.
_EVEN = 10.0
ANTIPODAL = 1e-10
"""With the path as keyed, neighboring quaternions are rejected if all components of their sum are below this number.

The direction of their arc has an error of 1e-16 / 1e-10 = 1e-6 radian, the largest allowed in a baked rotation.
"""
ZERO_QUATERNION = n_("the quaternion is zero, which is not a rotation")


class OrientationSpline(BaseSpline):
    """Base class for splines of rotations.

    Parameters
    ----------
    keys : Keys
        Keys with values of shape (n, 4), nonzero quaternions w, x, y, z, which are normalized.
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    path : "SHORTEST" or "AS_KEYED"
        Rotate from key to key along the shortest path, or along the arc between the quaternions as keyed, up to 360
        degrees.

    Raises
    ------
    KeysError
        If a quaternion is zero or, with the path "AS_KEYED", neighboring quaternions are antipodal to
        within 1e-10, because no unique arc joins them.
    """

    path: Path

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", path: Path = "SHORTEST") -> None:
        super().__init__(keys, cycle)
        self._set(
            keys=keys.with_values(_unit_quaternions([keys])), path=cast(Path, checked_choice("path", path, _PATHS))
        )
        if self.path == "AS_KEYED":
            _check_arcs(self.keys)

    @property
    def loop_gap(self) -> float:
        """Return the angle in radians between the orientations of the first and last keys (0 for a closed loop)."""
        return float(angle_between(self.keys.values[-1], self.keys.values[0]))


class TurnedSpline(OrientationSpline):
    """Base class for splines of rotations whose keys can be turns from the previous key, to preserve full turns.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.
    """

    _turns: Float64Array | None = None
    """The turns from key to key, if they are given."""
    full_turns: FullTurns | None = None
    """Full turns of angles, which are added to the motion on the sphere."""

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines, with the full turns of angles (docs/formulas, "Full turns of angles")."""
        curve: Curve = cls.sphere_curve(splines, tracks)
        value_curve = partial(cls.value_curve, splines, tracks)
        for keys in keys_with_full_turns([spline.full_turns for spline in splines], tracks):
            if keys.needs_values:
                rates = keys.representation.rates(keys.channels, tracks.columns, cls.given_velocities(splines))
                played: Curve = RotationCurve(value_curve(keys.channels, rates), keys.representation)
            else:
                outer, inner = (
                    [] if turns is None else [RotationCurve(value_curve(turns, 0.0 * turns), keys.representation)]
                    for turns in (keys.outer, keys.inner)
                )
                played = ProductCurve([*outer, curve, *inner])
            curve = ExceptionalCurve(curve, keys.has_turns, played)
        return curve

    @classmethod
    @abstractmethod
    def sphere_curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines without full turns of angles."""

    @classmethod
    @abstractmethod
    def value_curve(cls, splines: Sequence[Self], tracks: KeyBatch, values: Float64Array, rates: Float64Array) -> Curve:
        """Return the method's segments through values (d, K). Methods with given velocities use `rates` per frame."""

    @classmethod
    def given_velocities(cls, splines: Sequence[Self]) -> Float64Array:
        """Return the angular velocities at keys that were given to the splines, shape (3, K), or 0."""
        return np.zeros((3, sum(len(spline.keys) for spline in splines)))

    @classmethod
    def from_turns(  # noqa: PLR0913 (the parameters of `Keys` and of the constructor)
        cls,
        frames: npt.ArrayLike,
        angles: npt.ArrayLike,
        axes: npt.ArrayLike,
        tension: npt.ArrayLike = 0.0,
        continuity: npt.ArrayLike = 0.0,
        bias: npt.ArrayLike = 0.0,
        ease_to: npt.ArrayLike = 0.0,
        ease_from: npt.ArrayLike = 0.0,
        cycle: Cycle = "SINGLE",
        path: Path = "AS_KEYED",
        first: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
        convention: Convention = "BLENDER",
        **options: Any,
    ) -> Self:
        """Create a spline from keys that are turns from the previous key, preserving full turns.

        Parameters
        ----------
        frames : array_like, shape (n,)
            Frames of the keys.
        angles : array_like, shape (n,)
            Turns in radians, of any size. For example, 5/2 pi is one and a quarter turns.
        axes : array_like, shape (n, 3)
            Axes of the turns in the parent frame, of any length above 0. The axis may be 0 if the angle is 0.
        tension, continuity, bias, ease_to, ease_from : float or array_like, shape (n,)
            See `Keys`.
        cycle
            See the constructor.
        path : "AS_KEYED" or "SHORTEST"
            The literal turns, or the shortest path for files that store small negative turns as about 357 degrees.
        first : array_like, shape (4,)
            The orientation w, x, y, z to which the turn of key 0 is applied.
        convention : "BLENDER" or "3DS"
            ``q[n] = exp(axis angle / 2) q[n-1]``, or with -angle, as in .3ds files.
        **options
            Other parameters of the constructor, such as `ends` and `construction` of `tcb.RotationSpline`.

        Raises
        ------
        KeysError
            If angles or axes have the wrong shape, or a key turns about a zero axis.

        Notes
        -----
        With `tcb.RotationSpline`, a turn of up to 340 degrees is an arc on the sphere, as in 3D Studio. A longer turn
        is added to the curve on the sphere, as a segment of the vector spline through the rotation vectors of the long
        turns. If all turns are about one axis, all are added in this way. The motion is then the vector spline of the
        angle, for turns of any size and any parameters. Source: docs/formulas, "Relative keys" and "Long turns".

        Examples
        --------
        >>> spline = tcb.RotationSpline.from_turns([0, 20], [0, 5 * np.pi], [[0, 0, 1]] * 2)  # two turns and a half
        >>> np.degrees(spline([0, 10], nu=1)[:, 2])  # per frame
        array([45., 45.])
        """
        turns = Keys(frames, checked_numbers("angles", angles), tension, continuity, bias, ease_to, ease_from)
        if turns.values.shape[1] != 1:
            raise KeysError(n_("angles must have one number per key, not {:d}", turns.values.shape[1]))
        unit_axes = _checked_axes(axes, turns)
        signed_angles = turns.values[:, 0] * turn_sign(convention)
        orientations = turns_to_rotations(signed_angles, unit_axes, first=first)
        spline = cls(turns.with_values(orientations), cycle, **options)
        # Neighboring keys given as turns may be antipodal, which the constructor would reject with the path as keyed.
        spline._set(path=cast(Path, checked_choice("path", path, _PATHS)))
        if spline.path == "AS_KEYED":
            cls._keep_turns([spline], signed_angles[1:, np.newaxis] * unit_axes[1:])
        return spline

    @classmethod
    def from_walk(
        cls,
        keys: Keys,
        walk: npt.ArrayLike,
        cycle: Cycle = "SINGLE",
        full_turns: FullTurns | None = None,
        **options: Any,
    ) -> Self:
        """Create the spline from orientations and the rotation from each key to the next, as angle channels define it.

        Parameters
        ----------
        keys : Keys
            Keys with values of shape (n, 4): nonzero quaternions w, x, y, z of either sign. They are normalized.
        walk : array_like, shape (n - 1, 3)
            Rotation vectors from key to key in the parent's frame, as returned by `rotations.walk_euler` and
            `rotations.walk_axis_angle`. Their lengths are the angles of the turns. The vectors select the path between
            keys, and the keys determine the ends of the path.
        cycle
            See the constructor.
        full_turns : FullTurns, optional
            Full turns of the angle channels, as returned by `split_full_turns`. They are in addition to `walk`, which
            is then the walk of the angles without these turns.
        **options
            Other parameters of the constructor.

        Examples
        --------
        >>> angles = np.radians([[0, 0, 0], [720, 0, 0]])
        >>> keys = Keys([0, 20], rotations.from_euler(angles))
        >>> np.degrees(tcb.RotationSpline.from_walk(keys, rotations.walk_euler(angles))(10, nu=1))  # per frame
        array([36.,  0.,  0.])
        """
        return splines_along_walks(cls, [keys], [walk], cycle, [full_turns], **options)[0]

    @classmethod
    def _turns_of_walk(cls, starts: Float64Array, ends: Float64Array, walk: Float64Array) -> Float64Array:
        """Return the turns from unit quaternions to others that are closest to a walk, shape (n, 3)."""
        axes, angles = to_axis_angle(shorter(multiply(ends, conjugate(starts))))
        angles, axes = nearest_turns(angles, axes, walk)
        return angles[:, np.newaxis] * axes

    @classmethod
    def _keep_turns(cls, splines: Sequence[Self], turns: Float64Array) -> None:
        """Keep the turns from key to key, rotation vectors that end close to the next key, concatenated, shape (s, 3).

        Every spline has at least two keys.
        """
        for spline, segments in zip(splines, segments_of(splines), strict=True):
            spline._set(_turns=turns[segments])


class SolvedSpline(TurnedSpline):
    """Base class for splines of rotations that solve equations. The constructors raise KeysError without a solution.

    Attributes
    ----------
    certain_turn : float
        With turns of up to this angle, in radians, all tested keys had a solution if their segment lengths differed by
        a factor of up to 10. Such keys are solved together with other tracks, on first use. Other keys are solved by
        the constructor.
    """

    certain_turn: ClassVar[float]

    def check(self) -> None:
        """Raise KeysError if there is no solution."""
        turns = sphere.length(turns_between_keys([self], end_to_end([self])).onward)
        lengths = np.diff(self.keys.frames)
        is_even = lengths.max(initial=0.0) <= _EVEN * lengths.min(initial=np.inf)
        if turns.max() > self.certain_turn or not is_even:
            _ = self.prepared

    @classmethod
    def _keep_turns(cls, splines: Sequence[Self], turns: Float64Array) -> None:
        super()._keep_turns(splines, turns)
        for spline in splines:
            spline.check()


_Turned = TypeVar("_Turned", bound=TurnedSpline)


def splines_along_walks(
    spline_class: type[_Turned],
    keys: Sequence[Keys],
    walks: Sequence[npt.ArrayLike],
    cycle: Cycle,
    full_turns: Sequence[FullTurns | None],
    **options: Any,
) -> list[_Turned]:
    """Create several splines with `from_walk`, several times faster than one at a time.

    The options are the same for all splines, and do not depend on the keys if there are several splines.
    """
    vectors = np.concatenate(list(map(_checked_walk, walks, keys)))
    counts = np.array(list(map(len, keys)))
    firsts = np.cumsum(counts) - counts
    has_previous, has_next = np.ones((2, counts.sum()), dtype=np.bool_)
    has_previous[firsts] = has_next[firsts + counts - 1] = False
    values = _unit_quaternions(keys)
    starts, ends = values[has_next], values[has_previous]
    turns = spline_class._turns_of_walk(starts, ends, vectors)
    turned_keys = multiply(from_rotation_vector(turns), starts)
    flips = np.ones(len(values))
    flips[has_previous] = np.where(np.einsum("ij,ij->i", turned_keys, ends) < 0.0, -1.0, 1.0)
    signs = np.cumprod(flips)
    # The product runs over all splines, so it is restarted at each spline's first key.
    values *= (signs * np.repeat(signs[firsts], counts))[:, np.newaxis]
    first_spline = spline_class(keys[0], cycle, **options)
    splines = [first_spline, *(copy(first_spline) for _ in keys[1:])]
    for spline, keys_of_spline, first, turns_of_spline in zip(splines, keys, firsts.tolist(), full_turns, strict=True):
        signed_keys = keys_of_spline.with_values(values[first : first + len(keys_of_spline)])
        # The signs may make neighboring keys antipodal, which the constructor would reject with the path as keyed.
        spline._set(keys=signed_keys, path="AS_KEYED", full_turns=turns_of_spline)
    spline_class._keep_turns([spline for spline in splines if len(spline.keys) > 1], turns)
    return splines


def segments_of(splines: Sequence[BaseSpline]) -> list[slice]:
    """Return the slice of each spline's segments in arrays of the segments of all splines, concatenated."""
    ends = accumulate((len(spline.keys) - 1 for spline in splines), initial=0)
    return [slice(start, end) for start, end in pairwise(ends)]


def signed_quaternions(splines: Sequence[OrientationSpline], tracks: KeyBatch) -> Float64Array:
    """Return the quaternions (4, K) of keys, with the signs for which the arcs between them follow the path.

    Source: docs/formulas, "Signs and paths".
    """
    counts = tracks.last - tracks.first + 1
    is_shortest = np.repeat([spline.path == "SHORTEST" for spline in splines], counts)
    flips = np.ones(len(tracks.frames))
    dots = np.einsum("ij,ij->i", tracks.values[1:], tracks.values[:-1])
    flips[1:][is_shortest[1:] & (dots < 0.0)] = -1.0
    flips[tracks.first] = 1.0
    signs = np.cumprod(flips)
    # The product runs over all tracks, so it is restarted at each track's first key.
    signs *= np.repeat(signs[tracks.first], counts)
    return tracks.columns * signs


def set_given_turns(turns: Float64Array, splines: Sequence[TurnedSpline], tracks: KeyBatch) -> None:
    """Write the turns with which splines were created into the turns (3, K) of all segments."""
    for spline, first, last in zip(splines, tracks.first, tracks.last, strict=True):
        if spline._turns is not None:
            turns[:, first:last] = spline._turns.T


def turns_between_keys(splines: Sequence[TurnedSpline], tracks: KeyBatch) -> Turns:
    """Return the turns from key to key of all splines."""
    start = signed_quaternions(splines, tracks)
    onward = 2.0 * sphere.log(sphere.product(start[:, tracks.segment_end], sphere.conjugate(start)))
    onward[:, tracks.last] = 0.0
    set_given_turns(onward, splines, tracks)
    return Turns(start, onward)


def neighbors(tracks: KeyBatch, q: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the quaternions before and after each key, with the signs for arcs across the seam of a loop.

    Source: docs/formulas, "Signs in a loop".
    """
    before, after = q[:, tracks.previous], q[:, tracks.following]
    start, end = tracks.first[tracks.looped], tracks.last[tracks.looped]
    seam = np.where(sphere.dot(q[:, start], q[:, end]) < 0.0, -1.0, 1.0)
    before[:, start] *= seam
    after[:, end] *= seam
    return before, after


def _unit_quaternions(several: Sequence[Keys]) -> Float64Array:
    """Return the unit quaternions of several sets of keys, concatenated. Raise KeysError for a zero quaternion."""
    for keys in several:
        if keys.values.shape[1] != 4:
            raise KeysError(n_("a rotation must have four components (w, x, y, z), not {:d}", keys.values.shape[1]))
    quaternions = np.concatenate([keys.values for keys in several])
    # Scale first, because squares can overflow or underflow.
    largest = np.abs(quaternions).max(axis=1, keepdims=True)
    if not largest.all():
        keys = next(keys for keys in several if not keys.values.any(axis=1).all())
        raise keys.error(ZERO_QUATERNION, int(np.argmin(keys.values.any(axis=1))))
    values: Float64Array = quaternions / largest
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
    return values


def _check_arcs(keys: Keys) -> None:
    """Raise KeysError if a unit quaternion is antipodal to its predecessor, so that no unique arc joins them."""
    values = keys.values
    is_antipodal = np.abs(values[1:] + values[:-1]).max(axis=1, initial=0.0) < ANTIPODAL
    if is_antipodal.any():
        key = int(np.argmax(is_antipodal)) + 1
        raise keys.error(n_("the rotation from the previous key is a full turn, so its axis is undefined"), key)


def _checked_walk(walk: npt.ArrayLike, keys: Keys) -> Float64Array:
    """Return the rotation vectors from key to key, shape (n - 1, 3), or raise KeysError."""
    vectors = checked_numbers("walk", walk, 3)
    if vectors.shape != (len(keys) - 1, 3):
        fault = n_("walk must have the columns x, y, z and one row per segment, but its shape is {!s}", vectors.shape)
        raise KeysError(fault)
    return vectors


def _checked_axes(axes: npt.ArrayLike, turns: Keys) -> Float64Array:
    """Return the unit axes (n, 3) of keys with turn angles (n, 1), or raise KeysError."""
    checked = checked_numbers("axes", axes)
    if checked.shape != (len(turns), 3):
        fault = n_(
            "axes must have the columns x, y, z and one row per key: {:d} keys, axes of shape {!s}",
            len(turns),
            checked.shape,
        )
        raise KeysError(fault)
    unit_axes, lengths = unit_vectors(Keys(turns.frames, checked).values)
    has_no_axis = (lengths == 0.0) & (turns.values[:, 0] != 0.0)
    if has_no_axis.any():
        raise turns.error(n_("the turn has a zero axis"), int(np.argmax(has_no_axis)))
    return unit_axes
