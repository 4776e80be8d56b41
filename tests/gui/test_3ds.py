# SPDX-License-Identifier: GPL-3.0-or-later
"""3D Studio files are imported by dialog and by dropping, and exported. A long export can be canceled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from formats import three_ds
from tests.exchange.files import box, save, scene, track

from .conftest import turns, wait_for

OBJECTS = "result = sorted(item.name for item in bpy.data.objects if 'Cube' not in item.name)"

CHOSEN = """
at = area('FILE_BROWSER')
with bpy.context.temp_override(window=win(), area=at, region=region(at, 'WINDOW')):
    result = len(bpy.context.selected_files)
"""


def files(folder: Path) -> list[str]:
    """Write two files, and return their names."""
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 2), (20, 0, 3, 0), parameters={1: (0.5, -0.3, 0, 0, 0)})
    for name in ("Run", "Walk"):
        node = three_ds.Node("OBJECT", name.encode(), tracks=(places,))
        save(folder / f"{name}.3ds", scene(node, objects=(box(name.encode()),), segment=(0, 20)))
    return ["Run.3ds", "Walk.3ds"]


def in_viewport(call: str) -> str:
    """Code that calls an operator as if in the 3D viewport, and waits for the window that it opens."""
    return f"""
def steps():
    bpy.context.preferences.view.filebrowser_display_type = 'SCREEN'
    at = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=at, region=region(at, 'WINDOW')):
        {call}
    yield from drawn()
"""


def middle_of(window: Any, kind: str, from_right: int | None = None) -> tuple[int, int]:
    """Return a screen position: the center of a region in the dialog, or a distance from its right edge."""
    x, y, width, height, high = window.run(
        f"r = region(area('FILE_BROWSER'), {kind!r}); result = (r.x, r.y, r.width, r.height, win().height)"
    )
    return x + (width // 2 if from_right is None else width - from_right), high - y - height // 2


def type_name(window: Any, name: str) -> None:
    """Type the file name into the field left of the two buttons. Enter alone would close the dialog."""
    window.click(middle_of(window, "EXECUTE", from_right=500), times=2)
    for keys in (("key", "ctrl+a"), ("type", "--delay", "40", "--", name), ("key", "Return")):
        window.xdotool(*keys)
        turns(window)


def show_folder(window: Any, folder: Path) -> None:
    window.run(f"area('FILE_BROWSER').spaces.active.params.directory = {str(folder).encode()!r}")
    turns(window)


def test_files_go_in_by_the_dialog_and_by_dropping_and_out_by_the_dialog(window: Any, tmp_path: Path) -> None:
    names, scenery = files(tmp_path), window.run(OBJECTS)

    window.run(in_viewport("bpy.ops.import_anim.tcb_3ds('INVOKE_DEFAULT')"))
    show_folder(window, tmp_path)
    for _listing_takes_its_time in range(20):
        window.key("a", at=middle_of(window, "WINDOW"))
        if window.run(CHOSEN) == 2:
            break
    window.click(middle_of(window, "EXECUTE", from_right=60))
    wait_for(window, OBJECTS, sorted([*scenery, "Run", "Walk"]))
    assert window.run("s = bpy.context.scene; s.frame_set(10); result = bpy.data.objects['Run'].location[:]") == (
        5,
        0,
        2,
    )
    window.key("ctrl+z", at=(500, 500))
    wait_for(window, OBJECTS, scenery)

    dropped = [{"name": name} for name in names]
    poll = "bpy.types.FileHandler.bl_rna_get_subclass_py('IMPORT_ANIM_FH_tcb_3ds').poll_drop(bpy.context)"
    call = f"bpy.ops.wm.drop_import_file('INVOKE_DEFAULT', directory={str(tmp_path)!r}, files={dropped!r})"
    window.xdotool("mousemove", 600, 500)
    window.run(in_viewport(f"assert {poll}\n        {call}"))
    assert window.run(OBJECTS) == scenery, "it asks before it imports"
    window.key("Return")
    wait_for(window, OBJECTS, sorted([*scenery, "Run", "Walk"]))

    window.run(in_viewport("bpy.ops.export_anim.tcb_3ds('INVOKE_DEFAULT')"))
    assert window.run("result = area('FILE_BROWSER').spaces.active.params.filename").endswith(".3ds")
    show_folder(window, tmp_path)
    type_name(window, "given.3ds")
    window.click(middle_of(window, "EXECUTE", from_right=60))
    wait_for(window, f"import os; result = os.path.exists({str(tmp_path / 'given.3ds')!r})", True)
    given = three_ds.read((tmp_path / "given.3ds").read_bytes())
    run = next(node for node in given.nodes if node.name == b"Run")
    assert run.track("POSITION").frames.tolist() == [0, 10, 20]
    assert run.track("POSITION").parameters[0].tolist() == [0, 0.5, 0]


def test_escape_ends_an_export_that_takes_long(window: Any, tmp_path: Path) -> None:
    window.run(
        "scene = bpy.context.scene; scene.frame_start, scene.frame_end = 1, 200_000; scene.frame_set(20);"
        "bpy.data.objects['Cube'].constraints.new('LIMIT_LOCATION')"
    )
    window.run(in_viewport("bpy.ops.export_anim.tcb_3ds('INVOKE_DEFAULT')"))
    show_folder(window, tmp_path)
    type_name(window, "given.3ds")
    window.click(middle_of(window, "EXECUTE", from_right=60))
    wait_for(window, "result = 'TCB' in bpy.data.objects")
    window.key("Escape", at=(500, 500))
    wait_for(window, "result = 'TCB' in bpy.data.objects", False)
    assert window.run("result = bpy.context.scene.frame_current") == 20
    assert not (tmp_path / "given.3ds").exists()
