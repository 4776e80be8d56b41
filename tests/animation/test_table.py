# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: key data follow the keys and the action everywhere, and rows never change."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.action_users import load, share, with_slots
from tests.animation.clipboard import copied, paste, select_all
from tests.animation.curves import (
    KEYS,
    PARAMETERS,
    bag_of,
    bits,
    choose_alone,
    co,
    copy_with_action,
    curve,
    fcurves,
    given,
    has_table,
    key,
    keyed,
    new_object,
    save_and_load,
    snapshot,
)
from tests.animation.damage import DAMAGE, IMPOSSIBLE, OF_A_TRACK, OTHERS, WHOLE, damaged, forget, write_others
from tests.animation.editors import editor
from tests.animation.properties import RENAMES, custom, keys_of, rig
from tests.lines_run import lines_run


@pytest.fixture
def ball(animation) -> bpy.types.Object:
    return tcb_ball(animation)


def tcb_ball(animation) -> bpy.types.Object:
    """A TCB object with a tension at 10, a bias at 25, and a cycle."""
    item = keyed()
    animation.key_set(item, "location", 10, tension=0.5)
    animation.key_set(item, "location", 25, bias=-0.25)
    animation.choose(item, "location", cycle="REPEAT")
    return item


def state(animation, item: bpy.types.ID, path: str = "location") -> tuple[Any, ...]:
    """Return the tensions, biases and cycle of the track. Empty if it is not TCB."""
    track = animation.find_track(item, path)
    if not track.enabled:
        return ()
    return (*(given(animation, item, path, name) for name in ("tension", "bias")), track.settings.cycle)


TCB = ([(10, 0.5)], [(25, -0.25)], "REPEAT")


def rows_of(animation, item: bpy.types.ID) -> np.ndarray:
    return animation.store.table.custom_property.read_table(item.animation_data.action).rows


# Numbers


@pytest.mark.parametrize("bake_first", [False, True])
def test_parameters_and_velocities_come_back_to_the_bit_from_a_file(animation, tmp_path, bake_first: bool) -> None:
    dice = np.random.default_rng(3)
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", method="HERMITE")
    numbers = {}
    for frame, _ in KEYS:
        row = {name: float(dice.uniform(0 if "ease" in name else -1, 1)) for name in PARAMETERS}
        velocity = dice.normal(size=3).tolist()
        animation.key_set(item, "location", frame, velocity=velocity, **row)
        numbers[frame] = [*row.values(), *velocity]
    if bake_first:
        animation.bake(item)
    save_and_load(tmp_path)
    forget(animation)
    item = bpy.data.objects["Ball"]
    keys = animation.edit.track_keys.keys_of(item, animation.find_track(item, "location"))
    defaults = dict.fromkeys(PARAMETERS, 0.0)
    read = np.column_stack([*keys.parameters(defaults).values(), keys.velocities()])
    assert keys.frames.tolist() == [frame for frame, _ in KEYS]
    assert read.astype(np.float32).tobytes() == np.float32([numbers[frame] for frame, _ in KEYS]).tobytes()
    assert animation.find_track(item, "location").settings.method == "HERMITE"


def reading_and_writing(animation, count: int) -> int:
    """Return the number of lines that run to read and write a table of six channels with this many keys each."""
    item = new_object()
    for path in ("location", "scale"):
        for index in range(3):
            fcurve = bag_of(item).fcurves.new(path, index=index)
            fcurve.keyframe_points.add(count)
            places = np.stack((np.arange(count), np.sin(np.arange(count) * (1 + index))), axis=1)
            fcurve.keyframe_points.foreach_set("co", np.float32(places).ravel())
            fcurve.update()
    animation.enable(item, keep_look=False)
    action, store = item.animation_data.action, animation.store
    table = store.table.custom_property.read_table(action)
    assert len(table.rows) == 6 * count
    fresh = table.rows[:1].copy()

    def read() -> None:
        """Forget all data of actions, as after undo, and read the table."""
        store.table.session.session.forget_actions()
        store.table.custom_property.read_table(action)

    def write() -> None:
        fresh["identity"] += 1
        store.table.custom_property.update(action, fresh)

    return lines_run(read) + lines_run(write)


def test_ten_thousand_keys_are_read_and_written_in_no_time(animation) -> None:
    """All keys are processed at once: as many lines run as for a tenth of the keys."""
    few, many = (reading_and_writing(animation, count) for count in (167, 1667))
    assert many < 1.1 * few


# Rows never change


