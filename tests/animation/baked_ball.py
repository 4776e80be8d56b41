# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked object for tests, and for scripts that tests run in another Blender."""

from __future__ import annotations

import bpy

from tests.animation.curves import KEYS, key, keyed


def baked_ball(animation, output: str = "SAMPLES", state: str = "HANDLES") -> bpy.types.Object:
    """Return a baked object that moves and rotates. All channels of its groups are baked."""
    item = keyed(group="Places")
    key(item, "rotation_euler", [(frame, (0.1 * x, 0.2, 0.3 * z)) for frame, (x, _, z) in KEYS], group="Turns")
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", 10, tension=0.5, bias=-0.25)
    if state == "HANDLES":
        animation.bake(item, output="HANDLES")
    animation.bake(item, output=output)
    return item
