# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for several datablocks, the names in `animation`, and exceptions raised by `progress`."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import bpy
import pytest

from tests.animation.curves import KEYS, action_bits, fcurves, key, keyed, new_object

MANIFEST = Path(__file__).resolve().parent.parent.parent / "blender_manifest.toml"
VERBS = ("apply", "choose", "free", "key_set", "key_whole", "remove", "restore", "write_velocities")
ARGUMENTS = {"choose": ("location",), "key_set": ("location", 10.0)}


def keyed_ones() -> list[bpy.types.Object]:
    return [keyed("One"), keyed("Two")]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_on_many_does_what_it_does_on_each(animation, verb: str) -> None:
    more = {"choose": {"cycle": "LOOP"}, "key_set": {"tension": 0.5}}.get(verb, {})
    found = []
    for names in (("One", "Two"), ("Three", "Four")):
        items = [keyed(name) for name in names]
        animation.bake_many(items, keep_look=False)
        if names[0] == "One":
            report = getattr(animation, f"{verb}_many")(iter(items), *ARGUMENTS.get(verb, ()), **more)
            assert report.errors == []
        else:
            for item in items:
                getattr(animation, verb)(item, *ARGUMENTS.get(verb, ()), **more)
        found.append([len(each["co"]) for item in items for each in action_bits(item.animation_data.action)])
    assert found[0] == found[1]


def test_what_refuses_does_not_keep_the_others_and_is_in_the_errors(animation) -> None:
    one, bare = keyed("One"), new_object("Bare")
    animation.bake(one, keep_look=False)
    report = animation.remove_many([bare, one])
    assert (report.tracks, [error.object for error in report.errors]) == (1, ["Bare"])


@pytest.mark.parametrize(("verb", "choices"), [("enable_many", {}), ("bake_many", {"enable": True}), ("bake_many", {})])
def test_a_locked_track_is_an_error_where_its_enabling_is_requested(animation, verb, choices) -> None:
    item = keyed()
    key(item, "scale", KEYS)
    for fcurve in fcurves(item):
        fcurve.lock = fcurve.data_path == "scale"
    report = getattr(animation, verb)([item], **choices)
    findings = report.notes if (verb, choices) == ("bake_many", {}) else report.errors
    assert [(finding.code, finding.track) for finding in findings if finding.code == "LOCKED"] == [("LOCKED", "scale")]
    assert report.tracks == 1
    assert len(report.errors) == (0 if findings is report.notes else 1)


def test_a_mapping_gives_each_datablock_its_prefixes(animation) -> None:
    one, two = keyed_ones()
    for item in (one, two):
        key(item, "scale", KEYS)
    assert animation.enable_many({one: ["location"], two: None}, keep_look=False).tracks == 3
    assert animation.bake_many({one: ["location"], two: ["scale"]}).tracks == 2
    assert animation.remove_many([one, two], ["location"]).tracks == 2


def test_a_verb_on_many_takes_what_the_verb_takes(animation) -> None:
    verbs = [name.removesuffix("_many") for name in dir(animation) if name.endswith("_many")]
    for verb in verbs:
        one, many = (dict(inspect.signature(getattr(animation, name)).parameters) for name in (verb, f"{verb}_many"))
        assert next(iter(many)) == "datablocks"
        # `bake_many` takes the options of a bake together.
        shared = many.keys() & one.keys() if verb == "bake" else [*many][1:]
        for name in shared:
            assert many[name].default == one[name].default, (verb, name)
        assert verb == "bake" or [*many][1:] == [*one][1:], verb


def test_every_function_with_a_datablock_and_a_report_has_one_for_many(animation) -> None:
    for name in dir(animation):
        signature = inspect.signature(function) if inspect.isfunction(function := getattr(animation, name)) else None
        if signature is None or signature.return_annotation != "Report":
            continue
        first = next(iter(signature.parameters))
        # A table and arrays contain the keys of one object or track.
        if first in ("datablock", "item") and name not in ("import_table", "set_keys"):
            assert f"{name}_many" in dir(animation)


def test_the_names_are_those_that_are_documented(animation) -> None:
    assert dir(animation) == sorted(animation.__all__)
    assert animation.__version__ == tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"]


class StopError(Exception):
    """The exception that `progress` raises."""


@pytest.mark.parametrize("stop_after", [1, 2])
def test_a_bake_whose_progress_raises_is_done(animation, stop_after: int) -> None:
    items = [keyed(name) for name in ("One", "Two", "Three")]
    twin = keyed("Twin")
    animation.bake(twin, keep_look=False)
    calls = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))
        if len(calls) == stop_after:
            raise StopError

    with pytest.raises(StopError):
        animation.bake_many(items, progress=progress, keep_look=False)
    wanted = [each["co"] for each in action_bits(twin.animation_data.action)]
    assert [[each["co"] for each in action_bits(item.animation_data.action)] for item in items] == [wanted] * 3


def test_a_bake_of_plain_tracks_whose_progress_raises_is_done(animation) -> None:
    item, faulty = keyed_ones()
    for fcurve in fcurves(faulty):
        # Two keys are at the same frame, so the track can't be baked.
        fcurve.keyframe_points[1].co.x = fcurve.keyframe_points[0].co.x

    def progress(_done: int, _total: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        animation.bake_many([item, faulty], progress=progress)
    assert animation.find_track(item, "location").is_baked
    assert not animation.find_track(faulty, "location").enabled


def test_an_imported_table_whose_progress_raises_is_done(animation) -> None:
    source, item, twin = (new_object(name) for name in ("Source", "Item", "Twin"))
    for path in ("location", "scale"):
        key(source, path, KEYS)
    table, _ = animation.export_table(source)
    animation.import_table(twin, table, animation.TableKeys())

    def progress(done: int, _total: int) -> None:
        raise StopError(done)

    with pytest.raises(StopError, match="1"):
        animation.import_table(item, table, animation.TableKeys(), progress=progress)
    found, wanted = ([each["co"] for each in action_bits(each.animation_data.action)] for each in (item, twin))
    assert found == wanted
    assert animation.find_track(item, "scale").enabled


@pytest.mark.parametrize("verb", ["reduce", "relax"])
def test_work_in_steps_whose_progress_raises_leaves_all_as_it_was(animation, verb: str) -> None:
    item = new_object("Foot")
    key(item, "location", [(frame, (frame, 0, (frame - 20) ** 2 / 99 - 1)) for frame in range(40)])

    def progress(_done: int, _total: int) -> None:
        raise StopError

    if verb == "relax":
        animation.bake(item, keep_look=False)
    before = action_bits(item.animation_data.action)
    keys = {item: {"location": [*range(40)]}}
    floor, options = animation.StaysAbove(), {"frame_range": (1, 39), "progress": progress}
    work = {
        "reduce": lambda: animation.reduce_many([item], **options),
        "relax": lambda: animation.relax(item, floor, keys, **options),
    }
    with pytest.raises(StopError):
        work[verb]()
    assert action_bits(item.animation_data.action) == before
    assert len(bpy.data.actions) == 1