def contents(state: Any) -> tuple[Any, ...]:
    """Return all data of a track in the table."""
    channels = {index: (each.extrapolation, each.edited, each.own.tobytes()) for index, each in state.channels.items()}
    return state.identity, state.slot, state.path, state.settings, channels, state.error, baked_contents(state.bake)


def baked_contents(bake: Any) -> tuple[Any, ...]:
    """Return all data of a track's bake in the table."""
    if bake is None:
        return ()
    channels = {}
    for index, each in bake.channels.items():
        written = each.written
        fingerprint = (written.count, written.extrapolation, written.values, written.attributes)
        channels[index] = (each.keys.tobytes(), each.extrapolation, each.rest, each.repeats, *fingerprint)
        channels[index] += (written.frames.tobytes(),)
    return channels, bake.digest, bake.options


def test_a_table_that_another_has_written_is_read_anew(animation, ball) -> None:
    animation.bake(ball, output="HANDLES")
    stored: Any = ball.animation_data.action["tcb_animation"]
    before, table = animation.find_track(ball, "location").state, stored.to_dict()
    animation.key_set(ball, "location", 10, tension=-0.5)
    assert contents(animation.find_track(ball, "location").state) != contents(before)
    # Undo has this effect.
    for name, value in table.items():
        del stored[name]
        stored[name] = value
    after = animation.find_track(ball, "location").state
    assert after is not before
    assert contents(after) == contents(before)


def test_a_parameter_of_a_copy_is_not_that_of_the_original(animation, ball) -> None:
    before = rows_of(animation, ball).tobytes()
    other = copy_with_action(ball)
    assert state(animation, other) == TCB
    animation.key_set(other, "location", 10, tension=-1.0)
    assert state(animation, ball) == TCB
    assert state(animation, other)[0] == [(10, -1.0)]
    assert rows_of(animation, ball).tobytes() == before


def test_a_key_that_was_copied_before_its_parameter_was_set_has_the_old_one(animation, ball) -> None:
    choose_alone(ball)
    select_all(ball, (10,))
    with editor("DOPESHEET"):
        bpy.ops.action.copy()
    animation.key_set(ball, "location", 10, tension=-1.0)
    bpy.context.scene.frame_set(60)
    with editor("DOPESHEET"):
        bpy.ops.action.paste()
    assert given(animation, ball, "location", "tension") == [(10, -1.0), (60, 0.5)]


def test_no_key_gets_an_identity_that_ordinary_keys_have(animation) -> None:
    """Inserted keys have an amplitude of 0.8, and keys of scripts 0. An identity's high half is in the amplitude."""
    inserted = int(np.array([0.8], dtype=np.float32).view(np.uint32)[0]) & 0xFFFF
    identities = np.array([half << 16 | 5 for half in (0, inserted, 7)], dtype=np.uint32)
    assert animation.store.table.key_identity.are_assignable(identities).tolist() == [False, False, True]


# Copies and moves of actions


@pytest.fixture
def library(animation, ball, tmp_path) -> str:
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    forget(animation)
    return path


@pytest.mark.parametrize("verb", ["enable", "restore", "remove", "bake"])
def test_a_linked_object_is_read_and_refused(animation, library, verb: str) -> None:
    item = load(library, link=True)
    assert state(animation, item) == TCB
    with pytest.raises(animation.AnimationError, match="linked"):
        getattr(animation, verb)(item)
    with pytest.raises(animation.AnimationError, match="linked"):
        animation.key_set(item, "location", 10, tension=1.0)
    assert state(animation, item) == TCB


@with_slots
@pytest.mark.parametrize("bake_first", [False, True])
def test_slots_that_are_split_off_or_merged_stay_tcb(animation, ball, tmp_path, bake_first: bool) -> None:
    """Blender does not give the new action a table, and the merged action has only its own table."""
    two, three = new_object("Two"), keyed("Three")
    action = ball.animation_data.action
    share(action, two, action.slots.new("OBJECT", "Two"))
    key(two, "location", KEYS)
    for item, tension in ((two, 1.0), (three, -1.0)):
        animation.key_set(item, "location", 25, tension=tension)
    before = {item.name: co(curve(item, "location", 1)).tolist() for item in (ball, two, three)}
    if bake_first:
        animation.bake_many([ball, two, three], animation.Options())
    choose_alone(ball)
    assert bpy.ops.anim.separate_slots() == {"FINISHED"}
    three.select_set(True)
    assert bpy.ops.anim.merge_animation() == {"FINISHED"}
    assert ball.animation_data.action == three.animation_data.action != two.animation_data.action
    expected = [TCB, ([(25, 1.0)], [], "SINGLE"), ([(25, -1.0)], [], "SINGLE")]
    assert [state(animation, item) for item in (ball, two, three)] == expected
    save_and_load(tmp_path)
    forget(animation)
    ball, two, three = (bpy.data.objects[name] for name in ("Ball", "Two", "Three"))
    assert [state(animation, item) for item in (ball, two, three)] == expected
    for item in (ball, two, three):
        animation.remove(item)
        assert co(curve(item, "location", 1)).tolist() == before[item.name]
    assert [has_table(item) for item in (ball, two, three)] == [False] * 3


