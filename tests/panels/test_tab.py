# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab, the menus and the preferences, drawn into real layouts in the animation editors."""

from __future__ import annotations

import contextlib
import importlib.util
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import new_object, set_selected
from tests.animation.editors import editor
from tests.panels.layouts import layout_of, places_of_sliders, texts


@pytest.fixture(params=[("DOPESHEET", "DOPESHEET"), ("FCURVES", "GRAPH")], ids=["DOPESHEET", "GRAPH"])
def inside(request):
    """with inside() as prefix: use an animation editor's sidebar. The names of its panels have this prefix."""
    ui_type, prefix = request.param

    @contextlib.contextmanager
    def sidebar():
        with editor(ui_type, "UI"):
            yield prefix

    return sidebar


def _list(draw):
    return list(texts(layout_of(draw)))


@pytest.fixture
def keys_panel(inside):
    """Return a function that lists the items of the panel for selected keys, or of a panel inside it."""

    def draw(name="keys"):
        with inside() as prefix:
            panel = getattr(bpy.types, f"{prefix}_PT_tcb_{name}")
            return _list(lambda layout: panel.draw(SimpleNamespace(layout=layout), bpy.context))

    return draw


@pytest.fixture
def cube(scene):
    item = new_object("Cube")
    for frame in (1, 11, 31):
        item.location = (frame, 0.0, 0.0)
        item.keyframe_insert("location", frame=frame)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


@pytest.fixture
def choose(tcb_animation, cube):
    """choose(1, 11): select the cube's keys at these frames."""

    def select(*frames):
        for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
            for point in fcurve.keyframe_points:
                set_selected(point, point.co.x in frames)

    return select


@pytest.fixture
def of_50(preferences):
    preferences.numbers = "OF_50"


def test_without_a_selected_key_the_panel_says_so(choose, keys_panel):
    choose()
    assert "Select keys" in keys_panel()


def test_an_object_without_keys_has_that_as_the_reason(cube, keys_panel):
    cube.animation_data_clear()
    shown = keys_panel()
    assert "Select keys" not in shown
    assert "The active object has no tracks" in shown


def test_only_generated_keys_are_told_from_none(choose, keys_panel):
    bpy.ops.tcb.bake()
    choose(5, 6)
    assert "Only generated keys are selected" in keys_panel()


def test_one_key_has_its_frame_and_five_sliders(choose, keys_panel):
    choose(11)
    shown = keys_panel()
    assert {"Frame 11", "Cube: Location"} <= set(shown)
    sliders = [f"TCBSidebar.{name}[0]" for name in ("tension", "continuity", "bias", "ease_to", "ease_from")]
    assert [name for name in shown if name.startswith("TCBSidebar")] == [*sliders, "TCBSidebar.relative[0]"]
    place = ["TCBSidebar.key_frame[0]", *(f"TCBSidebar.key_value[{index}]" for index in range(3))]
    shown = keys_panel("place")
    assert [name for name in shown if name.startswith("TCBSidebar")] == place
    assert {"X: 11.0000", "Y: 0.0000", "Z: 0.0000"} <= set(shown)


def test_no_row_comes_or_goes_above_the_sliders(cube, choose, inside):
    def places():
        choose(1, 11, 31)
        with inside() as prefix:
            draw = getattr(bpy.types, f"{prefix}_PT_tcb_keys").draw
            return places_of_sliders(layout_of(lambda layout: draw(SimpleNamespace(layout=layout), bpy.context)))

    before = places()
    assert len(before[1]) == 2
    for step in (
        partial(bpy.ops.tcb.enable, live=True),
        partial(bpy.ops.tcb.key_set, track="location", frame=11, bias=0.5),
        bpy.ops.tcb.bake,
    ):
        step()
        assert places() == before, step


def test_the_diagram_is_empty_where_other_things_are_played_beside_the_keys(
    cube, choose, inside, tcb_animation, monkeypatch
):
    drawn = []

    def diagram():
        with inside() as prefix:
            panel = getattr(bpy.types, f"{prefix}_PT_tcb_diagram")
            assert panel.poll(bpy.context)
            _list(lambda layout: panel.draw(SimpleNamespace(layout=layout), bpy.context))

    monkeypatch.setattr(tcb_animation.panels.key, "draw_diagram", lambda _layout, *shown: drawn.append(shown))
    bpy.ops.tcb.enable()
    choose(1, 11)
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        fcurve.keyframe_points[0].interpolation = "CONSTANT"
    diagram()
    key_sides = tcb_animation.animation.checks.shown_key
    assert drawn.pop() == ([], (key_sides.SPLINE, key_sides.SPLINE))
    choose(1)
    diagram()
    (parameters,), sides = drawn.pop()
    assert set(parameters) == {"tension", "continuity", "bias", "ease_to", "ease_from"}
    assert sides == (key_sides.NOTHING, tcb_animation.animation.fcurves.keyframes.INTERPOLATION["CONSTANT"])


