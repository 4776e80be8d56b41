# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths in camera space, compared with Blender's camera at each frame."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from tests.animation.curves import new_object

NOW = 33


@pytest.fixture
def pictures(scene, tcb_animation):
    return tcb_animation.panels.pictures


@pytest.fixture
def sampling(tcb_animation):
    return tcb_animation.animation.sampling.cameras


@pytest.fixture
def overlay(scene, pictures):
    """The overlay, turned on, in camera space, without stored paths."""
    pictures.paths_in_viewport.path_cache.clear()
    scene.frame_end = 60
    bpy.context.window_manager.tcb_show_paths = True
    scene.tcb_paths.space = "CAMERA"
    yield pictures.paths_in_viewport
    pictures.paths_in_viewport.path_cache.clear()


def keyed(item, seed, path="location", frames=(1, 20, 41, 60), size=2.0):
    """Insert keys on the item."""
    random = np.random.default_rng(seed)
    for frame in frames:
        setattr(item, path, random.uniform(-size, size, len(getattr(item, path))))
        item.keyframe_insert(path, frame=frame)
    return item


def new_camera(scene, name="Eye", seed=7, *, moves=True):
    """A distant camera that faces the objects, and moves, rotates and is scaled."""
    camera = new_object(name, data=bpy.data.cameras.new(name))
    holder = new_object(f"{name} holder")
    holder.location, holder.rotation_euler, holder.scale = (0, -25, 1), (1.5, 0, 0), (1.5, 1.5, 1.5)
    camera.parent = holder
    if moves:
        keyed(camera, seed)
        keyed(camera, seed + 1, "rotation_euler", size=0.15)
    scene.camera = camera
    return camera


@pytest.fixture
def camera(scene):
    return new_camera(scene)


@pytest.fixture
def thing(scene):
    return keyed(new_object("Thing"), 3)


def kept(overlay, item, bone=""):
    """Return the path that the overlay keeps for the object or bone, as if it had been drawn."""
    wanted = (item.session_uid, bone), overlay.trace_of(bpy.context.scene)
    overlay.path_cache._request(wanted)
    for _ in range(10_000):
        if overlay.path_cache._work() is None:
            return overlay.path_cache.state.paths[wanted]
    raise AssertionError("the path is not computed")


def shown(overlay, pictures, item, bone=""):
    """Return the path as the viewport draws it at the current frame."""
    path = kept(overlay, item, bone).path
    view = None if path.views is None else pictures.paths_in_viewport.view_now(bpy.context.scene)
    return pictures.path_pick.DrawnPath(item, bone, overlay.trace_of(bpy.context.scene), path, view)


def drawn(each, points):
    """Return the world positions at which points of the path are drawn."""
    view = np.eye(4) if each.path_to_world is None else each.path_to_world
    return points.astype(float) @ view[:3, :3].T + view[:3, 3]


def seen_through(scene, item, frames):
    """Return the item's position in the camera view at each frame: fractions of the width and height, and the depth."""
    places = []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        places.append(tuple(world_to_camera_view(scene, scene.camera, item.matrix_world.translation)))
    return np.array(places)


def on_picture(scene, places):
    """Return the positions of world points in the current camera view."""
    return np.array([tuple(world_to_camera_view(scene, scene.camera, Vector(place))) for place in places])


def test_every_point_stands_on_the_picture_where_the_camera_saw_it(scene, overlay, pictures, camera, thing):
    expected = seen_through(scene, thing, range(1, 61))
    at_keys = seen_through(scene, thing, (1, 20, 41, 60))
    for now in (1, NOW, 60):
        scene.frame_set(now)
        each = shown(overlay, pictures, thing)
        assert np.abs(on_picture(scene, drawn(each, each.path.points)) - expected).max() < 1e-4
        assert np.abs(on_picture(scene, drawn(each, each.path.keys)) - at_keys).max() < 1e-4
        # At the current frame, the object is at this position.
        assert np.abs(drawn(each, each.path.points)[now - 1] - thing.matrix_world.translation).max() < 1e-4
    assert np.abs(np.diff(expected, axis=0)).max() > 0.01


