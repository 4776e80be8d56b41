# SPDX-License-Identifier: GPL-3.0-or-later
"""The layouts of numbers in .3ds files, and the checks of numbers and arrays that are written.

All numbers are little-endian.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ..interp import Text, n_
from .errors import ThreeDSError

HEADER = struct.Struct("<HI")
"""The header of a chunk: its number, and its length including this header of six bytes."""
WORD = struct.Struct("<H")
LONG = struct.Struct("<I")
FRAME = struct.Struct("<i")
TWO_FRAMES = struct.Struct("<2i")
FLOAT = struct.Struct("<f")
TWO_FLOATS = struct.Struct("<2f")
NODE_HEADER = struct.Struct("<3H")
"""Header after a node's name, with two words of flags and the id of its parent."""
NO_PARENT = 0xFFFF
_ARRAYS = {
    "frames": n_("frames"),
    "values": n_("values"),
    "key_flags": n_("key flags"),
    "parameters": n_("parameters"),
    "faces": n_("faces"),
    "face_flags": n_("face flags"),
    "numbers": n_("numbers"),
}
"""Names of arrays in error messages."""


def pack(layout: struct.Struct, *values: float) -> bytes:
    """Pack the values in the format of the file. Raises ThreeDSError if a value does not fit."""
    try:
        return layout.pack(*values)
    except (struct.error, OverflowError) as error:
        raise ThreeDSError(Text("{:s}: {:s}", ", ".join(map(str, values)), str(error))) from error


def check_array(name: str, array: npt.NDArray[np.generic], dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    """Check the type and shape of an array, because converting it could lose data."""
    if array.dtype != dtype or array.shape != shape:
        text = n_(
            "{:s} must be {:s} of shape {}, not {:s} of shape {}",
            _ARRAYS[name],
            dtype.__name__,
            shape,
            array.dtype.name,
            array.shape,
        )
        raise ThreeDSError(text)
