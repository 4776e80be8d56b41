# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation of many splines at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import SupportsIndex, cast, overload

import numpy as np
import numpy.typing as npt

from .arguments import checked_row
from .base_spline import Spline, checked_derivative, checked_splines, prepared_together
from .keys import Float64Array
from .prepared import Prepared

# Up to this number of prepared splines, evaluating one frame spline by spline is faster than with arrays.
_FEW = 4
# The same number if the splines would have to be prepared together for this frame only.
_FEW_ONCE = 16


def evaluate_many(
    splines: Sequence[Spline] | SplineBatch,
    frames: npt.ArrayLike | Sequence[npt.ArrayLike],
    nu: int = 0,
    extrapolate: bool = False,
) -> list[Float64Array]:
    """Evaluate many tracks at once, several times faster than evaluating them one at a time.

    Parameters
    ----------
    splines : sequence of splines, or SplineBatch
        Splines of any class, method and cycle, with any number of components. Use a `SplineBatch` to evaluate the same
        splines repeatedly.
    frames : array_like, shape (m,), or a sequence of such arrays, one per spline
        Finite frames in any order. Evaluation is fastest if frames are sorted in ascending order and shared by all
        splines.
    nu : int
        0 for values, otherwise the order of the derivative.
    extrapolate : bool
        If true, the end segments continue outside the keys. If false, the end values are held.

    Returns
    -------
    list of ndarray
        The results of ``spline(frames, nu, extrapolate)``, identical to the last bit, in the order of `splines`. Each
        result is independent of the other splines. The arrays share memory.

    Raises
    ------
    TypeError
        If `splines` is not a sequence of splines, `frames` are not numbers, or `nu` is not an integer.
    ValueError
        If frames are not finite or exceed 1e100, the number of frame arrays differs from the number of splines, or a
        spline does not have this derivative. The error message contains the index of the frame.

    Examples
    --------
    >>> rising = tcb.VectorSpline(Keys([0, 10], [0, 1]))
    >>> turning = tcb.RotationSpline(Keys([0, 10], [[1, 0, 0, 0], [0, 0, 0, 1]]))
    >>> [values.shape for values in evaluate_many([rising, turning], [0, 2.5, 5])]
    [(3, 1), (3, 4)]
    """
    if isinstance(splines, SplineBatch):
        return splines(frames, nu, extrapolate)
    return SplineBatch(splines)._evaluate(frames, nu, extrapolate, _FEW_ONCE)


class SplineBatch(Sequence["Spline"]):
    """Many splines prepared together, so that repeated evaluation computes their segments only once.

    Parameters
    ----------
    splines : sequence of splines
        See `evaluate_many`.

    Notes
    -----
    A batch is an immutable sequence of its splines, and can be pickled and shared between threads.

    Examples
    --------
    >>> batch = SplineBatch([tcb.VectorSpline(Keys([0, 10], [0, end])) for end in (1, 2, 3)])
    >>> [values.ravel().tolist() for values in batch([5, 10])]
    [[0.5, 1.0], [1.0, 2.0], [1.5, 3.0]]
    """

    __slots__ = ("_groups", "_prepared", "_splines")

    def __init__(self, splines: Iterable[Spline]) -> None:
        self._splines = tuple(checked_splines("splines", splines))
        batches: dict[Hashable, list[int]] = {}
        for index, spline in enumerate(self._splines):
            batches.setdefault(spline.batch, []).append(index)
        # The indices of the splines that are computed together, and their segments once they are computed.
        self._groups = list(batches.values())
        self._prepared: list[Prepared | None] = [None] * len(self._groups)

    def __len__(self) -> int:
        """Return the number of splines."""
        return len(self._splines)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Spline: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Spline, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Spline | tuple[Spline, ...]:
        """Return one spline, or a tuple of splines for a slice."""
        return self._splines[index]

    def __reduce__(self) -> tuple[type[SplineBatch], tuple[tuple[Spline, ...]]]:
        """Pickle the batch as its splines."""
        return SplineBatch, (self._splines,)

    def __call__(
        self, frames: npt.ArrayLike | Sequence[npt.ArrayLike], nu: int = 0, extrapolate: bool = False
    ) -> list[Float64Array]:
        """Evaluate all splines. See `evaluate_many`."""
        return self._evaluate(frames, nu, extrapolate, _FEW)

    def _evaluate(
        self, frames: npt.ArrayLike | Sequence[npt.ArrayLike], nu: int, extrapolate: bool, few: int
    ) -> list[Float64Array]:
        """Evaluate all splines, one by one if they are prepared and few, and there is one frame."""
        checked_frames = _checked_frames(frames, len(self))
        for spline in self._splines:
            checked_derivative(spline, nu)
        is_one_frame = not isinstance(checked_frames, list) and len(checked_frames) == 1
        if is_one_frame and len(self) <= few and all("prepared" in vars(spline) for spline in self._splines):
            frame = float(checked_frames[0])
            return [spline.prepared.evaluate_one(frame, nu, extrapolate)[np.newaxis] for spline in self._splines]
        results = [np.empty(0)] * len(self)
        for group, indices in enumerate(self._groups):
            samples = checked_frames
            if isinstance(samples, list):
                samples = [samples[index] for index in indices]
                if all(frames_of_spline is samples[0] for frames_of_spline in samples):
                    samples = samples[0]
            for index, result in zip(indices, self._segments(group).evaluate(samples, nu, extrapolate), strict=True):
                results[index] = result
        return results

    def _segments(self, group: int) -> Prepared:
        """Return the segments of a group of splines, which are computed on first use."""
        prepared = self._prepared[group]
        if prepared is None:
            splines = [self._splines[index] for index in self._groups[group]]
            prepared = splines[0].prepared if len(splines) == 1 else prepared_together(splines)
            self._prepared[group] = prepared
        return prepared


def _checked_frames(frames: npt.ArrayLike | Sequence[npt.ArrayLike], count: int) -> Float64Array | list[Float64Array]:
    """Return one array for all splines, or a list with one array per spline."""
    is_separate = frames.ndim == 2 if isinstance(frames, np.ndarray) else _holds_arrays(frames)
    if not is_separate:
        return checked_row("frames", cast(npt.ArrayLike, frames))
    arrays = list(cast(Sequence[npt.ArrayLike], frames))
    if len(arrays) != count:
        raise ValueError(f"frames must have one array per spline: expected {count}, got {len(arrays)}")
    # Tracks keyed at the same frames share an array, which is checked once.
    checked_arrays: dict[int, Float64Array] = {}
    for index, array in enumerate(arrays):
        if id(array) not in checked_arrays:
            checked_arrays[id(array)] = checked_row(f"frames[{index}]", array)
    return [checked_arrays[id(array)] for array in arrays]


def _holds_arrays(frames: object) -> bool:
    """Return whether an object is a sequence of arrays rather than of frames."""
    first = frames[0] if isinstance(frames, Sequence) and len(frames) > 0 else 0.0
    return getattr(first, "ndim", 0) > 0 or (isinstance(first, Sequence) and not isinstance(first, str))
