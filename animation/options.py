# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of Bake, Enable and other edits, declared once for functions, operators, panels and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from bpy.app.translations import contexts

from ..interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ..interp.splines import METHODS, tcb
from .records import record
from .text import n_

Kind = Literal["FLAG", "COUNT", "NUMBER", "FRAMES", "DISTANCE", "ANGLE", "CHOICE"]
Choices = Mapping[str, tuple[str, str]]


@record()
class Option:
    """An option with its untranslated name and tooltip, its kind, default and field limits."""

    name: str
    description: str
    default: Any
    """The default of the function's argument. None corresponds to 0 in Blender's fields and in the command."""
    kind: Kind
    choices: Choices = field(default_factory=dict)
    """Names and descriptions of the values of a choice."""
    low: float | None = None
    high: float | None = None
    soft_low: float | None = None
    """The lowest value that dragging the field can reach. Users can type values up to the hard limits."""
    soft_high: float | None = None
    precision: int | None = None
    context: str = contexts.default
    """Translation context of the name. Some words have other meanings in Blender's other editors."""

    def argument(self, value: Any) -> Any:
        """Convert the value of a field to the function's argument."""
        return value or None if self.default is None else value


def flag(name: str, description: str, default: bool = False) -> Option:
    """Declare an option that is either on or off."""
    return Option(name, description, default, "FLAG")


def choice(name: str, description: str, default: str, choices: Choices, context: str = contexts.default) -> Option:
    """Declare an option with one of several values."""
    return Option(name, description, default, "CHOICE", choices, context=context)


SAMPLE_LIMIT = 10_000_000
"""The default maximum number of samples per bake, about 700 MB of keys. Larger bakes fail unless the limit is
raised."""


def sample_limit(limit: int, description: str) -> Option:
    """Declare a limit on the number of samples."""
    return Option(n_("Sample Limit"), description, limit, "COUNT", low=1)


def _rotation_tolerance(description: str) -> Option:
    return Option(
        n_("Rotation Tolerance"), description, ROTATION_TOLERANCE, "ANGLE", low=1e-6, soft_high=0.1, precision=5
    )


BAKE = {
    "output": choice(
        n_("Output"),
        n_("Representation of the baked motion"),
        "SAMPLES",
        {
            "SAMPLES": (n_("Samples"), n_("Linear keys at regular intervals, exact at each key, as in 3D Studio")),
            "CURVES": (n_("Curves"), n_("Fewest Bezier keys within a tolerance, also accurate between frames")),
            "HANDLES": (n_("Handles"), n_("Your own keys only, with handles that approximate the motion")),
        },
    ),
    "step": Option(n_("Step"), n_("Frames between samples"), 1.0, "FRAMES", soft_low=0.05, soft_high=10.0),
    "value_tolerance": Option(
        n_("Value Tolerance"),
        n_("Maximum error in the property's units. 0 means 1/10,000 of the keys' range"),
        None,
        "NUMBER",
        low=0.0,
        soft_high=0.1,
        precision=5,
    ),
    "rotation_tolerance": _rotation_tolerance(n_("Maximum error in rotation")),
    "sample_limit": sample_limit(SAMPLE_LIMIT, n_("Maximum number of samples to write")),
}

ENABLE = {
    "keep_look": flag(
        n_("Preserve Motion"), n_("Fit parameters to the current motion. Off: set all parameters to 0"), default=True
    ),
}

FREE = {
    "discard_edits": flag(
        n_("Discard Edits"), n_("Also free tracks that were edited outside TCB, discarding the edits")
    ),
}

FIX_ROTATIONS = {
    "turns": choice(
        n_("Turns"),
        n_("Turns of more than 180 degrees between two keys"),
        "KEEP",
        {
            "KEEP": (n_("Keep"), n_("Keep turns, and repair jumps within one frame")),
            "SHORTEST": (n_("Shortest"), n_("Take the shortest path")),
        },
    ),
}

RESTORE_CURVES = {
    "exact": flag(n_("Exact"), n_("Add keys where the error of the handles exceeds the tolerances")),
    "value_tolerance": Option(
        n_("Value Tolerance"),
        n_("Maximum deviation in location and scale, as a fraction of the range of values"),
        VALUE_TOLERANCE,
        "NUMBER",
        low=1e-7,
        soft_high=0.1,
        precision=6,
    ),
    "rotation_tolerance": _rotation_tolerance(n_("Maximum deviation in rotation")),
    "use_tcb": flag(n_("Enable TCB"), n_("Enable TCB on tracks if parameters can reproduce the motion")),
}

