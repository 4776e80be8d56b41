# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of chunks, named as in Autodesk's 3D Studio File Toolkit, and the layouts of their contents.

All numbers in a file are little-endian.
"""

from __future__ import annotations

import struct

from ..interp import Text
from .errors import ThreeDSError

COLOR_F = 0x0010
M3D_VERSION = 0x0002
MASTER_SCALE = 0x0100
MDATA = 0x3D3D
MESH_VERSION = 0x3D3E
NAMED_OBJECT = 0x4000
N_TRI_OBJECT = 0x4100
POINT_ARRAY = 0x4110
FACE_ARRAY = 0x4120
TEX_VERTS = 0x4140
SMOOTH_GROUP = 0x4150
MESH_MATRIX = 0x4160
N_DIRECT_LIGHT = 0x4600
DL_SPOTLIGHT = 0x4610
DL_SPOT_ROLL = 0x4656
DL_MULTIPLIER = 0x465B
N_CAMERA = 0x4700
M3DMAGIC = 0x4D4D
MAT_ENTRY = 0xAFFF
KFDATA = 0xB000
AMBIENT_NODE_TAG = 0xB001
OBJECT_NODE_TAG = 0xB002
CAMERA_NODE_TAG = 0xB003
TARGET_NODE_TAG = 0xB004
LIGHT_NODE_TAG = 0xB005
L_TARGET_NODE_TAG = 0xB006
SPOTLIGHT_NODE_TAG = 0xB007
KFSEG = 0xB008
KFCURTIME = 0xB009
KFHDR = 0xB00A
NODE_HDR = 0xB010
INSTANCE_NAME = 0xB011
PIVOT = 0xB013
POS_TRACK_TAG = 0xB020
ROT_TRACK_TAG = 0xB021
SCL_TRACK_TAG = 0xB022
FOV_TRACK_TAG = 0xB023
ROLL_TRACK_TAG = 0xB024
COL_TRACK_TAG = 0xB025
MORPH_TRACK_TAG = 0xB026
HOT_TRACK_TAG = 0xB027
FALL_TRACK_TAG = 0xB028
HIDE_TRACK_TAG = 0xB029
NODE_ID = 0xB030

_NAMES = {number: name for name, number in globals().items() if isinstance(number, int)}

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


def chunk_name(ident: int) -> str:
    """Return the name and number of a chunk for messages."""
    return f"{_NAMES.get(ident, 'chunk')} {ident:04X}"
