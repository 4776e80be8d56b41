# SPDX-License-Identifier: GPL-3.0-or-later
"""The layouts of numbers in .3ds files.

All numbers are little-endian.
"""

from __future__ import annotations

import struct

from ..interp import Text
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


def pack(layout: struct.Struct, *values: float) -> bytes:
    """Pack the values in the format of the file. Raises ThreeDSError if a value does not fit."""
    try:
        return layout.pack(*values)
    except (struct.error, OverflowError) as error:
        raise ThreeDSError(Text("{:s}: {:s}", ", ".join(map(str, values)), str(error))) from error