# Copies and moves of tracks


@pytest.mark.parametrize(
    ("make", "rename"), [*RENAMES, (custom("grip", 0.5), None)], ids=["bone", "shape key", "node", "custom property"]
)
def test_what_is_renamed_stays_tcb(animation, make, rename) -> None:
    item, path, width = make()
    key(item, path, keys_of(width))
    before = snapshot(item)
    animation.key_set(item, path, 10, tension=0.5)
    animation.key_set(item, path, 25, bias=-0.25)
    animation.choose(item, path, cycle="REPEAT")
    if rename is None:
        item["grasp"] = item.pop("grip")
        path = '["grasp"]'
        for fcurve in fcurves(item):
            fcurve.data_path = path
    else:
        path = rename(item)
    assert state(animation, item, path) == TCB
    animation.bake(item)
    assert state(animation, item, path) == TCB
    animation.remove(item)
    assert not has_table(item)
    for old, new in zip(before, snapshot(item), strict=True):
        assert {**old, "path": 0, "group": 0} == {**new, "path": 0, "group": 0}


def test_what_is_renamed_while_nobody_looks_stays_tcb_in_the_file(animation, tmp_path) -> None:
    """For example, the extension is disabled, so it does not run between renaming and the next session."""
    item = rig()
    key(item, 'pose.bones["Arm.L"].location', KEYS)
    animation.key_set(item, 'pose.bones["Arm.L"].location', 10, tension=0.5)
    handlers = [list(getattr(bpy.app.handlers, name)) for name in ("save_pre", "load_post")]
    for name in ("save_pre", "load_post"):
        getattr(bpy.app.handlers, name).clear()
    item.data.bones["Arm.L"].name = "Hand"
    forget(animation)
    save_and_load(tmp_path)
    for name, each in zip(("save_pre", "load_post"), handlers, strict=True):
        getattr(bpy.app.handlers, name).clear()
        getattr(bpy.app.handlers, name).extend(each)
    item = bpy.data.objects["Rig"]
    assert state(animation, item, 'pose.bones["Hand"].location') == ([(10, 0.5)], [], "SINGLE")


@pytest.mark.parametrize("bake_first", [False, True])
def test_nothing_attaches_itself_to_a_track_keyed_alike_when_one_is_deleted(animation, bake_first: bool) -> None:
    item = rig()
    left, right = (f'pose.bones["Arm.{side}"].location' for side in "LR")
    for path in (left, right):
        key(item, path, KEYS)
    animation.enable(item, prefixes=[left], keep_look=False)
    animation.key_set(item, left, 10, tension=0.5)
    if bake_first:
        animation.bake(item)
    before = [state for state in snapshot(item) if state["path"][0] == right]
    for index in range(3):
        bag_of(item).fcurves.remove(curve(item, left, index))
    assert not animation.find_track(item, right).enabled
    for verb in (animation.restore, animation.remove):
        assert refusal_of(animation, lambda verb=verb: verb(item))
    assert [state for state in snapshot(item) if state["path"][0] == right] == before


@pytest.mark.parametrize("bake_first", [False, True])
def test_transforms_that_become_deltas_stay_tcb(animation, ball, bake_first: bool) -> None:
    if bake_first:
        animation.bake(ball)
    choose_alone(ball)
    assert bpy.ops.object.anim_transforms_to_deltas() == {"FINISHED"}
    assert {fcurve.data_path for fcurve in fcurves(ball)} == {"delta_location"}
    assert state(animation, ball, "delta_location") == TCB
    animation.bake(ball)
    animation.remove(ball)
    assert not has_table(ball)
    assert {len(co(fcurve)) for fcurve in fcurves(ball)} == {4}


# Pasted keys


def test_keys_pasted_onto_a_plain_object_leave_it_plain(animation, ball) -> None:
    plain = keyed("Plain")
    copied(ball, (10, 25))
    paste(plain, 60)
    assert co(curve(plain, "location"))[:, 0].tolist() == [0, 10, 25, 40, 60, 75]
    assert state(animation, plain) == ()
    assert not has_table(plain)


