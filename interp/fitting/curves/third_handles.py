# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles at thirds of a segment: with these Blender plays the Hermite cubic of the keys' derivatives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


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

    Notes
    -----
    Handles stand at a third of the segment, rounded to float32, and their values belong to the rounded frames: so the
    rounding of a frame by dt changes the value only by dt times the change of the derivative in that time.
    """
    f = np.asarray(frames, dtype=np.float64)
    v = np.asarray(values, dtype=np.float64)
    third = np.diff(f) / 3.0
    third = np.concatenate((third[:1], third, third[-1:])) if len(third) else np.ones(2)
    result = []
    for handle_frames, derivatives in ((f - third[:-1], incoming), (f + third[1:], outgoing)):
        handle = np.empty((*v.shape, 2), dtype=np.float32)
        handle[..., 0] = handle_frames
        offset = handle_frames.astype(np.float32) - f
        handle[..., 1] = v + np.asarray(derivatives, dtype=np.float64) * offset
        result.append(handle)
    return result[0], result[1]