def test_a_choice_goes_to_the_tracks_of_all_selected_keys(cube, choose, inside, scene, tcb_animation):
    cube.keyframe_insert("scale", frame=11)
    bpy.ops.tcb.enable()
    bpy.ops.tcb.track_choose(track="scale", cycle="REPEAT")
    choose(11)

    def shown():
        return _list(
            lambda layout: getattr(bpy.types, f"{prefix}_PT_tcb_track").draw(
                SimpleNamespace(layout=layout), bpy.context
            )
        )

    with inside() as prefix:
        assert {"TCBSidebar.cycle[0]", "Differs between tracks"} <= set(shown())
        scene.tcb.cycle = "LOOP"
        assert "Differs between tracks" not in shown()
    find_track = tcb_animation.animation.find_track
    assert [find_track(cube, path).settings.cycle for path in ("location", "scale")] == ["LOOP", "LOOP"]


@pytest.fixture
def hermite(cube):
    """The cube with a location that uses velocities, different at each key."""
    bpy.ops.tcb.enable(keep_look=False)
    bpy.ops.tcb.track_choose(track="location", method="HERMITE")
    for frame, velocity in ((1, (1.0, 0.5, 0.0)), (11, (-3.0, 0.5, 0.25))):
        bpy.ops.tcb.key_set(track="location", frame=frame, velocity=velocity)
    return cube


@pytest.fixture
def velocities(numbers):
    """velocities(item, path): {frame: velocity} for keys with velocities, in float32."""

    def read(item, path="location"):
        found = {}
        for index in range(3):
            for frame, number in numbers(item, path, "velocity", index).items():
                found.setdefault(frame, {})[index] = number
        return {frame: [own.get(index, 0.0) for index in range(3)] for frame, own in found.items()}

    return read


VELOCITY = [f"TCBSidebar.velocity[{index}]" for index in range(3)]


def test_a_velocity_slider_sets_that_component_of_all_selected_keys(
    hermite, choose, inside, scene, velocities, keys_panel, event
):
    choose(1, 11)
    with inside():
        selected = scene.tcb
        assert list(selected.velocity) == pytest.approx([-1.0, 0.5, 0.125, 0.0])
        mean = selected.velocity[0]
        event(presses=True)
        selected.velocity[0] = 2.0
        assert velocities(hermite) == {1.0: [2.0, 0.5, 0.0], 11.0: [2.0, 0.5, 0.25]}
        # On Esc, Blender resets the slider to its previous value.
        event(takes_back=True)
        selected.velocity[0] = mean
        assert velocities(hermite) == {1.0: [1.0, 0.5, 0.0], 11.0: [-3.0, 0.5, 0.25]}
        event()
        selected.relative = True
        selected.velocity[0] = mean + 8.0
        selected.velocity[1] = 1.0
    assert velocities(hermite) == {1.0: [9.0, 1.0, 0.0], 11.0: [5.0, 1.0, 0.25]}
    selected.relative = False
    assert "5 … 9" in keys_panel()


def test_only_keys_whose_track_goes_by_velocities_get_one(hermite, choose, inside, scene, velocities, keys_panel):
    hermite.keyframe_insert("scale", frame=11)
    bpy.ops.tcb.enable()
    choose(11)
    assert [name for name in keys_panel() if ".velocity" in name] == VELOCITY
    with inside():
        scene.tcb.velocity[2] = 4.0
    assert velocities(hermite) == {1.0: [1.0, 0.5, 0.0], 11.0: [-3.0, 0.5, 4.0]}
    assert velocities(hermite, "scale") == {}


def test_of_values_and_rotations_together_no_velocity_is_shown(hermite, choose, keys_panel):
    """Velocities in units per frame and in radians per frame."""
    hermite.keyframe_insert("rotation_euler", frame=11)
    bpy.ops.tcb.enable()
    bpy.ops.tcb.track_choose(track="rotation", method="HERMITE")
    choose(11)
    shown = keys_panel()
    assert "Velocity: select only values or only rotations" in shown
    assert not [name for name in shown if ".velocity" in name]


def test_a_track_of_one_component_has_one_slider(scene, choose, inside, keys_panel, numbers, tcb_animation):
    lamp = new_object("Lamp", data=bpy.data.lights.new("Lamp", "POINT"))
    lamp.data.color = (1.0, 0.5, 0.0)
    for frame, energy in ((1, 10.0), (21, 30.0)):
        lamp.data.energy = energy
        lamp.data.keyframe_insert("energy", frame=frame)
    bpy.context.view_layer.objects.active.select_set(False)
    bpy.context.view_layer.objects.active = lamp
    lamp.select_set(True)
    animation = tcb_animation.animation
    animation.enable(lamp.data, keep_look=False)
    animation.choose(lamp.data, "energy", method="HERMITE")
    for fcurve in animation.fcurves.channels.channels_of(lamp.data):
        for point in fcurve.keyframe_points:
            point.select_control_point = True
    assert [name for name in keys_panel() if ".velocity" in name] == VELOCITY[:1]
    with inside():
        scene.tcb.velocity[0] = 3.0
        # The component does not exist.
        scene.tcb.velocity[1] = 3.0
    assert [numbers(lamp.data, "energy", "velocity", index) for index in range(2)] == [{1.0: 3.0, 21.0: 3.0}, {}]