@pytest.mark.parametrize("save", [False, True])
def test_keys_pasted_onto_another_tcb_object_bring_their_parameters(animation, ball, tmp_path, save: bool) -> None:
    other = keyed("Other")
    animation.enable(other, keep_look=False)
    copied(ball, (10, 25))
    paste(other, 60)
    if save:
        save_and_load(tmp_path)
        forget(animation)
        other = bpy.data.objects["Other"]
    assert state(animation, other) == ([(60, 0.5)], [(75, -0.25)], "SINGLE")


# Orphans


def test_rows_without_keys_stay_until_the_file_is_saved(animation, ball, tmp_path) -> None:
    many = len(rows_of(animation, ball))
    assert many > 12
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert len(rows_of(animation, ball)) == 12
    assert state(animation, ball) == TCB


def test_a_key_whose_row_was_cleared_is_known_in_this_session(animation, ball, tmp_path) -> None:
    copied(ball, (10,))
    for index in range(3):
        ball.keyframe_delete("location", index=index, frame=10)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert len(rows_of(animation, ball)) == 9
    paste(ball, 60)
    assert given(animation, ball, "location", "tension") == [(60, 0.5)]


def test_no_row_is_cleared_while_keys_are_moved(tcb_animation, animation, ball, tmp_path, monkeypatch) -> None:
    """A transform may bring back keys that it has set aside."""
    many = len(rows_of(animation, ball))
    monkeypatch.setattr(tcb_animation.ui.live.updates, "is_editing", lambda: True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert len(rows_of(animation, ball)) == many


@pytest.mark.parametrize("interpolation", ["ELASTIC", "BACK"])
def test_keys_that_play_their_floats_keep_their_rows(animation, ball, tmp_path, interpolation: str) -> None:
    for fcurve in fcurves(ball):
        fcurve.keyframe_points[1].interpolation = interpolation
        fcurve.keyframe_points[1].amplitude, fcurve.keyframe_points[1].period = 1.5, 3.0
    assert state(animation, ball) == TCB
    save_and_load(tmp_path)
    forget(animation)
    assert state(animation, bpy.data.objects["Ball"]) == TCB


def test_saving_writes_nothing_into_a_table_without_orphans(animation, ball, tmp_path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    before = rows_of(animation, ball).tobytes()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    assert rows_of(animation, ball).tobytes() == before


# Damage


def refusal_of(animation, change) -> str:
    """Return the reason why nothing was done, whether raised or reported."""
    try:
        report = change()
    except animation.AnimationError as error:
        return str(error)
    assert report.tracks == 0
    return "; ".join(report.refused)


@pytest.fixture(scope="module")
def files(tcb_animation, tmp_path_factory) -> dict[bool, str]:
    """Files with the ball and the baked ball, because creating them takes longer than damaging them."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    folder, item = tmp_path_factory.mktemp("balls"), tcb_ball(tcb_animation.animation)
    saved = {}
    for is_baked in (False, True):
        if is_baked:
            # The bake starts from handles, so that the table also contains records of handles.
            tcb_animation.animation.bake(item, output="HANDLES")
            tcb_animation.animation.bake(item)
        saved[is_baked] = str(folder / f"{is_baked}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=saved[is_baked])
    return saved


@pytest.fixture
def open_ball(files) -> Callable[[bool], bpy.types.Object]:
    """A function that opens the file with the ball or with the baked ball."""

    def open_file(is_baked: bool) -> bpy.types.Object:
        bpy.ops.wm.open_mainfile(filepath=files[is_baked])
        return bpy.data.objects["Ball"]

    return open_file


@pytest.mark.parametrize(("damage", "bake_first"), each_once([*DAMAGE, *WHOLE], [False, True]))
def test_a_damaged_table_changes_nothing_until_remove_deletes_it(
    tcb_animation, open_ball, damage: str, bake_first: bool
) -> None:
    animation = tcb_animation.animation
    ball = open_ball(bake_first)
    damaged(animation, ball, damage)
    before = snapshot(ball)
    for change in (
        lambda: animation.bake(ball),
        lambda: animation.free(ball),
        lambda: animation.enable(ball, keep_look=False),
        lambda: animation.restore(ball),
        lambda: animation.key_set(ball, "location", 10, tension=1.0),
        lambda: animation.choose(ball, "location", cycle="SINGLE"),
    ):
        assert re.search(r'"Ball".*damaged \(.+\). Delete it with Remove TCB', refusal_of(animation, change))
    assert snapshot(ball) == before
    assert any("damaged" in str(note) for note in animation.remove(ball).notes)
    assert not has_table(ball)
    assert [co(fcurve)[:, 0].tolist() for fcurve in fcurves(ball)] == [[0, 10, 25, 40]] * 3
    assert not any(fcurve.lock for fcurve in fcurves(ball))
    animation.bake(ball, keep_look=False)
    animation.restore(ball)


@pytest.mark.parametrize(("others", "work"), each_once(OTHERS, ["bake", "free", "restore", "apply", "remove"]))
def test_a_table_of_what_could_have_been_written_does_no_harm(tcb_animation, open_ball, others: str, work: str) -> None:
    animation = tcb_animation.animation
    ball = open_ball(True)
    write_others(animation, ball, others)
    with contextlib.suppress(animation.AnimationError):
        getattr(animation, work)(ball)
    if has_table(ball):
        animation.apply(ball)
    assert not has_table(ball)
    for fcurve in fcurves(ball):
        floats = [np.frombuffer(each, np.float32) for each in bits(fcurve).values() if isinstance(each, bytes)]
        assert np.isfinite(np.concatenate(floats)).all()


@pytest.mark.parametrize("others", IMPOSSIBLE)
def test_values_that_no_table_has_are_damage(tcb_animation, open_ball, others: str) -> None:
    animation = tcb_animation.animation
    ball = open_ball(True)
    write_others(animation, ball, others)
    before = snapshot(ball)
    for verb in ("bake", "free", "restore"):
        message = refusal_of(animation, partial(getattr(animation, verb), ball))
        assert re.search(r'"Ball".*damaged \(.+\). Delete it with Remove TCB', message)
    assert snapshot(ball) == before
    assert any("damaged" in str(note) for note in animation.remove(ball).notes)
    assert not has_table(ball)


@pytest.mark.parametrize("damage", ["no rows", "less content", "contents a string"])
def test_a_file_with_a_damaged_table_is_saved_and_loaded(animation, ball, tmp_path, damage: str) -> None:
    damaged(animation, ball, damage)
    save_and_load(tmp_path)
    with pytest.raises(animation.AnimationError, match="damaged"):
        animation.bake(bpy.data.objects["Ball"])


@pytest.mark.parametrize("is_baked", [False, True])
def test_every_changed_byte_is_found(tcb_animation, open_ball, is_baked: bool) -> None:
    store = tcb_animation.animation.store.table
    action: Any = open_ball(is_baked).animation_data.action
    stored: Any = action["tcb_animation"]
    (name,) = stored["contents"].keys()
    parts: dict[str, Any] = {"rows": stored, name: stored["contents"]}

    def is_damaged() -> bool:
        store.session.session.forget_actions()
        table = store.custom_property.read_table(action)
        return table.error is not None or table.find_state(int(name)) is None

    assert not is_damaged()
    for part, group in parts.items():
        for place in range(len(group[part])):
            for bit in (1, 1 << 8, 1 << 16, 1 << 30):
                group[part][place] ^= bit
                assert is_damaged()
                group[part][place] ^= bit
    text = stored["tracks"]
    for place, character in enumerate(text):
        stored["tracks"] = text[:place] + chr(ord(character) ^ 1) + text[place + 1 :]
        assert is_damaged()
    stored["tracks"] = text
    assert not is_damaged()


@pytest.mark.parametrize(("damage", "bake_first"), each_once([*OF_A_TRACK, "a choice is none"], [False, True]))
def test_one_damaged_track_leaves_the_others_tcb(animation, ball, damage: str, bake_first: bool) -> None:
    action: Any = ball.animation_data.action
    animation.remove(ball)
    for path in ("scale", "location"):
        key(ball, path, KEYS)
        animation.enable(ball, [path], keep_look=False)
    animation.key_set(ball, "location", 10, tension=0.5)
    if bake_first:
        animation.bake(ball)
    if damage == "a choice is none":
        # Another version may have written it in this way.
        before = animation.find_track(ball, "scale").state
        other = replace(before, settings=replace(before.settings, method="OTHER"))
        animation.store.table.custom_property.update(action, states=[other])
        forget(animation)
    else:
        damaged(animation, ball, damage)
    assert "damaged" in refusal_of(animation, lambda: animation.restore(ball, ["scale"]))
    assert animation.remove(ball, ["scale"]).tracks == 1
    assert animation.store.read_own_keys.key_frames(animation.find_track(ball, "scale")).tolist() == [0, 10, 25, 40]
    assert {len(co(curve(ball, "scale", index))) for index in range(3)} == {4}
    assert state(animation, ball, "scale") == ()
    assert state(animation, ball) == ([(10, 0.5)], [], "SINGLE")
    animation.remove(ball)
    assert not has_table(ball)
