# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments that a function does not accept raise TypeError or ValueError, which names the argument."""

from __future__ import annotations

import datetime
import inspect
import math
from fractions import Fraction

import bpy
import numpy as np
import pytest

from tests.animation.curves import PARAMETERS, key, new_object, snapshot

TOO_LARGE = (math.nan, math.inf, 1e308, -1e308, 10**400)
NO_NUMBERS = ("1", [1.0], None, True, 1j, datetime.date(2020, 1, 1), np.datetime64("2020-01-01"), object())
NO_TEXTS = (5, None, b"location", ["location"])
NO_LISTS = ("location", 5, [5], [None])
NO_FLAGS = ("yes", 1, None)
NO_PAIRS = (5, (1,), (1, 2, 3), "12", ("1", "2"), (1, None), (1, math.nan), (1, 1e308), {1: 2})
NO_CHOICES = ("X", 5, None, ["SAMPLES"])

IDS = ("x", 5, None, ["x"], {}, "removed", "several")
WRONG = {
    **dict.fromkeys(
        ["keep_look", "enable", "discard_edits", "in_world", "whole", "use_tcb", "replace", "remove", "exact"], NO_FLAGS
    ),
    **dict.fromkeys(["track", "name", "bone", "by"], NO_TEXTS),
    **dict.fromkeys(["**parameters", "frame", "frame_start", "height"], (*NO_NUMBERS, *TOO_LARGE)),
    **dict.fromkeys(
        ["error", "angle", "step", "scale", "length", "rate", "tolerance"], (*NO_NUMBERS, *TOO_LARGE, 0, -1)
    ),
    **dict.fromkeys(["extend", "frame_range"], (*NO_PAIRS, (2, 1))),
    **dict.fromkeys(["low", "high"], (5, None, (1, 2), (1, 2, "3"), (1, 2, math.nan))),
    **dict.fromkeys(["tangents_in", "tangents_out"], ("x", [1.0], [[0, 0, 0]], [[0, 0, 0], [0, 0, math.inf]])),
    **dict.fromkeys(["enable.path", "enable_many.path", "bake_many.path"], ("X", 5, ["SHORTEST"])),
    "datablock": IDS,
    "item": (*IDS, "camera"),
    "target": (*IDS, "camera"),
    "plane": ("x", 5, "camera", "removed"),
    "of": ("x", 5, ["x"], "removed"),
    "scene": ("x", 5, "camera"),
    "datablocks": ("x", 5, None, ["x"], [None], "object", ["removed"], {"x": None}),
    "bake_many.datablocks": ("x", 5, None, ["x"], "object", {"x": None}, "of a str", "of a number"),
    "bake_many.options": ("x", {}, {"step": 1.0}),
    "selected": ("x", 5, None, ["x"], "object", "several", {"x": None}, "of a str", "of a number"),
    "plain": ("x", 5, None, ["x"], "object", "several", {"x": None}, "of a str", "of a number"),
    "prefixes": NO_LISTS,
    "bones": (*NO_LISTS, None),
    "shape": ("X", *NO_TEXTS),
    "**choices": ("X", *NO_TEXTS),
    "errors": (5, "1", None, ["1"], [None], [0.0], [-1.0], [math.nan], [True]),
    "key_count": (0, -5, 2.5, "x", [], True, math.nan, math.inf),
    "still": (0, -1.0, "1", [], True, math.nan, *TOO_LARGE),
    "period": (2, 0, -1.0, "1", [], True, math.nan, *TOO_LARGE),
    "together": ("X", 5, None, ["BONE"]),
    "turns": ("X", 5, None, ["KEEP"]),
    "method": ("X", "BEZIER", 5, None, ["TCB"]),
    "retime.frame": ("1", [1.0], True, *TOO_LARGE),
    "velocity": ("abc", ["1"], [None], True, object(), [math.nan], *TOO_LARGE, np.ma.masked_all(3)),
    "rotation_tolerance": (0, -1.0, [], *NO_NUMBERS, *TOO_LARGE),
    "value_tolerance": (0, -1.0, [], "1", True, *TOO_LARGE),
    "sample_limit": (0, -5, 2.5, "x", [], None, True, math.nan, math.inf),
    "max_change": (*NO_PAIRS, (-1, 1)),
    "defaults": (
        "tension",
        5,
        ["tension"],
        {"slack": 1.0},
        {"tension": 5.0},
        {"ease_to": -0.5},
        {5: 1.0},
        {"tension": "1"},
        {"tension": math.nan},
    ),
    "interpolation": ("X", 5, b"LINEAR", ["LINEAR"]),
    "output": NO_CHOICES,
    "progress": (5, "print", [print]),
    "options": ("x", None, {}, {"step": 1.0}),
    "how": ("x", 5, {}, {"step": 1.0}),
    "table": ("x", None, b"frame,x", [[1, 2]]),
    "condition": ("x", None, 5, []),
    "keys": (20, "20", None, [None], [20], ["20"]),
    "point": (5, "123", (1, 2), (1, 2, 3, 4), (1, 2, "3"), (1, 2, math.nan), None),
    "frames": ("x", None, [], [[1, 20]], [1, math.nan], [20, 1], [1, 1e308]),
    "values": ("x", None, [1.0], [[1, 2], [3, 4]], [[0, 0, 0], [0, 0, math.nan]], [[0, 0, 0], [0, 0, 1e300]]),
    **{f"set_keys.{name}": ("x", None, [0.0] * 3, math.nan) for name in PARAMETERS},
    "set_keys.interpolation": ("X", "BOUNCE", 5, None, ["LINEAR"] * 3, [5, 5]),
    "dialect": NO_CHOICES,
    "path": (5, None, b"walk.fbx", ["walk.fbx"]),
    "objects": ("x", 5, None, ["x"], [None], "object", ["removed"]),
}
"""Invalid values by argument name. Names include the function if values differ, and the asterisks of `**`."""
STARS: dict[object, str] = {inspect.Parameter.VAR_KEYWORD: "**"}
NO_FUNCTIONS = {
    "AnimationError",
    "Finding",
    "Report",
    "Checks",
    "Gap",
    "KeyArrays",
    "KeyCount",
    "Reduction",
    "Relaxation",
    "RotationFault",
    "Violation",
    "__version__",
}
"""Names of `animation` that are not functions: the version, exceptions, and classes of results."""


