# SPDX-License-Identifier: GPL-3.0-or-later
"""A top view of a small cube."""

from __future__ import annotations

TOP_VIEW = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.view3d.view_axis(type='TOP')
    view = a.spaces.active.region_3d
    view.view_distance, view.view_location = 11, (2.5, 1, 0)
    a.spaces.active.overlay.show_cursor = False
    bpy.data.objects['Cube'].scale = (0.1, 0.1, 0.1)
    bpy.ops.ed.undo_push(message='view')
    yield from drawn()
"""
