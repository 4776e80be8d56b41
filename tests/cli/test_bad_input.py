# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors name the place and the reason, nothing is changed, and the exit status is nonzero."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import bpy
import pytest
from mathutils import Vector

from tests.animation.action_users import push_down, with_slots
from tests.animation.curves import HAS_SLOTS, curve, fcurves
from tests.animation.layered import give_layer
from tests.cli.scenes import key_count, linked_from, load, names_in, save, state, thing
from tests.cli.tool import refused

NOBODY = 65534


FAULTS = 3
"""Exit status of a run that finished, but skipped something."""


USAGE = [
    ("no verb", []),
    ("no file", ["bake", "--in-place"]),
    ("nothing that says where the result goes", ["bake", "walk.blend"]),
    ("both ways to say where", ["bake", "walk.blend", "--in-place", "--output", "out/"]),
    ("an output that is neither folder nor .blend", ["bake", "walk.blend", "--output", "out"]),
    ("an output that is the file read", ["bake", "walk.blend", "--output", "walk.blend"]),
    ("an output folder that is the file's own", ["bake", "walk.blend", "--output", "."]),
    ("two results of one name", ["bake", "walk.blend", "other/walk.blend", "--output", "out/"]),
    ("one file's name for the results of two", ["bake", "walk.blend", "other/walk2.blend", "--output", "both.blend"]),
    ("a file given twice", ["bake", "walk.blend", "./walk.blend", "--in-place"]),
    ("a step of 0", ["bake", "walk.blend", "--in-place", "--step", "0"]),
    ("an empty range", ["bake", "walk.blend", "--in-place", "--extend", "20", "10"]),
    ("a tension out of range", ["bake", "walk.blend", "--in-place", "--tension", "1.5"]),
    ("an output mode that there is not", ["bake", "walk.blend", "--in-place", "--output-mode", "WAVES"]),
    ("info that should write", ["info", "walk.blend", "--in-place"]),
]


@pytest.mark.parametrize("arguments", [pytest.param(case, id=name) for name, case in USAGE])
def test_what_makes_no_sense_is_a_usage_error(tcb, walk, monkeypatch, arguments):
    before = walk.read_bytes()
    monkeypatch.chdir(walk.parent)
    ran = tcb(*arguments)
    assert ran.status == 2
    assert ran.err.startswith("usage: ")
    assert (names_in(walk.parent), walk.read_bytes()) == (["walk.blend"], before)


def test_an_unknown_option_shows_the_usage_of_its_verb(tcb, walk):
    ran = tcb("bake", walk, "--in-place", "--steps=2")
    usage, message, _ = ran.err.partition("unknown arguments: --steps=2")
    assert (ran.status, bool(message)) == (2, True)
    assert "--step " in usage


def test_the_usage_error_says_how_to_say_where_the_result_goes(tcb, walk):
    message = tcb("bake", walk).err.splitlines()[-1]
    assert "--output" in message
    assert "--in-place" in message


def test_help_is_no_error(tcb):
    ran = tcb("bake", "--help")
    assert (ran.status, ran.err) == (0, "")
    assert "--sample-limit" in ran.out


FILES = {
    "empty": b"",
    "a text": b"import bpy\n" * 1000,
    "cut off": None,
    "only its first bytes right": b"BLENDER-v402" + b"\0" * 5000,
}


