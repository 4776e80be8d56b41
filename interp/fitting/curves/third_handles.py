# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles at thirds of a segment: with these Blender plays the Hermite cubic of the keys' derivatives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...keys import numbers


def handles(
    frames: npt.ArrayLike, values: npt.ArrayLike, incoming: npt.ArrayLike, outgoing: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the handles that make Blender play the cubics between keys.

    Parameters
    ----------
    frames : array_like, shape (k,)
        Frames of the keys.
    values : array_like, shape (k,) or (channels, k)
        Their values, of one channel or of several.
    incoming, outgoing : array_like, shape as `values`
        Derivatives a frame on both sides of each key.

    Returns
    -------
    left, right : ndarray of float32, shape (k, 2) or (channels, k, 2)
        Frame and value. The first left and the last right handle are as long as their neighbours.

    Raises
    ------
    TypeError
        For what are no numbers.
    ValueError
        For arrays whose shapes don't agree.

    Notes
    -----
    Handles stand at a third of the segment, rounded to float32, and their values belong to the rounded frames: so the
    rounding of a frame by dt changes the value only by dt times the change of the derivative in that time.

    Examples
    --------
    >>> left, right = curves.handles([0, 30], [0, 6], incoming=[0, 0.1], outgoing=[0, 0])
    >>> right[0], left[1]
    (array([10.,  0.], dtype=float32), array([20.,  5.], dtype=float32))
    """
    f, v = numbers("frames", frames), numbers("values", values)
    if f.ndim != 1 or v.shape[-1:] != f.shape:
        raise ValueError(f"values must have {f.size} numbers on their last axis, one a frame, not the shape {v.shape}")
    for name, given in (("incoming", incoming), ("outgoing", outgoing)):
        if np.shape(given) != v.shape:
            raise ValueError(f"{name} must have the shape {v.shape} of values, not {np.shape(given)}")
    third = np.diff(f) / 3.0
    third = np.concatenate((third[:1], third, third[-1:])) if len(third) else np.ones(2)
    result = []
    for handle_frames, derivatives in ((f - third[:-1], incoming), (f + third[1:], outgoing)):
        handle = np.empty((*v.shape, 2), dtype=np.float32)
        handle[..., 0] = handle_frames
        offset = handle_frames.astype(np.float32) - f
        handle[..., 1] = v + numbers("derivatives", derivatives) * offset
        result.append(handle)
    return result[0], result[1]