def test_sliders_follow_the_preference(cube, choose, keys_panel, of_50, scene):
    bpy.ops.tcb.key_set(track="location", frame=1, bias=-0.25)
    choose(1, 11)
    shown = keys_panel()
    assert {"TCBSidebar.bias_of_50[0]", "18.8 … 25"} <= set(shown)
    assert "TCBSidebar.bias[0]" not in shown


@pytest.mark.parametrize(
    "menu", ["DOPESHEET_MT_key", "DOPESHEET_MT_context_menu", "GRAPH_MT_key", "GRAPH_MT_context_menu"]
)
def test_the_keys_menus_have_an_entry(cube, inside, menu):
    appended = getattr(bpy.types, menu).draw._draw_funcs[1:]
    with inside():
        shown = _list(lambda layout: [draw(SimpleNamespace(layout=layout), bpy.context) for draw in appended])
    assert "TCB" in shown


def test_the_menu_has_every_verb(cube, choose, inside):
    choose(1)
    with inside():
        shown = _list(lambda layout: bpy.types.TCB_MT_keys.draw(SimpleNamespace(layout=layout), bpy.context))
    calls = {text.split("(")[0] for text in shown if text.startswith("bpy.ops.")}
    verbs = {"key_set", "key_copy", "key_paste", "key_reset", "make_key"}
    assert {f"bpy.ops.tcb.{verb}" for verb in verbs} <= calls
    assert {"Drag", "Presets"} <= set(shown)


def test_the_menu_of_presets_begins_with_the_default_and_ends_with_save(cube, inside):
    names = ["Smooth", "Corner", "Ease Both", "Ease In", "Ease Out", "Linear", "Overshoot", "Stop"]
    with inside():
        shown = _list(lambda layout: bpy.types.TCB_MT_presets.draw(SimpleNamespace(layout=layout), bpy.context))
    assert [text for text in shown if text in (*names, "Save as Preset…")] == [*names, "Save as Preset…"]


def test_every_operator_and_property_has_a_tooltip(tcb_animation):
    for verb in dir(bpy.ops.tcb):
        operator = getattr(bpy.ops.tcb, verb).get_rna_type()
        assert operator.description, verb
        undescribed = [prop.identifier for prop in operator.properties if not prop.description]
        assert [name for name in undescribed if name not in {"rna_type", "remove_name", "remove_active"}] == [], verb
    for group in (bpy.context.scene.tcb, bpy.context.scene.tcb, bpy.context.scene.tcb.defaults):
        undescribed = [prop.identifier for prop in group.bl_rna.properties if not prop.description]
        assert set(undescribed) <= {"rna_type", "selected", "defaults", "reduction"}


def test_no_shortcut_is_there_until_the_preferences_add_the_set(preferences, tcb_animation):
    offered = tcb_animation.ui.keymaps._shortcut_items
    assert offered == []
    preferences.use_shortcuts = True
    assert len(offered) == 28
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    dragged = [item for item in keymaps["Pose"].keymap_items if item.idname == "tcb.key_drag"]
    assert [item.properties.parameter for item in dragged] == ["tension", "continuity", "bias"]
    preferences.use_shortcuts = False
    assert offered == []
    assert not any(item.idname == "tcb.key_drag" for item in keymaps["Pose"].keymap_items)


def test_the_shortcuts_are_on_keys_that_blender_leaves_free(preferences, tcb_animation):
    preferences.use_shortcuts = True
    items = [item for _keymap, item in tcb_animation.ui.keymaps._shortcut_items]
    assert all(item.active for item in items)
    defaults = Path(bpy.utils.system_resource("SCRIPTS")) / "presets/keyconfig/keymap_data/blender_default.py"
    spec = importlib.util.spec_from_file_location("blender_default", defaults)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ours = {item.type for item in items}
    # shortcuts of other editors and modes
    others = [
        (name, each[0])
        for mouse in ("LEFT", "RIGHT")
        for name, _options, keymap in module.generate_keymaps(module.Params(select_mouse=mouse))
        for each in keymap["items"]
        if each[1]["type"] in ours and each[1].get("shift") and each[1].get("alt") and not each[1].get("ctrl")
    ]
    assert {name for name, _ in others} <= {"Font", "Text", "Console", "Clip Editor", "Clip Graph Editor"}
    # A misspelled property would be missing, and every shortcut would drag tension.
    dragged = [item.properties.parameter for item in items if item.idname == "tcb.key_drag"]
    assert dragged == ["tension", "continuity", "bias"] * 4


def test_the_animation_menu_of_the_viewport_lists_the_verbs(cube, preferences):
    def verbs():
        shown = _list(lambda layout: bpy.types.TCB_MT_objects.draw(SimpleNamespace(layout=layout), bpy.context))
        return [text.split("(")[0].removeprefix("bpy.ops.tcb.") for text in shown if text.startswith("bpy.ops.")]

    assert verbs() == ["enable", "bake", "bake_in_world", "free", "reduce", "fix_rotations"]
    preferences.advanced = True
    assert verbs()[6:] == ["check", "joint_check", "relax", "velocities_write"]
