# SPDX-License-Identifier: GPL-3.0-or-later
"""The window's animated cube: its F-curves, and its position by separate formulas."""

from __future__ import annotations

from typing import Any

from .conftest import settle

# All data of F-curves, so that two states can be compared bit for bit, with or without the identities of keys. Also the
# values of a parameter on the keys of the cube's location: {frame: number}.
CURVES = """
import struct

def fcurves():
    animation = bpy.data.objects['Cube'].animation_data
    if bpy.app.version < (4, 4):
        return animation.action.fcurves
    return animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves

def everything(identities=True):
    names = [p.identifier for p in bpy.types.Keyframe.bl_rna.properties]
    names = ['co'] + [name for name in names if name not in ('rna_type', 'co_ui', 'co')]
    def plain(key, name):
        value = getattr(key, name)
        if name in ('back', 'amplitude', 'period') and not identities:
            return struct.unpack('<I', struct.pack('<f', value))[0] >> 16
        return value if isinstance(value, (str, float, bool)) else tuple(value)
    return [(c.data_path, c.array_index, c.extrapolation,
             tuple(tuple(plain(k, name) for name in names) for k in c.keyframe_points)) for c in fcurves()]

def numbers(name, index=None):
    from bl_ext.user_default.tcb_animation.animation import find_track
    from bl_ext.user_default.tcb_animation.animation.store.read_own_keys import read_own_keys
    from bl_ext.user_default.tcb_animation.animation.store.table.rows import column_of
    found = {}
    for channel, own in read_own_keys(find_track(bpy.data.objects['Cube'], 'location')).items():
        if index in (None, channel):
            for frame, number in zip(own.keys.frames.tolist(), own.numbers[:, column_of(name)].tolist()):
                if number == number:
                    assert found.setdefault(frame, round(number, 4)) == round(number, 4)
    return found
"""


# With `CURVES`: linear keys, to which TCB fits no parameters.
AT_REST = """
for fcurve in fcurves():
    for point in fcurve.keyframe_points:
        point.interpolation = 'LINEAR'
bpy.ops.ed.undo_push(message='linear')
"""


def hermite_first_segment(frame: int) -> float:
    """Return the cube's x between frames 1 and 20, from formulas. Keys: 0, 4, 0 at 1, 20, 50, with T = 0.75 at 20."""
    first, second = 19.0, 30.0
    arriving = 0.25 * first / (first + second) * (4.0 - 4.0)
    leaving = 1.5 * 4.0 - 0.5 * arriving
    u = (frame - 1.0) / first
    return leaving * (u**3 - 2 * u**2 + u) + 4.0 * (3 * u**2 - 2 * u**3) + arriving * (u**3 - u**2)


def parameter(window: Any, name: str) -> Any:
    """Return the parameter of each location key: {frame: number}."""
    return window.run(f"{CURVES}\nresult = numbers({name!r})")


def everything(window: Any) -> Any:
    """Return all data of the F-curves after Live has processed the edits."""
    settle(window)
    return window.run(f"{CURVES}\nresult = everything()")
