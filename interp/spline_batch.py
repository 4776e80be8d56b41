# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation of many splines at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from .arguments import checked_frames_1d
from .base_spline import Spline, checked_derivative, checked_splines, prepared_together
from .keys import Float64Array
from .prepared import Prepared


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
    batch = splines if isinstance(splines, SplineBatch) else SplineBatch(splines)
    return batch(frames, nu, extrapolate)


class SplineBatch:
    """Many splines prepared together, so that repeated evaluation computes their segments only once.

    Parameters
    ----------
    splines : sequence of splines
        See `evaluate_many`.

    Notes
    -----
    A batch can be pickled and shared between threads.

    Examples
    --------
    >>> batch = SplineBatch([tcb.VectorSpline(Keys([0, 10], [0, end])) for end in (1, 2, 3)])
    >>> [values.ravel().tolist() for values in batch([5, 10])]
    [[0.5, 1.0], [1.0, 2.0], [1.5, 3.0]]
    """

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

    def __iter__(self) -> Iterator[Spline]:
        """Iterate over the splines."""
        return iter(self._splines)

    def __call__(
        self, frames: npt.ArrayLike | Sequence[npt.ArrayLike], nu: int = 0, extrapolate: bool = False
    ) -> list[Float64Array]:
        """Evaluate all splines. See `evaluate_many`."""
        checked_frames = _checked_frames(frames, len(self))
        for spline in self._splines:
            checked_derivative(spline, nu)
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
        return checked_frames_1d("frames", cast(npt.ArrayLike, frames))
    arrays = list(cast(Sequence[npt.ArrayLike], frames))
    if len(arrays) != count:
        raise ValueError(f"frames must have one array per spline: expected {count}, got {len(arrays)}")
    # Tracks keyed at the same frames share an array, which is checked once.
    checked_arrays: dict[int, Float64Array] = {}
    for index, array in enumerate(arrays):
        if id(array) not in checked_arrays:
            checked_arrays[id(array)] = checked_frames_1d(f"frames[{index}]", array)
    return [checked_arrays[id(array)] for array in arrays]


def _holds_arrays(frames: object) -> bool:
    """Return whether an object is a sequence of arrays rather than of frames."""
    first = frames[0] if isinstance(frames, Sequence) and len(frames) > 0 else 0.0
    return getattr(first, "ndim", 0) > 0 or (isinstance(first, Sequence) and not isinstance(first, str))