def arguments_of(animation, function):
    """Return valid arguments, by name, with which the function does something."""
    item, child = bpy.data.objects["Thing"], bpy.data.objects["Child"]
    table = animation.edit.tables.Table("FRAME", np.array([1.0]), {})
    return {
        "datablock": item,
        "item": child if function == "joint_gap" else item,
        "target": child,
        "datablocks": [item],
        "options": animation.Options(),
        "keep_look": False,
        "track": "location",
        "name": "location",
        "frame": 1.0,
        "frames": [1, 20],
        "values": [[0, 0, 0], [1, 2, 3]],
        "path": "walk.fbx",
        "objects": [item],
        "errors": [0.01],
        "condition": animation.StaysAbove(),
        "keys": {item: {"location": [1, 20]}},
        "table": table,
        "how": animation.TableKeys(),
    }


def parameters_of(animation):
    """Return each parameter of each public function, with invalid values for it."""
    for name in animation.__all__:
        if name not in NO_FUNCTIONS:
            for parameter in inspect.signature(getattr(animation, name)).parameters.values():
                stars = STARS.get(parameter.kind, "")
                yield name, stars + parameter.name, parameter


def call(animation, name, changed, value):
    """Call the function with one changed argument."""
    function, known = getattr(animation, name), arguments_of(animation, name)
    named = {}
    for parameter in inspect.signature(function).parameters.values():
        stars = STARS.get(parameter.kind, "")
        spelt = stars + parameter.name
        if stars == "**":
            named |= {"cycle" if name in ("choose", "choose_many") else "tension": value} if spelt == changed else {}
        elif spelt == changed:
            named[spelt] = value
        elif parameter.default is parameter.empty:
            named[spelt] = known[spelt]
    result = function(**named)
    return list(result) if inspect.isgenerator(result) else result