REDUCE = {
    "method": choice(
        n_("Method"),
        n_("Interpolation method of the new keys"),
        "HERMITE",
        {
            "TCB": (n_("TCB"), n_("Keys with tension and bias, editable with the sliders")),
            "HERMITE": (n_("Hermite"), n_("Keys with velocities. Fewest keys, but no sliders")),
        },
    ),
    "error": Option(
        n_("Max Error"),
        n_("Maximum error at bone heads and tails, or in location and other values"),
        0.005,  # half a centimeter in meters
        "DISTANCE",
        low=1e-6,
        soft_high=1.0,
        precision=4,
    ),
    "angle": Option(
        n_("Max Angle"),
        n_("Maximum error in object rotation"),
        math.radians(0.5),
        "ANGLE",
        low=1e-6,
        soft_high=1.0,
    ),
    "key_count": Option(
        n_("Keys", msgctxt=contexts.id_action),
        n_("Maximum number of keys per object or armature. 0 means unlimited"),
        None,
        "COUNT",
        low=0,
        soft_high=10000,
        context=contexts.id_action,
    ),
    "still": Option(
        n_("Error at Rest"),
        n_("Maximum error for points at rest, such as planted feet. 0 uses Max Error"),
        None,
        "DISTANCE",
        low=0.0,
        soft_high=1.0,
        precision=4,
    ),
    "period": Option(
        n_("Smoothing"),
        n_("Longest period, in frames, of oscillations to filter out before reducing. 0 disables the filter"),
        None,
        "FRAMES",
        low=0.0,
        soft_high=30.0,
        precision=1,
    ),
    "together": choice(
        n_("Group Keys By"),
        n_("Channels to key at the same frames"),
        "BONE",
        {
            "TRACK": (n_("Each Track"), n_("Key location, rotation and scale separately")),
            "BONE": (
                n_("Each Bone"),
                n_("Key location, rotation and scale of each bone or object together, except restored keys"),
            ),
            "COLLECTION": (
                n_("Bone Collections"),
                n_("Key all bones in a collection, such as a hand, together"),
            ),
            "POSE": (n_("Whole Poses"), n_("Key all bones of an armature, or all tracks of an object, together")),
        },
    ),
    "sample_limit": sample_limit(SAMPLE_LIMIT, n_("Maximum number of samples (frames times components)")),
}

RETIME = {
    "shape": choice(
        n_("Shape"),
        n_("Initial shape of the curve"),
        "AS_IT_IS",
        {
            "AS_IT_IS": (
                n_("Unchanged"),
                n_("Straight line that has no effect on the motion. Shape it in the Graph Editor"),
            ),
            "SCALE": (n_("Scale Duration"), n_("Stretch or shorten the motion, starting at the first key")),
            "REVERSE": (n_("Reverse"), n_("Play from the last key to the first")),
            "HOLD": (n_("Hold"), n_("Hold the current frame, and delay all later frames")),
            "LOOP": (n_("Loop"), n_("Repeat from the first key to the last")),
            "PING_PONG": (n_("Ping-Pong"), n_("Play back and forth between the first and last keys")),
            "FRACTION": (n_("Fraction from 0 to 1"), n_("Values from 0 to 1, where 0 is the first key and 1 the last")),
            "CONSTANT_SPEED": (
                n_("Constant Speed"),
                n_("Constant speed along the path, from the first key to the last"),
            ),
            "CONSTANT_SPEED_KEYS": (
                n_("Constant Speed Between Keys"),
                n_("Constant speed between adjacent keys, which keep their frames"),
            ),
        },
    ),
    "scale": Option(
        n_("Scale"), n_("Factor by which to scale the duration"), 2.0, "NUMBER", low=0.001, soft_low=0.1, soft_high=10.0
    ),
    "length": Option(n_("Length"), n_("Number of frames to hold"), 10.0, "FRAMES", low=0.01, soft_high=100.0),
}

IMPORT_TABLE = {
    "frame_start": Option(n_("Start Frame"), n_("Scene frame that corresponds to time 0 in the table"), 0.0, "FRAMES"),
    "use_tcb": flag(n_("Enable TCB"), n_("Enable TCB on the imported tracks"), default=True),
    "replace": flag(n_("Replace Keys"), n_("Delete existing keys of the properties in the table")),
}

VELOCITIES = {"remove": flag(n_("Remove"), n_("Remove velocities that were written earlier"))}

TRACK = {
    "cycle": choice(
        n_("Cycle"),
        n_("Motion before the first key and after the last key"),
        "SINGLE",
        {
            "SINGLE": (n_("Single"), n_("Play once, and hold the first and last values")),
            "REPEAT": (n_("Repeat"), n_("Repeat from the start throughout the baked frames")),
            "LOOP": (n_("Loop"), n_("Repeat smoothly. The first and last keys must have the same pose")),
        },
    ),
    "ends": choice(
        n_("End Segments"),
        n_("First and last segments of a rotation"),
        "3DS",
        {
            "3DS": (n_("3D Studio"), n_("Treat the first and last segments as in 3D Studio 4")),
            "TANGENT": (
                n_("Same as Location"),
                n_("Treat the first and last segments as in location tracks"),
            ),
        },
    ),
    "construction": choice(
        n_("Algorithm"),
        n_("Formulas for rotations between keys"),
        "DE_CASTELJAU",
        {
            "DE_CASTELJAU": (n_("3D Studio 4"), n_("Formulas of 3D Studio 4 (de Casteljau)")),
            "SQUAD": (n_("3ds Max"), n_("Formulas of 3D Studio R3 and 3ds Max (squad)")),
        },
    ),
    "path": choice(
        n_("Turns"),
        n_("Amount of rotation between keys"),
        "SHORTEST",
        {
            "SHORTEST": (n_("Shortest"), n_("Take the shortest path")),
            "AS_KEYED": (n_("As Keyed"), n_("Keep turns as keyed, including full turns (3ds Max: windup)")),
            "ONE_AXIS": (n_("One Axis"), n_("Turn about one axis from key to key, as in 3D Studio files")),
        },
    ),
    "method": choice(
        n_("Method"),
        n_("Interpolation between keys"),
        tcb.METHOD.name,
        {name: (method.label, method.description) for name, method in METHODS.items()},
    ),
    "angles": choice(
        n_("Angles"),
        n_("Interpolation of each angle"),
        tcb.METHOD.name,
        {name: (method.label, method.description) for name, method in METHODS.items() if method.values is not None},
    ),
}
"""The options of a track."""
