# SPDX-License-Identifier: GPL-3.0-or-later
"""The effects of the command's verbs on files, and their output."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.animation.curves import bits, curve, fcurves, insert, key, new_object
from tests.cli.scenes import FRAMES, VALUES, key_count, keys_of, load, save, state, thing


def bits_in(path: Path, name: str) -> list[dict]:
    load(path)
    return [bits(fcurve) for fcurve in fcurves(bpy.data.objects[name])]


@pytest.mark.parametrize(
    ("verb", "done", "track_state"),
    [
        ("free", "Freed", "handles"),
        ("restore", "Restored", "TCB"),
        ("apply", "Applied", "not TCB"),
        ("remove", "Removed TCB from", "not TCB"),
    ],
)
def test_a_bake_is_undone_to_the_bit_or_applied(tcb, plain_walk, verb, done, track_state):
    walk = plain_walk
    before = {"not TCB": bits_in(walk, "Hips")}
    assert f"nothing to {verb}" in tcb(verb, walk, "--in-place").err
    tcb("enable", walk, "--in-place", "--plain")
    before["TCB"] = bits_in(walk, "Hips")
    tcb("bake", walk, "--in-place", "--output-mode", "HANDLES")
    before["handles"] = bits_in(walk, "Hips")
    tcb("bake", walk, "--in-place")
    # The samples of 40 frames are keys after Apply.
    keys = 80 if verb == "apply" else 8
    assert tcb(verb, walk, "--in-place").out.startswith(f"{walk}: {done} 2 objects, 2 tracks, {keys} keys")
    if verb == "apply":
        assert state(walk) == "baked"
    else:
        assert bits_in(walk, "Hips") == before[track_state]
    (line,) = tcb("info", walk, "--json").lines
    assert {track["state"] for datablock in line["animated"] for track in datablock["tracks"]} == {track_state}


def test_remove_finds_a_bake_whose_table_is_gone(tcb, walk):
    tcb("bake", walk, "--in-place")
    load(walk)
    bpy.data.objects["Hips"].animation_data.action.pop("tcb_animation")
    save(walk)
    ran = tcb("remove", walk, "--in-place")
    assert ran.status == 0
    assert any("table is missing" in note for note in ran.notes)
    assert state(walk) == "as keyed"


def test_enable_makes_tracks_tcb_and_bakes_nothing(tcb, plain_walk):
    walk = plain_walk
    assert tcb("enable", walk, "--in-place", "--objects", "Hips").status == 0
    (line,) = tcb("info", walk, "--json").lines
    assert {one["name"]: one["tracks"][0]["state"] for one in line["animated"]} == {"Hips": "TCB", "Head": "not TCB"}


@pytest.mark.parametrize("verb", [("enable",), ("bake", "--enable")])
def test_a_track_that_cannot_be_enabled_is_an_error_and_with_strict_nothing_is_written(tcb, plain_walk, tmp_path, verb):
    load(plain_walk)
    for fcurve in fcurves(bpy.data.objects["Hips"]):
        fcurve.mute = True
    save(plain_walk)
    result = tmp_path / "done.blend"
    verb = (*verb, "--plain")
    done = tcb(*verb, plain_walk, "--output", result, "--json")
    assert (done.status, done.lines[0]["status"]) == (3, "faults")
    (error,) = done.lines[0]["errors"]
    assert (error["code"], error["object"], error["track"]) == ("MUTED", "Hips", "location")
    assert result.exists()
    result.unlink()
    strict = tcb(*verb, plain_walk, "--output", result, "--json", "--strict")
    assert (strict.status, strict.lines[0]["status"], result.exists()) == (1, "failed", False)


def test_enable_keeps_the_look_unless_it_is_to_be_plain(tcb, plain_walk):
    walk = plain_walk
    plain = tcb("enable", walk, "--in-place", "--objects", "Hips", "--plain", "--json").lines
    kept = tcb("enable", walk, "--in-place", "--objects", "Head", "--json").lines
    assert [line["looks_kept"] for line in (*plain, *kept)] == [0, 1]
    (line,) = tcb("info", walk, "--json").lines
    assert {one["name"]: any(one["tracks"][0]["parameters"].values()) for one in line["animated"]} == {
        "Hips": False,
        "Head": True,
    }


@pytest.mark.parametrize(("verb", "options"), [("enable", ()), ("bake", ("--enable",))])
@pytest.mark.parametrize("turns", ["SHORTEST", "AS_KEYED"])
def test_the_turns_of_what_becomes_tcb_can_be_chosen(tcb, tmp_path, tcb_animation, turns, verb, options):
    thing("Arm", "rotation_quaternion")
    file = save(tmp_path / "arm.blend")
    assert tcb(verb, file, "--in-place", "--max-change", "90,90", "--turns", turns, *options).status == 0
    load(file)
    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    assert animation.find_track(bpy.data.objects["Arm"], "rotation").settings.path == turns


def test_bake_leaves_what_is_not_tcb_alone_unless_it_is_to_enable_it(tcb, plain_walk):
    walk = plain_walk
    before = walk.read_bytes()
    ran = tcb("bake", walk, "--in-place", "--json")
    assert (ran.status, ran.lines[0]["status"], "no TCB tracks" in ran.err) == (0, "skipped", True)
    assert [note["code"] for note in ran.lines[0]["notes"]] == ["NOTHING_TO_BAKE"]
    assert walk.read_bytes() == before
    tcb("enable", walk, "--in-place", "--objects", "Head")
    assert tcb("bake", walk, "--in-place").status == 0
    assert (state(walk), key_count("Head", "rotation_quaternion")) == ("as keyed", 40)
    assert tcb("bake", walk, "--in-place", "--enable", "--plain").status == 0
    assert state(walk) == "baked"


def test_bake_enables_objects_that_are_named_and_keeps_their_look(tcb, plain_walk, tmp_path):
    options = ("--output", tmp_path / "baked.blend", "--max-change", "10,10", "--objects", "Hips", "--json")
    kept, plain = (tcb("bake", plain_walk, *options, *more).lines[0] for more in ((), ("--plain",)))
    assert [(line["status"], line["tracks"], line["looks_kept"]) for line in (kept, plain)] == [
        ("done", 1, 1),
        ("done", 1, 0),
    ]


def test_bake_enables_the_other_tracks_of_what_is_partly_tcb_only_when_told(tcb, cli, tmp_path, tcb_animation):
    both = thing("Both", "location", "rotation_quaternion")
    importlib.import_module(f"{tcb_animation.__name__}.animation").enable(both, ["location"], keep_look=False)
    file = save(tmp_path / "both.blend")
    counts = []
    for options in (["--objects", "Both"], ["--enable"]):
        assert tcb("bake", file, "--in-place", "--plain", *options).status == 0
        load(file)
        counts.append([key_count("Both", path) for path in ("location", "rotation_quaternion")])
    assert counts == [[40, 4], [40, 40]]


def test_info_shows_tracks_keys_parameters_and_state(tcb, walk):
    load(walk)
    from bl_ext.user_default.tcb_animation import animation

    animation.key_set(bpy.data.objects["Hips"], "location", 10, tension=0.5, bias=-1)
    animation.key_set(bpy.data.objects["Hips"], "location", 25, tension=1)
    animation.choose(bpy.data.objects["Hips"], "location", method="HERMITE")
    animation.key_set(bpy.data.objects["Hips"], "location", 25, velocity=(0.5, 0, -0.25))
    save(walk)
    tcb("bake", walk, "--in-place", "--objects", "Hips")
    (line,) = tcb("info", walk, "--json").lines
    hips = next(one for one in line["animated"] if one["name"] == "Hips")
    (track,) = hips["tracks"]
    assert hips["type"] == "OBJECT"
    assert {
        name: track[name] for name in ("track", "method", "state", "keys", "first", "last", "samples", "parameters")
    } == {
        "track": "location",
        "method": "HERMITE",
        "state": "baked",
        "keys": 4,
        "first": 1.0,
        "last": 40.0,
        "samples": 3 * 36,
        "parameters": {"tension": 2, "bias": 1, "velocity": 1},
    }
    assert "baked, method HERMITE, 4 keys from frame 1 to 40, 108 samples, tension: 2 keys" in tcb("info", walk).out


def test_info_of_a_plain_track_has_no_method(tcb, plain_walk):
    assert "    location: not TCB, 4 keys from frame 1 to 40\n" in tcb("info", plain_walk).out


def test_info_tells_of_frame_functions_and_bake_plays_them(tcb, walk):
    load(walk)
    from bl_ext.user_default.tcb_animation import animation

    animation.retime(bpy.data.objects["Hips"], "REVERSE", track="location")
    save(walk)
    tcb("bake", walk, "--in-place", "--objects", "Hips")
    (line,) = tcb("info", walk, "--json").lines
    timed = {one["name"]: [track["retimed"] for track in one["tracks"]] for one in line["animated"]}
    assert timed["Hips"] == [True]
    assert not any(timed["Head"])
    assert any(": baked, " in line and line.endswith(", retimed") for line in tcb("info", walk).out.splitlines())


def test_info_says_why_a_track_can_t_be_baked(tcb, walk):
    def blocked() -> dict[tuple[str, str], str | None]:
        (line,) = tcb("info", walk, "--json").lines
        return {
            (one["name"], track["track"]): track["blocked"] and track["blocked"]["code"]
            for one in line["animated"]
            for track in one["tracks"]
        }

    tracks = [("Hips", "location"), ("Head", "rotation_quaternion")]
    assert blocked() == dict.fromkeys(tracks)
    load(walk)
    curve(bpy.data.objects["Hips"], "location").mute = True
    bpy.data.objects["Head"].driver_add("rotation_quaternion", 1)
    save(walk)
    assert blocked() == dict(zip(tracks, ["MUTED", "DRIVEN"], strict=True))
    rows = [line for line in tcb("info", walk).out.splitlines() if line.strip().startswith("location")]
    assert ": TCB, method TCB, " in rows[0]
    assert rows[0].endswith(", the channels are muted. Unmute them first")


def test_info_sees_that_a_baked_curve_was_edited_outside(tcb, walk):
    tcb("bake", walk, "--in-place")
    load(walk)
    moved = next(point for point in curve(bpy.data.objects["Hips"], "location").keyframe_points if point.co.x == 10)
    moved.co.y = 9
    save(walk)
    table = tcb("info", walk).out.splitlines()
    (row,) = [line for line in table if line.strip().startswith("location")]
    assert row.count("edited outside") == 1
    assert row.endswith("restores the saved keys")
    (line,) = tcb("info", walk, "--json").lines
    (track,) = [row for one in line["animated"] for row in one["tracks"] if row["track"] == "location"]
    assert track["state"] == "edited outside"
    assert track["blocked"]["code"] == "EDITED_OUTSIDE"


def test_tension_for_keys_that_have_none_is_that_of_the_option(tcb, walk, tmp_path):
    """At tension 1, tangents vanish, so the value halfway between two such keys is the mean of their values."""
    assert tcb("bake", walk, "--output", tmp_path / "tense.blend", "--tension", "1", "--step", "0.5").status == 0
    load(tmp_path / "tense.blend")
    middle = keys_of(bpy.data.objects["Hips"], "location", 1)[32.5]
    assert middle == pytest.approx((VALUES["location"][2][1] + VALUES["location"][3][1]) / 2, abs=1e-6)


def test_a_step_chooses_the_samples(tcb, walk, tmp_path):
    assert tcb("bake", walk, "--output", tmp_path / "some.blend", "--step", "3").status == 0
    load(tmp_path / "some.blend")
    frames = list(keys_of(bpy.data.objects["Hips"], "location"))
    assert frames == sorted({*range(1, 41, 3), *FRAMES})


def test_a_bake_of_a_cycle_extends_to_the_frames_that_are_given(tcb, walk, tcb_animation, tmp_path):
    load(walk)
    tcb_animation.animation.choose(bpy.data.objects["Hips"], "location", cycle="REPEAT")
    save(walk)
    options = ("--output", tmp_path / "long.blend", "--objects", "Hips")
    assert tcb("bake", walk, *options, "--extend", "-30", "100").status == 0
    load(tmp_path / "long.blend")
    played = curve(bpy.data.objects["Hips"], "location")
    assert [played.evaluate(frame) for frame in (10 - 39, 10 + 39)] == pytest.approx([3.0, 3.0], abs=1e-5)
    assert list(keys_of(bpy.data.objects["Hips"], "location"))[-1] == 100


def test_free_refuses_what_was_edited_outside_unless_it_is_to_discard_the_edits(tcb, plain_walk):
    walk = plain_walk
    before = bits_in(walk, "Hips")
    tcb("bake", walk, "--in-place", "--enable")
    load(walk)
    curve(bpy.data.objects["Hips"], "location").keyframe_points[5].co.y = 9
    save(walk)
    refused = tcb("free", walk, "--in-place", "--json")
    assert (refused.status, refused.lines[0]["status"]) == (3, "faults")
    assert [(error["object"], error["track"], error["code"]) for error in refused.lines[0]["errors"]] == [
        ("Hips", "location", "EDITED_OUTSIDE")
    ]
    assert state(walk) == "baked"
    assert tcb("free", walk, "--in-place", "--discard-edits").status == 0
    assert state(walk) == "as keyed"
    assert tcb("remove", walk, "--in-place").status == 0
    assert bits_in(walk, "Hips") == before


def test_objects_picks_what_is_baked(tcb, walk, tmp_path):
    assert tcb("bake", walk, "--output", tmp_path / "hips.blend", "--objects", "Hi*").status == 0
    load(tmp_path / "hips.blend")
    assert (key_count("Hips"), key_count("Head", "rotation_quaternion")) == (40, 4)


def test_a_name_with_brackets_is_found_as_it_is_written(tcb, cli, tmp_path):
    thing("Arm[L]", "location")
    file = save(tmp_path / "arm.blend")
    assert tcb("bake", file, "--in-place", "--objects", "Arm[L]").status == 0
    assert state(file, "Arm[L]") == "baked"


def test_objects_brings_along_what_an_object_is_made_of(tcb, cli, tmp_path):
    camera = bpy.data.cameras.new("Lens")
    new_object("Camera", data=camera)
    insert(camera, "lens", [(1, 20.0), (11, 80.0)])
    file = save(tmp_path / "camera.blend")
    assert tcb("bake", file, "--in-place", "--objects", "Camera").status == 0
    load(file)
    assert len(curve(bpy.data.cameras["Lens"], "lens").keyframe_points) == 11


@pytest.mark.parametrize("pattern", [(), ("--objects", "H*")])
def test_objects_without_keys_are_passed_over(tcb, walk, tmp_path, pattern):
    load(walk)
    thing("Hat")
    save(walk)
    ran = tcb("bake", walk, "--output", tmp_path / "baked.blend", *pattern)
    assert (ran.status, ran.errors, ran.notes) == (0, [], [])


def test_bake_writes_a_sample_every_frame_into_the_output_and_json_counts_them(tcb, walk, tmp_path):
    before = walk.read_bytes()
    (line,) = tcb("bake", walk, "--output", tmp_path / "baked.blend", "--json").lines
    assert {name: line[name] for name in ("command", "file", "status", "errors", "notes", "output")} == {
        "command": "bake",
        "file": str(walk),
        "status": "done",
        "errors": [],
        "notes": [],
        "output": str(tmp_path / "baked.blend"),
    }
    counts = {name: line[name] for name in ("datablocks", "tracks", "keys", "samples")}
    assert counts == {"datablocks": 2, "tracks": 2, "keys": 8, "samples": 3 * 36 + 4 * 36}
    assert line["seconds"] > 0
    assert walk.read_bytes() == before
    load(tmp_path / "baked.blend")
    assert key_count("Hips") == key_count("Head", "rotation_quaternion") == 40


def test_curves_are_made_on_request_and_told_with_their_errors(tcb, walk, tmp_path):
    options = ("--output-mode", "CURVES", "--rotation-tolerance", "0.1", "--value-tolerance", "0.001", "--json")
    (line,) = tcb("bake", walk, "--output", tmp_path / "curves.blend", *options).lines
    assert line["status"] == "done"
    assert line["samples"] == 0
    assert 0 < line["curve_keys"] < 100
    assert 0 < line["value_error"] <= 0.001
    assert 0 < line["rotation_error"] <= 0.1
    (info,) = tcb("info", tmp_path / "curves.blend", "--json").lines
    assert (info["samples"], info["curve_keys"]) == (0, line["curve_keys"])
    tracks = [track for datablock in info["animated"] for track in datablock["tracks"]]
    assert sum(track["curve_keys"] for track in tracks) == line["curve_keys"]
    assert not any(track["samples"] for track in tracks)


def test_handles_are_made_on_request_and_told_with_their_errors_and_where_these_are(tcb, walk, tmp_path):
    (line,) = tcb("bake", walk, "--output", tmp_path / "handles.blend", "--output-mode", "HANDLES", "--json").lines
    assert line["status"] == "done"
    assert line["samples"] == line["curve_keys"] == 0
    tracks = {track["track"]: track for track in line["handles"]}
    assert set(tracks) == {"location", "rotation_quaternion"}
    assert [track["rotation"] for track in tracks.values()] == [path != "location" for path in tracks]
    assert tracks["rotation_quaternion"]["error"] == line["rotation_error"] > 0
    assert 1 < tracks["rotation_quaternion"]["frame"] < 40
    (line,) = tcb("info", tmp_path / "handles.blend", "--json").lines
    rows = [row for datablock in line["animated"] for row in datablock["tracks"] if row["error"] is not None]
    assert len(rows) == len(tracks)
    for row in rows:
        told = tracks[row["track"]]
        assert row["error"] == pytest.approx(told["error"], rel=1e-6)
        assert row["error_frame"] == pytest.approx(told["frame"])
        assert row["approximate"] == told["approximate"] == (row["track"] != "location" and told["error"] > 0.01)


def test_info_gives_the_error_of_approximate_handles(tcb, walk, tmp_path):
    handles = tmp_path / "handles.blend"
    tcb("bake", walk, "--output", handles, "--output-mode", "HANDLES")
    (line,) = [line for line in tcb("info", handles).out.splitlines() if "approximate" in line]
    assert re.search(r"rotation_quaternion: .*approximate \(maximum error [\d.]+° at frame [\d.]+\)", line)


def test_the_line_on_handles_says_near_which_frame_they_are_farthest_off(tcb, walk, tmp_path):
    ran = tcb("bake", walk, "--output", tmp_path / "handles.blend", "--output-mode", "HANDLES")
    assert re.search(r"rotations within \S+° \(frame [\d.]+\)", ran.out)


def test_without_json_a_line_tells_what_was_done_and_progress_is_on_standard_error(tcb, walk, tmp_path):
    ran = tcb("bake", walk, tmp_path / "gone.blend", "--output", tmp_path / "baked")
    (line,) = ran.out.splitlines()
    result = tmp_path / "baked" / "walk.blend"
    assert line.startswith(f"{walk}: Baked 2 objects, 2 tracks, 8 keys, 252 samples -> {result}")
    assert f"tcb: {walk}: bake\n" in ran.err
    assert f"tcb: {tmp_path / 'gone.blend'}: bake\n" in ran.err


def test_blender_calls_the_command_that_was_registered(cli, monkeypatch):
    commands = {}
    monkeypatch.setattr(bpy.utils, "register_cli_command", commands.setdefault)
    monkeypatch.setattr(bpy.utils, "unregister_cli_command", lambda _command: commands.clear())
    monkeypatch.setattr(cli.streams, "end_at_once_by_signals", lambda: None)
    cli.register()
    assert commands["tcb"](["info"]) == 2
    cli.unregister()
    assert not commands


@pytest.fixture
def dense(scene, tmp_path) -> Path:
    """A file of an object with keys at a hundred frames."""
    item = new_object("Dense", "XYZ")
    key(item, "location", [(frame, (np.sin(frame / 20.0), 0.1 * frame, 0.0)) for frame in range(1, 101)])
    return save(tmp_path / "dense.blend")


def test_reduce_leaves_few_keys_and_says_how_near_they_are(tcb, dense):
    done = tcb("reduce", dense, "--error", "0.01", "--in-place", "--json")
    assert done.status == 0
    assert any(note["code"] == "REDUCED" for note in done.lines[0]["notes"])
    (line,) = tcb("info", dense, "--json").lines
    assert line["animated"][0]["tracks"][0]["keys"] < 12
    (reduced,) = done.lines[0]["reduced"]
    assert reduced["keys"] == done.lines[0]["keys"] < reduced["keys_before"]
    assert 0.0 <= reduced["mean"] <= reduced["error"] <= 0.01
    again = tcb("reduce", dense, "--in-place")
    assert again.status == 0
    assert "nothing to reduce" in again.err


def test_reduce_counts_objects_and_limits_the_keys_of_each(tcb, dense):
    load(dense)
    other = new_object("Other", "XYZ")
    for path in ("location", "scale"):
        key(other, path, [(frame, (np.sin(frame / 9.0), 1.0, 1.0)) for frame in range(1, 101)])
    save(dense)
    arguments = ("reduce", dense, "--keys", "9", "--in-place", "--dry-run")
    (line,) = tcb(*arguments, "--json").lines
    assert (line["datablocks"], line["objects"]) == (2, 2)
    diamonds = [reduced["diamonds"] for reduced in line["reduced"]]
    assert max(diamonds) <= 9 < sum(diamonds)
    done = tcb(*arguments)
    assert f"Reduced 2 objects, 3 tracks, {sum(diamonds)} keys" in done.out
    assert all(f": {count} keys instead of 100" in done.err for count in diamonds)


def test_reduce_takes_a_number_of_keys_a_bound_for_what_stands_still_and_a_filter(tcb, tmp_path, scene):
    dense = new_object("Dense", "XYZ")
    noise = 1e-3 * np.random.default_rng(1).normal(size=100)
    key(dense, "location", [(frame, (np.sin(frame / 20.0), noise[frame - 1], 0.0)) for frame in range(1, 101)])
    file = save(tmp_path / "dense.blend")
    done = tcb(
        "reduce", file, "--keys", "6", "--still", "0.01", "--period", "8", "--output", tmp_path / "few.blend", "--json"
    )
    (reduced,) = done.lines[0]["reduced"]
    assert reduced["keys"] <= 6
    assert 0.0 < reduced["noise"] < 5e-3
    assert reduced["noise_at"].startswith("location, frame ")
    done = tcb("reduce", file, "--method", "TCB", "--error", "0.02", "--output", tmp_path / "tcb.blend", "--json")
    assert done.lines[0]["reduced"][0]["error"] <= 0.02
    refused = tcb("reduce", file, "--period", "2", "--in-place")
    assert (refused.status, "period 2 is not greater than 2" in refused.err) == (2, True)


def test_reduce_leaves_what_is_outside_a_range_and_prints_the_error_reached(tcb, dense, tmp_path):
    done = tcb("reduce", dense, "--error", "0.01", "--range", "20", "60", "--output", tmp_path / "few.blend")
    assert done.status == 0
    error = float(re.search(r", maximum error (\S+) -> ", done.out).group(1))
    assert 0.0 < error <= 0.01
    load(tmp_path / "few.blend")
    frames = [point.co[0] for point in curve(bpy.data.objects["Dense"], "location").keyframe_points]
    assert [frame for frame in frames if not 20.0 < frame < 60.0] == [*range(1, 21), *range(60, 101)]
    assert len(frames) < 70
    again = tcb("reduce", dense, "--range", "200", "300", "--in-place")
    assert "nothing to reduce: no track has three keys in the range, apart from TCB tracks" in again.err


def test_what_can_not_be_done_as_it_is_linked_is_said_to_be_so(tcb, dense, tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(dense), link=True) as (_, wanted):
        wanted.objects = ["Dense"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    linked = save(tmp_path / "linked.blend")
    said = tcb("reduce", linked, "--in-place").err
    assert '"Dense": skipped, because it is linked. Process the source file' in said
    assert "nothing to do: the relevant data is linked" in said
    assert "nothing to reduce" not in said
