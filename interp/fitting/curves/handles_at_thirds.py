# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles at thirds of segments, with which channels play cubics in time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arguments import checked_numbers


def handles(
    frames: npt.ArrayLike, values: npt.ArrayLike, incoming: npt.ArrayLike, outgoing: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the handles with which Blender plays the cubics between keys.

    Parameters
    ----------
    frames : array_like, shape (k,)
        Frames of the keys.
    values : array_like, shape (k,) or (channels, k)
        Values of the keys, for one or several channels.
    incoming, outgoing : array_like, shape as `values`
        Derivatives per frame before and after each key.

    Returns
    -------
    left, right : ndarray of float32, shape (k, 2) or (channels, k, 2)
        Frames and values of the handles. The first left handle and the last right handle are as long as the other
        handle of their key.

    Raises
    ------
    TypeError
        If arguments are not numbers.
    ValueError
        If the shapes of the arrays do not match.

    Notes
    -----
    Handles are at thirds of the segment, rounded to float32, and their values match the rounded frames. Rounding a
    frame by dt therefore changes the value only by dt times the change in the derivative over that time.

    Examples
    --------
    >>> left, right = curves.handles([0, 30], [0, 6], incoming=[0, 0.1], outgoing=[0, 0])
    >>> right[0], left[1]
    (array([10.,  0.], dtype=float32), array([20.,  5.], dtype=float32))
    """
    f, v = checked_numbers("frames", frames), checked_numbers("values", values)
    if f.ndim != 1:
        raise ValueError(f"frames must be one-dimensional, but their shape is {f.shape}")
    if v.shape[-1:] != f.shape:
        raise ValueError(
            f"values must have {f.size} numbers on their last axis, one per frame, but their shape is {v.shape}"
        )
    third = np.diff(f) / 3.0
    third = np.concatenate((third[:1], third, third[-1:])) if len(third) else np.ones(2)
    result = []
    for name, handle_frames, given in (
        ("incoming", f - third[:-1], incoming),
        ("outgoing", f + third[1:], outgoing),
    ):
        derivatives = checked_numbers(name, given)
        if derivatives.shape != v.shape:
            raise ValueError(f"{name} must have the shape {v.shape} of values, not {derivatives.shape}")
        points = np.empty((*v.shape, 2), dtype=np.float32)
        points[..., 0] = handle_frames
        offset = handle_frames.astype(np.float32) - f
        points[..., 1] = v + derivatives * offset
        result.append(points)
    return result[0], result[1]