@pytest.mark.parametrize("content", FILES)
def test_what_is_no_blend_file_is_refused(tcb, walk, tmp_path, content):
    file = tmp_path / "bad.blend"
    file.write_bytes(walk.read_bytes()[: walk.stat().st_size // 2] if FILES[content] is None else FILES[content])
    before = file.read_bytes()
    assert refused(tcb("bake", file, "--in-place"), str(file))
    assert (file.read_bytes(), names_in(tmp_path)) == (before, ["bad.blend", "walk.blend"])


def test_a_file_that_is_not_there_is_refused(tcb, tmp_path):
    assert refused(tcb("info", tmp_path / "gone.blend"), "gone.blend", "No such file")


def test_a_folder_is_no_file(tcb, tmp_path):
    assert refused(tcb("info", tmp_path), "not a file")


def test_a_file_of_a_newer_blender_is_not_written(tcb, cli, walk, monkeypatch):
    before = walk.read_bytes()
    monkeypatch.setattr(cli.blend_files, "bpy", Older())
    assert refused(tcb("bake", walk, "--in-place"), "saved by Blender", "could lose")
    assert walk.read_bytes() == before


class Older:
    """Blender with an older version number."""

    class app:  # noqa: N801  as Blender names it
        version = (4, 1, 0)
        version_file = (4, 1, 0)

    def __getattr__(self, name: str) -> object:
        return getattr(bpy, name)


def test_an_output_folder_that_is_not_there_is_refused(tcb, walk, tmp_path):
    ran = tcb("bake", walk, "--output", tmp_path / "typo" / "out.blend")
    assert refused(ran, str(tmp_path / "typo"), "does not exist")
    assert names_in(tmp_path) == ["walk.blend"]


def test_an_output_folder_below_a_file_is_refused(tcb, walk, tmp_path):
    (tmp_path / "note.txt").write_text("")
    assert refused(tcb("bake", walk, "--output", f"{tmp_path}/note.txt/out/"), "note.txt")


@contextlib.contextmanager
def as_a_plain_user():
    """Run as another user if the tests run as root, because root has all permissions."""
    if os.geteuid() == 0:
        os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)
    else:
        yield


@pytest.fixture
def others_file(walk):
    """The file in a folder that other users can read but not write, unlike pytest's folders."""
    with tempfile.TemporaryDirectory(prefix="tcb-others-") as name:
        file = walk.rename(Path(name, walk.name))
        Path(name).chmod(0o555)
        yield file
        Path(name).chmod(0o755)


def test_a_file_that_cant_be_read_is_refused(tcb, others_file):
    others_file.chmod(0)
    with as_a_plain_user():
        ran = tcb("info", others_file)
    assert refused(ran, str(others_file), "Permission denied")


def test_a_write_protected_file_is_refused(tcb, others_file):
    before = others_file.read_bytes()
    others_file.chmod(0o444)
    with as_a_plain_user():
        ran = tcb("bake", others_file, "--in-place")
    assert refused(ran, "walk.blend is write-protected")
    assert others_file.read_bytes() == before


@pytest.mark.parametrize("output", ["baked.blend", "new/folder/"])
def test_an_output_folder_that_cant_be_written_to_is_refused(tcb, others_file, output):
    with as_a_plain_user():
        ran = tcb("bake", others_file, "--output", f"{others_file.parent}/{output}")
    assert refused(ran, f"no permission to write to the folder {others_file.parent}")
    assert names_in(others_file.parent) == ["walk.blend"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which nobody can make a file")
def test_an_output_that_blender_cant_make_is_refused(tcb, walk):
    assert refused(tcb("bake", walk, "--output", "/proc/out.blend"), "/proc")


def test_an_output_that_is_no_file_is_refused(tcb, walk, tmp_path):
    (tmp_path / "out" / "walk.blend").mkdir(parents=True)
    assert refused(tcb("bake", walk, "--output", tmp_path / "out"), "not a file")


def test_a_file_in_which_no_object_matches_is_skipped_and_near_names_are_told(tcb, walk):
    before = walk.read_bytes()
    ran = tcb("bake", walk, "--in-place", "--objects", "Hip", "--objects", "Hat*", "--json")
    assert (ran.status, ran.errors, ran.lines[0]["status"]) == (0, [], "skipped")
    hip, hat = ran.lines[0]["notes"]
    assert (hip["code"], hip["arguments"][0], hip["arguments"][1][0]) == ("NO_OBJECT_MATCHES", "Hip", "Hips")
    assert (hat["code"], hat["arguments"][0]) == ("NO_OBJECT_MATCHES", "Hat*")
    assert walk.read_bytes() == before


def test_one_pattern_of_two_without_a_match_is_a_note(tcb, walk):
    ran = tcb("bake", walk, "--in-place", "--objects", "Hips", "--objects", "Hat*", "--json")
    assert (ran.status, ran.errors, ran.lines[0]["status"]) == (0, [], "done")
    assert [note["code"] for note in ran.lines[0]["notes"]] == ["NO_OBJECT_MATCHES"]


@pytest.mark.parametrize("patterns", [("Still", "Hips"), ("Still", "*"), ("*", "Still")])
def test_an_object_without_keys_is_refused_when_asked_for_by_name(tcb, walk, patterns):
    load(walk)
    thing("Still")
    save(walk)
    ran = tcb("bake", walk, "--in-place", *(part for pattern in patterns for part in ("--objects", pattern)))
    assert refused(ran, '"Still"', "no animation", status=FAULTS)
    assert state(walk) == "baked"


@pytest.mark.parametrize("verb", ["bake", "restore", "remove", "enable"])
def test_a_file_with_nothing_to_do_in_it_is_skipped(tcb, cli, tmp_path, verb):
    thing("Still")
    file = save(tmp_path / "still.blend")
    before = file.read_bytes()
    ran = tcb(verb, file, "--in-place", "--json")
    assert (ran.status, ran.errors, ran.lines[0]["status"]) == (0, [], "skipped")
    assert f"nothing to {verb}" in ran.err
    assert file.read_bytes() == before


def test_a_locked_track_is_refused_and_the_others_baked_unless_it_is_strict(tcb, walk):
    load(walk)
    curve(bpy.data.objects["Head"], "rotation_quaternion").lock = True
    save(walk)
    before = walk.read_bytes()
    ran = tcb("bake", walk, "--in-place", "--strict", "--json")
    assert refused(ran, '"Head"', "Quaternion Rotation", "locked")
    assert (ran.lines[0]["status"], ran.lines[0]["output"]) == ("failed", None)
    assert [ran.lines[0][name] for name in ("datablocks", "objects", "tracks", "keys", "samples")] == [0] * 5
    assert walk.read_bytes() == before
    ran = tcb("bake", walk, "--in-place")
    assert refused(ran, '"Head"', "Quaternion Rotation", "locked", status=FAULTS)
    load(walk)
    assert (key_count("Hips"), key_count("Head", "rotation_quaternion")) == (40, 4)


def test_too_many_samples_are_refused_unless_the_limit_is_raised(tcb, walk):
    before = walk.read_bytes()
    ran = tcb("bake", walk, "--in-place", "--objects", "Hips", "--step", "0.02", "--sample-limit", "1000")
    assert refused(ran, "1,000")
    assert walk.read_bytes() == before
    assert tcb("bake", walk, "--in-place", "--objects", "Hips", "--step", "0.02", "--sample-limit", "1e5").status == 2
    assert tcb("bake", walk, "--in-place", "--objects", "Hips", "--step", "0.02", "--sample-limit", "99999").status == 0


@with_slots
def test_a_dry_run_lists_the_tracks_of_each_strip(tcb, walk):
    load(walk)
    hat = thing("Hat", "location")
    push_down(hat)
    other = thing("Other", "location").animation_data
    strip = hat.animation_data.nla_tracks.new().strips.new("More", 300, other.action)
    strip.action_slot = other.action_slot
    other.action = None
    save(walk)
    (line,) = tcb("bake", walk, "--objects", "Hat", "--in-place", "--dry-run", "--json").lines
    assert (line["objects"], line["tracks"]) == (1, 2)
    assert [(change["object"], change["track"]) for change in line["changes"]] == [
        ("Hat (action HatAction)", "location"),
        ("Hat (action OtherAction)", "location"),
    ]


@pytest.mark.parametrize(("locked", "status"), [(("Hips", "Head"), 1), (("Hips",), 3), ((), 0)])
@pytest.mark.parametrize("verb", ["bake", "apply", "remove", "velocities"])
def test_a_file_fails_if_none_of_its_tracks_can_be_processed_and_has_faults_if_some_can(
    tcb, walk, tmp_path, verb, locked, status
):
    load(walk)
    for name in locked:
        for fcurve in fcurves(bpy.data.objects[name]):
            fcurve.lock = True
    save(walk)
    ran = tcb(verb, walk, "--output", tmp_path / "out.blend", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (status, {0: "done", 1: "failed", 3: "faults"}[status])
    assert (tmp_path / "out.blend").exists() == (status != 1)


@with_slots
def test_an_action_without_a_slot_is_refused_and_the_others_baked(tcb, walk):
    load(walk)
    bpy.data.objects["Head"].animation_data.action_slot = None
    save(walk)
    assert refused(tcb("bake", walk, "--in-place"), '"Head"', "slot", status=FAULTS)
    assert state(walk) == "baked"


@pytest.mark.skipif(not HAS_SLOTS, reason="this Blender's actions have no layers")
def test_an_action_of_two_layers_is_refused_where_it_is_meant_and_left(tcb, walk):
    load(walk)
    give_layer(bpy.data.objects["Head"].animation_data.action)
    save(walk)
    said = ('"Head"', 'action "HeadAction"', "layers", "Bake Action")
    assert refused(tcb("bake", walk, "--in-place", "--enable"), *said, status=FAULTS)
    assert state(walk) == "baked"
    load(walk)
    assert len(bpy.data.objects["Head"].animation_data.action.layers) == 2
    (note,) = tcb("info", walk).notes
    assert all(part in note for part in said)
    assert refused(tcb("restore", walk, "--in-place"), *said, status=FAULTS)
    tcb("remove", walk, "--in-place")
    load(walk)
    bpy.data.objects["Head"].animation_data.action.pop("tcb_animation", None)
    save(walk)
    (note,) = tcb("bake", walk, "--in-place").notes
    assert all(part in note for part in said)


def test_a_linked_object_is_left_to_its_own_file(tcb, walk, tmp_path):
    file = linked_from(walk, tmp_path / "shot.blend")
    ran = tcb("bake", file, "--in-place", "--enable")
    assert (ran.status, ran.errors) == (0, [])
    assert ['"Hips": skipped, because it is linked. Process the source file' in note for note in ran.notes] == [True]
    assert state(file, "Prop") == "baked"


def test_a_linked_object_asked_for_by_name_is_refused(tcb, walk, tmp_path):
    file = linked_from(walk, tmp_path / "shot.blend")
    assert refused(tcb("bake", file, "--in-place", "--objects", "Hips"), '"Hips"', "linked")
    (line,) = tcb("info", file, "--json").lines
    blocked = {track["blocked"]["code"] for each in line["animated"] if each["linked"] for track in each["tracks"]}
    assert blocked == {"LINKED"}


@pytest.mark.parametrize("options", [(), ("--objects", "Hips")])
def test_an_override_of_a_linked_object_is_baked(tcb, walk, tmp_path, options):
    linked_from(walk, tmp_path / "shot.blend")
    override = bpy.data.objects["Hips"].override_create()
    bpy.context.scene.collection.objects.link(override)
    file = save(tmp_path / "shot.blend")
    ran = tcb("bake", file, "--in-place", *options)
    note = f'{file}: note: "Hips": the linked action "HipsAction" is unchanged. A local copy is now used'
    assert (ran.status, ran.errors, ran.notes) == (0, [], [f"tcb: {note}"])
    load(file)
    baked = next(item for item in bpy.data.objects if item.name == "Hips" and item.library is None)
    assert len(curve(baked, "location").keyframe_points) == 40


def test_a_missing_library_is_a_fault_and_info_lists_it(tcb, walk, tmp_path):
    file = linked_from(walk, tmp_path / "shot.blend")
    walk.unlink()
    before = file.read_bytes()
    strict = tcb("bake", file, "--in-place", "--enable", "--strict", "--json")
    assert (strict.status, strict.lines[0]["status"]) == (1, "failed")
    assert [error["code"] for error in strict.lines[0]["errors"]] == ["LIBRARY_MISSING"]
    assert file.read_bytes() == before
    ran = tcb("bake", file, "--in-place", "--enable", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (FAULTS, "faults")
    assert state(file, "Prop") == "baked"
    known = tcb("info", file, "--json")
    assert (known.status, known.lines[0]["missing_libraries"]) == (0, ["//walk.blend"])
    for verb in (["check"], ["rotations"], ["rotations", "--repair", "--in-place"]):
        read = tcb(*verb, file, "--json")
        assert (read.status, read.lines[0]["status"]) == (FAULTS, "faults")
    assert "missing library //walk.blend" in tcb("info", file).out


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_damaged_library_has_a_code_of_its_own(tcb, walk, tmp_path, is_cut):
    file, library = linked_from(walk, tmp_path / "shot.blend"), walk.read_bytes()
    walk.write_bytes(library[:-3000] if is_cut else b"not a .blend file")
    ran = tcb("bake", file, "--in-place", "--enable", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (FAULTS, "faults")
    assert [error["code"] for error in ran.lines[0]["errors"]] == ["LIBRARY_NOT_READ"]
    assert tcb("check", file).status == FAULTS
    walk.write_bytes(library)
    assert state(file, "Prop") == "baked"


def test_a_library_is_not_replaced_by_what_links_from_it(tcb, walk, tmp_path):
    file = linked_from(walk, tmp_path / "shot.blend")
    before = walk.read_bytes()
    assert refused(tcb("bake", file, "--output", walk), "library")
    assert walk.read_bytes() == before


def test_an_error_of_the_add_ons_own_fails_one_file_only(tcb, cli, walk, tmp_path, monkeypatch):
    load(walk)
    save(tmp_path / "run.blend")
    choose = cli.verbs.edit.choose

    def broken(job, outcome):
        if outcome.file == walk:
            raise RuntimeError("out of luck")
        return choose(job, outcome)

    monkeypatch.setattr(cli.verbs.edit, "choose", broken)
    ran = tcb("bake", walk, tmp_path / "run.blend", "--output", tmp_path / "baked")
    assert refused(ran, str(walk), "out of luck")
    assert names_in(tmp_path / "baked") == ["run.blend"]


def test_strict_writes_nothing_where_a_look_changes_visibly(tcb, cli, tmp_path):
    lines = thing("Lines", "location")
    for fcurve in fcurves(lines):
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"
    file = save(tmp_path / "lines.blend")
    ran = tcb("bake", file, "--enable", "--strict", "--output", tmp_path / "baked.blend", "--json")
    assert refused(ran, '"Lines", Location', "all keys were linear")
    assert ran.lines[0]["looks_changed"] == 1
    assert ran.lines[0]["value_change"] > 0.1
    assert not (tmp_path / "baked.blend").exists()
    ran = tcb("bake", file, "--enable", "--output", tmp_path / "baked.blend", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (FAULTS, "faults")


def strict_and_wider(tcb, file: Path, tight: str, wide: str, *more: str) -> tuple[Any, Any]:
    """Return the results of strict runs with two limits of visible changes."""
    ran = [
        tcb(
            "bake", file, *more, "--strict", "--max-change", limits, "--output", file.parent / f"{name}.blend", "--json"
        )
        for name, limits in (("tight", tight), ("wide", wide))
    ]
    assert names_in(file.parent) == sorted([file.name, "wide.blend"])
    return ran[0], ran[1]


LIMITS = pytest.mark.parametrize(
    ("path", "tight", "wide"),
    [("location", "180,0.01", "0.001,100"), ("rotation_quaternion", "0.001,100", "180,0.01")],
)
"""Only the limit for the kind of track counts: an angle for rotations, a percentage for values."""


@LIMITS
def test_strict_writes_nothing_where_a_look_changes_by_more_than_is_allowed(tcb, tmp_path, path, tight, wide):
    for fcurve in fcurves(thing("Bent", path)):
        point = fcurve.keyframe_points[1]
        point.handle_left_type = point.handle_right_type = "FREE"
        point.handle_left, point.handle_right = point.co - Vector((1, 2)), point.co + Vector((2, 1))
    file = save(tmp_path / "bent.blend")
    strict, wider = strict_and_wider(tcb, file, tight, wide, "--enable")
    assert refused(strict, '"Bent"', "the motion changes by up to")
    assert strict.lines[0]["errors"][0]["code"] == "LOOK_CHANGED"
    assert (wider.status, wider.lines[0]["status"], wider.lines[0]["looks_changed"]) == (0, "done", 0)


@LIMITS
def test_strict_writes_nothing_where_handles_are_off_by_more_than_is_allowed(
    tcb, tcb_animation, tmp_path, path, tight, wide
):
    eased = thing("Eased", path)
    tcb_animation.animation.enable(eased)
    tcb_animation.animation.key_set(eased, path, 10, ease_to=1.0, ease_from=0.5)
    file = save(tmp_path / "eased.blend")
    strict, wider = strict_and_wider(tcb, file, tight, wide, "--output-mode", "HANDLES")
    assert refused(strict, '"Eased"', "handle")
    assert strict.lines[0]["errors"][0]["code"] == "HANDLES_APPROXIMATE"
    assert (wider.status, wider.lines[0]["status"]) == (0, "done")
    assert wider.lines[0]["handles"][0]["approximate"]