def slopes_in_camera(scene, camera, item, frame):
    """Return the item's velocities in camera space before and after a frame, from Blender's evaluation."""
    places = []
    step = 0.25
    for at in (frame, frame - step, frame - 2 * step, frame + step, frame + 2 * step):
        scene.frame_set(int(at // 1), subframe=at % 1)
        places.append(np.array(camera.matrix_world.normalized().inverted() @ item.matrix_world.translation))
    here, before, earlier, after, later = places
    return (3 * here - 4 * before + earlier) / (2 * step), (4 * after - later - 3 * here) / (2 * step)


def test_tangents_lead_where_the_path_goes_over_the_picture(scene, overlay, pictures, camera, thing):
    before, after = slopes_in_camera(scene, camera, thing, 41)
    path = kept(overlay, thing).path
    # The error of differences over one frame on a cubic is due to the third derivative.
    assert path.tangents[1][2] == pytest.approx(after * 19 / 3, abs=0.02)
    assert path.tangents[0][2] == pytest.approx(-before * 7, abs=0.02)
    assert path.speeds[40] == pytest.approx(np.linalg.norm(before + after) / 2, abs=0.02)
    # The velocities include the camera's own motion.
    scene.tcb_paths.space = "WORLD"
    world = kept(overlay, thing).path
    assert abs(np.linalg.norm(world.tangents[1][2]) - np.linalg.norm(path.tangents[1][2])) > 0.1


def test_a_still_camera_gives_the_path_in_the_world_bit_for_bit(scene, overlay, pictures, thing):
    new_camera(scene, moves=False)
    seen = kept(overlay, thing).path
    scene.tcb_paths.space = "WORLD"
    world = kept(overlay, thing).path
    assert overlay.trace_of(scene).cameras == ()
    assert seen.views is None
    for name in ("points", "speeds", "frames", "keys", "tangents"):
        assert getattr(seen, name).tobytes() == getattr(world, name).tobytes()


def test_without_a_camera_the_path_is_in_the_world_and_the_panel_says_so(scene, overlay, pictures, thing):
    assert scene.camera is None
    assert kept(overlay, thing).path.views is None

    def panel():
        layout = bpy.context.window_manager.popmenu_begin__internal("panel").layout
        pictures.path_tool.TCB_PT_paths.draw(SimpleNamespace(layout=layout), bpy.context)
        return str(layout.introspect())

    assert "has no camera" in panel()
    new_camera(scene)
    assert "has no camera" not in panel()


def test_the_cameras_that_markers_bind_count_each_from_its_frame_on(scene, overlay, pictures, thing):
    first, second, unseen = (new_camera(scene, name, seed) for name, seed in (("A", 11), ("B", 21), ("C", 31)))
    unseen.hide_render = True
    for name, frame, bound in (
        ("a", 10, first),
        ("again", 25, first),
        ("b", 41, second),
        ("c", 50, unseen),
        ("late", 41, first),
    ):
        scene.timeline_markers.new(name, frame=frame).camera = bound
    expected = seen_through(scene, thing, range(1, 61))
    cameras = []
    for frame in (1, 40, 41, 55):
        scene.frame_set(frame)
        cameras.append(scene.camera)
        each = shown(overlay, pictures, thing)
        assert np.abs(on_picture(scene, drawn(each, each.path.points)) - expected).max() < 1e-4
    assert cameras == [first, first, second, second]
    path = kept(overlay, thing).path
    assert path.stretches() == [slice(0, 40), slice(40, 60)]
    assert path.within(35, 45).stretches() == [slice(0, 6), slice(6, 11)]
    assert path.within(45, 55).stretches() == [slice(0, 11)]
    # The second camera shows the key at the cut, and its tangents on both sides.
    before, after = slopes_in_camera(scene, second, thing, 41)
    assert path.tangents[0][2] == pytest.approx(-before * 7, abs=0.02)
    assert path.tangents[1][2] == pytest.approx(after * 19 / 3, abs=0.02)
    # Between the last frame of one camera and the first frame of the other, no path can be picked.
    middle = np.eye(4)
    jump = path.points[39:41].mean(axis=0)
    at = pictures.path_pick.on_screen(jump[np.newaxis], middle, (200, 200))[0]
    _, off = pictures.path_pick.frame_near(path, middle, (200, 200), tuple(at))
    assert off > 0.1


@pytest.mark.parametrize("has_constraint", [False, True])
def test_a_path_is_computed_anew_when_its_camera_moves_otherwise(
    scene, overlay, pictures, camera, thing, has_constraint
):
    target = keyed(new_object("Target"), 9)
    if has_constraint:
        camera.constraints.new("TRACK_TO").target = target
    moved = target if has_constraint else camera.parent

    def check():
        """Compare the path with the camera's picture. Return whether the path was computed anew."""
        overlay.path_cache._on_update(scene, bpy.context.evaluated_depsgraph_get())
        before, path = kept_paths.pop(), kept(overlay, thing)
        kept_paths.append(path)
        expected = seen_through(scene, thing, range(1, 61))
        scene.frame_set(NOW)
        each = shown(overlay, pictures, thing)
        assert np.abs(on_picture(scene, drawn(each, each.path.points)) - expected).max() < 1e-4
        return path is not before

    kept_paths = [kept(overlay, thing)]
    scene.frame_set(50)
    bpy.context.view_layer.update()
    assert not check()
    moved.location.x += 3
    moved.keyframe_insert("location", frame=20)
    bpy.context.view_layer.update()
    assert check()
    thing.keyframe_insert("location", frame=34.5)
    bpy.context.view_layer.update()
    assert check()


def test_a_camera_that_goes_leaves_no_path_behind_and_no_error(scene, overlay, camera, thing):
    wanted = (thing.session_uid, ""), overlay.trace_of(scene)
    camera.constraints.new("LIMIT_LOCATION")
    overlay.path_cache._request(wanted)
    overlay.path_cache._work()
    assert "constraints" in overlay.status(bpy.context)
    bpy.data.objects.remove(camera)
    for _ in range(100):
        if overlay.path_cache._work() is None:
            break
    assert not overlay.path_cache.state.paths
    assert not overlay.path_cache.state.has_failed
    assert kept(overlay, thing).path.views is None


SIZE = (800, 600)


@pytest.fixture
def viewport(scene, camera):
    """A viewport in camera view, at the current frame of each request."""

    class View:
        is_perspective, view_perspective = True, "CAMERA"

        @property
        def view_matrix(self):
            return camera.matrix_world.normalized().inverted()

        @property
        def window_matrix(self):
            return camera.calc_matrix_camera(bpy.context.evaluated_depsgraph_get(), x=SIZE[0], y=SIZE[1])

        @property
        def perspective_matrix(self):
            return self.window_matrix @ self.view_matrix

    region = SimpleNamespace(x=0, y=0, width=SIZE[0], height=SIZE[1])
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    return SimpleNamespace(scene=scene, region=region, region_data=View(), preferences=preferences)


def at_pixels(viewport, place):
    return np.array(location_3d_to_region_2d(viewport.region, viewport.region_data, Vector(place)))


def grab(pictures, viewport, each, part, row):
    """Grab a key or a tangent at its visible position, as the mouse does."""
    path = each.path
    point = (
        path.keys[row]
        + {"handle_left": path.tangents[0], "handle_right": path.tangents[1]}.get(part, 0 * path.keys)[row]
    )
    start = at_pixels(viewport, drawn(each, point[np.newaxis])[0])
    found = pictures.path_pick.pick([each], viewport.region_data.perspective_matrix, SIZE, tuple(start), 1.0)
    assert found is not None
    assert (found[0].part, found[0].row) == (part, row)
    pointer = pictures.path_drag.Pointer(viewport, tuple(start), each, row)
    return found[0], pointer, start


@pytest.mark.parametrize("held", ["location", "tip"])
def test_a_dragged_key_is_seen_under_the_mouse_at_its_frame(scene, overlay, pictures, camera, thing, viewport, held):
    if held == "tip":
        scene.tcb_paths.point = "AXIS"
        for path in ("location", "rotation_euler"):
            thing.keyframe_delete(path, frame=20) if path == "location" else keyed(thing, 4, path)
    scene.frame_set(NOW)
    each = shown(overlay, pictures, thing)
    picked, pointer, start = grab(pictures, viewport, each, "KEY", list(each.path.frames).index(20))
    end = start + ((30, -25) if held == "location" else (4, 3))
    world = each.world_at(picked.row)
    drag = pictures.path_drag._PositionDrag(
        picked.spot(scene, each), world[:3, :3] @ each.path.keys[picked.row] + world[:3, 3]
    )
    pointer.position = tuple(end)
    drag.follow(pointer)
    scene.frame_set(20)
    bpy.context.view_layer.update()
    tip = thing.matrix_world.translation if held == "location" else thing.matrix_world @ Vector((0, 0, 1.0))
    assert np.abs(at_pixels(viewport, tip) - end).max() < 0.1
    scene.frame_set(NOW)
    overlay.path_cache.state.fingerprints = overlay.path_cache.Fingerprints()
    each = shown(overlay, pictures, thing)
    assert np.abs(at_pixels(viewport, drawn(each, each.path.keys)[picked.row]) - end).max() < 0.1


def test_a_release_confirms_the_shown_frame_although_ctrl_was_released_first(
    scene, overlay, pictures, camera, thing, viewport, tcb_animation, monkeypatch
):
    each = shown(overlay, pictures, thing)
    picked, _, start = grab(pictures, viewport, each, "KEY", 1)
    monkeypatch.setattr(pictures.path_drag, "under_mouse", lambda _context, _at: (picked, each))
    monkeypatch.setattr(pictures.path_drag, "pressed_at", lambda _context, _event: tuple(start))
    headers = []
    monkeypatch.setattr(pictures.path_drag, "show_in_headers", lambda *arguments: headers.append(arguments[2]))
    viewport.area, viewport.window_manager = None, Mock()
    operator = pictures.path_drag.TCB_OT_path_drag
    names = ("_read", "_new_drag", "_apply", "_show_state", "_confirm", "cancel")
    drag = type("Drag", (), {name: getattr(operator, name) for name in names})()
    drag._show_in_tab = lambda *_arguments: None
    end = at_pixels(viewport, drawn(each, each.path.points[29:30])[0])

    def event(kind, value, pixels, ctrl):
        x, y = map(int, pixels)
        return SimpleNamespace(type=kind, value=value, mouse_x=x, mouse_y=y, shift=False, ctrl=ctrl, unicode="")

    operator.invoke(drag, viewport, event("LEFTMOUSE", "PRESS", start, True))
    for each_event in (
        event("MOUSEMOVE", "NOTHING", end, True),
        event("LEFT_CTRL", "RELEASE", end, False),
        event("MOUSEMOVE", "NOTHING", end + 1, False),
    ):
        assert operator.modal(drag, viewport, each_event) == {"RUNNING_MODAL"}
    assert operator.modal(drag, viewport, event("LEFTMOUSE", "RELEASE", end, False)) == {"FINISHED"}
    (fcurve, *_) = tcb_animation.animation.fcurves.channels.channels_of(thing)
    assert [point.co.x for point in fcurve.keyframe_points] == [1.0, 30.0, 41.0, 60.0]
    assert "Thing: frame 20  → 30" in headers


def test_an_axis_and_a_number_are_those_of_the_world(scene, overlay, pictures, camera, thing, viewport):
    scene.frame_set(20)
    before = np.array(thing.matrix_world.translation)
    scene.frame_set(NOW)
    each = shown(overlay, pictures, thing)
    picked, pointer, start = grab(pictures, viewport, each, "KEY", 1)
    drag = pictures.path_drag._PositionDrag(picked.spot(scene, each), before)
    pointer.position, pointer.axis, pointer.typed = tuple(start + 40), "Z", "1.5"
    drag.follow(pointer)
    scene.frame_set(20)
    assert np.array(thing.matrix_world.translation) == pytest.approx(np.add(before, (0, 0, 1.5)), abs=1e-4)
    # The mouse moves the key to the point on its vertical that is closest to the view ray.
    scene.frame_set(NOW)
    pointer.typed = ""
    wanted = np.add(before, (0, 0, 0.7))
    scene.frame_set(20)
    pointer.position = tuple(at_pixels(viewport, wanted))
    scene.frame_set(NOW)
    drag.follow(pointer)
    scene.frame_set(20)
    assert np.array(thing.matrix_world.translation) == pytest.approx(wanted, abs=1e-3)


def test_a_dragged_tangent_ends_where_the_mouse_is(scene, overlay, pictures, camera, thing, viewport, tcb_animation):
    animation = tcb_animation.animation
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    thing.animation_data.action.tcb_live = True
    scene.frame_set(NOW)
    each = shown(overlay, pictures, thing)
    end_now = each.path.keys[1] + each.path.tangents[1][1]
    # Tension alone moves the end along the change of the tangent in the world, projected by the camera.
    animation.key_set(thing, "location", 20, tension=-0.4)
    animation.bake(thing, output="HANDLES")
    overlay.path_cache.state.fingerprints = overlay.path_cache.Fingerprints()
    wanted = shown(overlay, pictures, thing)
    aim = at_pixels(viewport, drawn(wanted, (wanted.path.keys + wanted.path.tangents[1])[1:2])[0])
    animation.key_set(thing, "location", 20, tension=0.0)
    animation.bake(thing, output="HANDLES")
    overlay.path_cache.state.fingerprints = overlay.path_cache.Fingerprints()
    each = shown(overlay, pictures, thing)
    assert np.abs((each.path.keys + each.path.tangents[1])[1] - end_now).max() < 1e-5
    picked, pointer, start = grab(pictures, viewport, each, "handle_right", 1)
    assert np.abs(aim - start).max() > 5
    drag = pictures.path_drag._TangentDrag(picked.spot(scene, each), each, picked, pointer)
    pointer.position = tuple(aim)
    drag.follow(pointer)
    overlay.path_cache.state.fingerprints = overlay.path_cache.Fingerprints()
    after = shown(overlay, pictures, thing)
    end = at_pixels(viewport, drawn(after, (after.path.keys + after.path.tangents[1])[1:2])[0])
    assert np.abs(end - aim).max() < 0.5
    # The key does not move.
    assert np.abs(after.path.keys[1] - each.path.keys[1]).max() < 1e-5


def test_a_tangent_of_a_track_that_is_not_tcb_is_refused_when_pressed(
    scene, overlay, pictures, camera, thing, viewport, tcb_animation, monkeypatch
):
    animation = tcb_animation.animation
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    animation.apply(thing)
    scene.frame_set(NOW)
    each = shown(overlay, pictures, thing)
    picked, _, start = grab(pictures, viewport, each, "handle_right", 1)
    operator = pictures.path_drag.TCB_OT_path_drag
    monkeypatch.setattr(pictures.path_drag, "under_mouse", lambda _context, _at: (picked, each))
    monkeypatch.setattr(pictures.path_drag, "pressed_at", lambda _context, _event: tuple(start))
    reports = []

    class Pressed:
        _new_drag = operator._new_drag

        def report(self, _level, text):
            reports.append(text)

    event = SimpleNamespace(shift=False, ctrl=False)
    assert operator.invoke(Pressed(), viewport, event) == {"CANCELLED"}
    assert reports == ['"Thing", Location, frame 20: this is not a TCB track. Enable TCB first']


def test_a_pressed_tangent_of_an_override_leaves_the_linked_action(
    scene, overlay, pictures, camera, thing, viewport, tcb_animation, monkeypatch, tmp_path
):
    animation = tcb_animation.animation
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {thing})
    bpy.data.objects.remove(thing)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Thing"]
    item = wanted.objects[0].override_create()
    scene.collection.objects.link(item)
    linked = item.animation_data.action
    scene.frame_set(NOW)
    each = shown(overlay, pictures, item)
    picked, _, start = grab(pictures, viewport, each, "handle_right", 1)
    monkeypatch.setattr(pictures.path_drag, "under_mouse", lambda _context, _at: (picked, each))
    monkeypatch.setattr(pictures.path_drag, "pressed_at", lambda _context, _event: tuple(start))
    viewport.area, viewport.window_manager = None, Mock()
    operator = pictures.path_drag.TCB_OT_path_drag
    pressed = Mock()
    pressed._new_drag = lambda: operator._new_drag(pressed)
    assert operator.invoke(pressed, viewport, SimpleNamespace(shift=False, ctrl=False)) == {"RUNNING_MODAL"}
    assert item.animation_data.action == linked


def test_a_key_is_made_at_the_frame_that_is_seen_under_the_mouse(scene, overlay, pictures, camera, thing, viewport):
    scene.frame_set(30)
    at = at_pixels(viewport, thing.matrix_world.translation)
    scene.frame_set(NOW)
    each = shown(overlay, pictures, thing)
    found = pictures.path_pick.pick([each], viewport.region_data.perspective_matrix, SIZE, tuple(at), 1.0)
    assert found is not None
    assert found[0].part == "PATH"
    assert found[0].frame == pytest.approx(30, abs=0.05)
    drag = pictures.path_drag._FrameDrag(found[0]._replace(frame=20.0).spot(scene, each), each)
    pointer = pictures.path_drag.Pointer(viewport, tuple(at), each, 1)
    drag.follow(pointer)
    assert drag.frame == 30


def test_a_camera_without_scale_is_no_fault(overlay, sampling, camera, thing):
    camera.parent.scale = (0, 0, 0)
    assert np.isfinite(kept(overlay, thing).path.points).all()
    plain = sampling.unscaled(np.array([Matrix.Diagonal((2, 3, 4, 1)), Matrix.Diagonal((0, 1, 1, 1))]))
    assert (plain == np.eye(4)).all()
