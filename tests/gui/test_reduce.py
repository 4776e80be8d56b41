# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion capture in the interface: import, comparison of errors, reduction, edit of a pose, playback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import settle, wait_for
from .graphical import place

WALK = "cmu_01_01.bvh"
FRAMES = 120
UNITS = 0.08
"""Error in scene units of the file, about 0.45 cm on the body."""

# The open Reduce panel at the top, as after a click on its heading. Blender reports positions only of buttons.
OPEN = """
def steps():
    from bl_ext.user_default.tcb_animation.panels import reduce
    bpy.context.preferences.addons['bl_ext.user_default.tcb_animation'].preferences.advanced = True
    panel = type('TCB_PT_reduce_open', (reduce.TCB_PT_reduce,), dict(
        bl_idname='TCB_PT_reduce_open', bl_options=set(), bl_order=-1, bl_label='Reduce'))
    bpy.utils.register_class(panel)
    area('VIEW_3D').tag_redraw()
    yield from drawn()
"""
RIG = "rig = bpy.data.objects['walk']\n"
PLACES = (
    RIG
    + """
scene = bpy.context.scene
at, result = scene.frame_current, []
for frame in range(1, {count} + 1):
    scene.frame_set(frame)
    result.append([tuple(point) for bone in rig.pose.bones for point in (bone.head, bone.tail)])
scene.frame_set(at)
"""
)


@pytest.fixture
def walk(tmp_path: Path, shared_data: Path) -> Path:
    """Return a file of the walk's first frames, without the T-pose."""
    lines = (shared_data / WALK).read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Frames:"))
    own = [*lines[:start], f"Frames: {FRAMES}", lines[start + 1], *lines[start + 3 : start + 3 + FRAMES]]
    file = tmp_path / "walk.bvh"
    file.write_text("\n".join(own) + "\n")
    return file


def places(window: Any) -> list[Any]:
    return list(window.run(PLACES.format(count=FRAMES)))


def farthest(before: list[Any], after: list[Any]) -> list[float]:
    """Return the maximum deviation of any point from its original position, for each frame."""
    return [
        max(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) ** 0.5 for p, q in zip(one, other, strict=True))
        for one, other in zip(before, after, strict=True)
    ]


def test_a_walk_is_imported_reduced_changed_in_one_pose_and_played(window: Any, walk: Path) -> None:
    window.run(f"""
def steps():
    bpy.data.objects.remove(bpy.data.objects['Cube'])
    bpy.ops.preferences.addon_enable(module='io_anim_bvh')
    bpy.ops.import_anim.bvh(filepath={str(walk)!r}, rotate_mode='QUATERNION')
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, {FRAMES}
    scene.frame_set(60)
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.view3d.view_selected()
    bpy.ops.ed.undo_push(message='imported')
    yield from drawn()
""")
    window.run(OPEN)
    before = places(window)
    buttons = window.buttons("VIEW_3D")
    window.type_value(place(buttons, "reduction.error"), str(UNITS))
    window.click(place(buttons, "tcb.reduce_compare("))
    wait_for(window, "result = len(bpy.context.window_manager.tcb_key_counts)", 5)
    settle(window)
    counts = window.run(
        "result = [(c.error, c.key_count, c.before) for c in bpy.context.window_manager.tcb_key_counts]"
    )
    assert [count[1] for count in counts] == sorted((count[1] for count in counts), reverse=True)
    buttons = window.buttons("VIEW_3D", across=0.2)
    chosen = next(name for name in buttons if "tcb.reduce(" in name and f"error={2 * UNITS}" in name)
    window.click(buttons[chosen])
    wait_for(window, RIG + "result = rig.animation_data.action.name.endswith('.reduced')")
    settle(window)
    reduced = places(window)
    assert max(farthest(before, reduced)) <= 2 * UNITS
    assert window.run(RIG + "result = rig.animation_data.action.tcb_live")

    # Raise the left arm at its key after frame 60 with mouse, keyboard and auto keying.
    window.run(f"""
def steps():
    {RIG.strip()}
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode='POSE')
    for bone in rig.pose.bones:
        chosen = bone.name == 'LeftArm'
        if hasattr(bone, 'select'):
            bone.select = chosen
        else:
            bone.bone.select = chosen
    rig.data.bones.active = rig.data.bones['LeftArm']
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.ed.undo_push(message='posing')
    yield from drawn()
""")
    keys = window.run(
        RIG
        + """
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
path = 'pose.bones["LeftArm"].rotation_quaternion'
curve = next(c for c in channels_of(rig) if c.data_path == path and c.array_index == 0)
result = [point.co[0] for point in curve.keyframe_points]
"""
    )
    number = next(number for number, frame in enumerate(keys) if frame > 60)
    window.run(f"bpy.context.scene.frame_set({int(keys[number])})")
    middle = window.run("""
a = area('VIEW_3D'); r = region(a, 'WINDOW')
result = (r.x + r.width // 3, win().height - (r.y + r.height // 2))
""")
    for key in ("r", "6", "0", "Return"):
        window.key(key, at=middle)
    settle(window)
    changed = farthest(reduced, places(window))
    assert changed[int(keys[number]) - 1] > 5 * UNITS
    # A TCB key affects the tangents of the adjacent keys, so the motion changes up to two keys away.
    around = keys[max(number - 2, 0)], keys[min(number + 2, len(keys) - 1)]
    outside = [far for frame, far in enumerate(changed, start=1) if not around[0] <= frame <= around[1]]
    assert max(outside) < 1e-4
    assert len(keys) == window.run(
        RIG
        + """
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
result = len(next(c for c in channels_of(rig) if 'LeftArm"].rot' in c.data_path).keyframe_points)
"""
    )

    window.run("bpy.context.scene.frame_set(1)")
    window.key("space", at=middle)
    wait_for(window, "result = bpy.context.scene.frame_current > 5")
    window.key("Escape")
    wait_for(window, "result = bpy.context.screen.is_animation_playing", False)
    for _undo in range(2):
        window.key("ctrl+z", at=middle)
    settle(window)
    assert max(farthest(reduced, places(window))) < 1e-4
    window.key("ctrl+z", at=middle)
    wait_for(window, RIG + "result = rig.animation_data.action.name.endswith('.reduced')", False)
    settle(window)
    assert places(window) == before
    window.run("bpy.utils.unregister_class(bpy.types.TCB_PT_reduce_open)")