def made(value):
    """Return the object in the file that a name stands for."""
    item = bpy.data.objects["Thing"]
    gone = bpy.data.objects.new("Gone", None)
    bpy.data.objects.remove(gone)
    if isinstance(value, list):
        return [gone] if value == ["removed"] else value
    things = {
        "removed": gone,
        "several": [item],
        "object": item,
        "camera": bpy.data.cameras["Camera"],
        "of a str": {item: "location"},
        "of a number": {item: 5},
    }
    return things[value] if isinstance(value, str) and value in things else value


@pytest.fixture
def thing(animation):
    item, child = new_object("Thing"), new_object("Child")
    child.parent = item
    bpy.data.cameras.new("Camera")
    for each in (item, child):
        key(each, "location", [(1, (0, 0, 0)), (10, (1, 2, 3)), (20, (0, 1, 0))])
    animation.enable(item, keep_look=False)
    animation.bake(item)
    return item


def test_every_parameter_of_every_public_function_is_tried(animation):
    missing = [
        f"{name}: {parameter}"
        for name, parameter, _ in parameters_of(animation)
        if parameter not in WRONG and f"{name}.{parameter}" not in WRONG
    ]
    assert missing == []


def test_what_is_no_such_argument_is_named_and_nothing_is_changed(animation, thing):
    """This is a single test, because each call takes less time than a new file."""
    before, faults, tried = snapshot(thing), [], 0
    for name, parameter, _ in parameters_of(animation):
        named = {"**choices": "cycle", "**parameters": "tension"}.get(parameter, parameter.lstrip("*"))
        for value in WRONG.get(f"{name}.{parameter}", WRONG.get(parameter)):
            tried += 1
            try:
                got = call(animation, name, parameter, made(value))
            except (TypeError, ValueError) as error:
                if named not in str(error) or isinstance(error, UnicodeError):
                    faults.append(f"{name}({parameter}={value!r:.40}): {type(error).__name__}: {error}")
            except Exception as error:
                faults.append(f"{name}({parameter}={value!r:.40}): {type(error).__name__}: {error}")
            else:
                faults.append(f"{name}({parameter}={value!r:.40}): accepted: {got!r:.60}")
    assert not faults, "\n".join(faults)
    assert tried > 700
    assert snapshot(thing) == before


def test_the_error_says_what_it_takes_and_what_it_got(animation, thing):
    with pytest.raises(TypeError, match=r"^step must be a number, not '1'$"):
        animation.bake(thing, step="1")
    with pytest.raises(TypeError, match=r"^datablock must be bpy.types.ID, not \[bpy.data.objects\['Thing'\]\]$"):
        animation.bake([thing])
    with pytest.raises(TypeError, match=r"^prefixes must be a list of str, not 'location'$"):
        animation.enable(thing, prefixes="location", keep_look=False)
    with pytest.raises(TypeError, match=r"^extend must be 2 numbers, not 5$"):
        animation.bake(thing, extend=5)
    with pytest.raises(ValueError, match=r"^extend must have 2 numbers, not 1$"):
        animation.bake(thing, extend=(1,))
    with pytest.raises(ValueError, match=r"^step 1e\+308 exceeds the range of float32$"):
        animation.bake(thing, step=1e308)
    for options in ({"value_tolerance": 0.0}, {"rotation_tolerance": math.nan}):
        with pytest.raises(ValueError, match="|".join(options)):
            animation.bake(thing, **options)
    with pytest.raises(ValueError, match=r"^output must be one of SAMPLES, CURVES, HANDLES, not 'LINES'$"):
        animation.bake(thing, output="LINES")
    with pytest.raises(ValueError, match=r"^datablock was removed from the file$"):
        animation.bake(made("removed"))


def test_numbers_of_any_kind_and_iterables_of_any_kind_are_taken(animation, thing):
    report = animation.bake(
        thing,
        step=np.float32(2.0),
        extend=np.array([1, 20]),
        sample_limit=np.int64(1000),
        value_tolerance=Fraction(1, 1000),
        prefixes=(path for path in ["location"]),
        defaults={"tension": np.float64(0.5)},
    )
    assert (report.tracks, report.samples) == (1, 3 * 9)
    assert animation.bake_many((each for each in [thing]), animation.Options(sample_limit=1e6)).tracks == 1
    assert animation.check(thing, frame_range=[1, 2.5]).objects == 1
