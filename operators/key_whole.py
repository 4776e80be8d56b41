# SPDX-License-Identifier: GPL-3.0-or-later
"""Key rotations in all their channels."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.translation import n_
from .on_selection import OnSelection


class TCB_OT_key_whole(OnSelection, bpy.types.Operator):
    """Key all channels of a rotation where one has a key"""

    bl_idname = "tcb.key_whole"
    bl_label = "Key All Rotation Channels"

    work = staticmethod(animation.key_whole)
    done = n_("Keyed all rotation channels of {:s}")
    otherwise = n_("All rotation channels are keyed at the same frames")
