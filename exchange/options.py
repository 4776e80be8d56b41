# SPDX-License-Identifier: GPL-3.0-or-later
"""Declare the options of 3D Studio import and export once for the operators and the command."""

from __future__ import annotations

from bpy.app.translations import contexts

from ..animation.options import Option, choice, flag, sample_limit
from ..animation.text import n_


def _scale(description: str) -> Option:
    return Option(n_("Scale"), description, 1.0, "NUMBER", low=1e-6, high=1e6)


def _start(description: str) -> Option:
    return Option(n_("Start Frame"), description, 0.0, "FRAMES")


_TIMING = {
    "timing": choice(
        n_("Timing"),
        n_("Conversion between file frames and scene frames"),
        "FRAMES",
        {
            "FRAMES": (n_("Keep Frames"), n_("Keep frame numbers")),
            "TIME": (n_("Keep Time"), n_("Move keys to preserve their times in seconds")),
        },
    ),
    "frame_rate": Option(
        n_("File Rate"),
        n_("Frame rate of the motion, which the file does not store"),
        30.0,
        "NUMBER",
        low=1.0,
        high=1000.0,
    ),
}

IMPORT = {
    "global_scale": _scale(n_("Blender units per file unit")),
    "frame_start": _start(n_("Scene frame that corresponds to frame 0 of the file")),
    **_TIMING,
    "rotations": choice(
        n_("Rotations", msgctxt=contexts.id_action),
        n_("Rotation mode of imported objects, unless their turns require another mode"),
        "QUATERNION",
        {
            "QUATERNION": (n_("Quaternion"), n_("Rotate objects with quaternions")),
            "EULER": (n_("XYZ Euler"), n_("Rotate objects by Euler angles")),
        },
        context=contexts.id_action,
    ),
    "use_shorter_turns": flag(
        n_("Shortest Turns"), n_("Take the shortest path. Use if the file stores -3 degrees as 357")
    ),
    "between": choice(
        n_("Algorithm"),
        n_("Formulas for rotations between keys"),
        "BY_FILE",
        {
            "BY_FILE": (n_("From File"), n_("Algorithm of the program that wrote the file")),
            "DE_CASTELJAU": (n_("3D Studio 4"), n_("Formulas of 3D Studio 4 (de Casteljau)")),
            "SQUAD": (n_("3ds Max"), n_("Formulas of 3D Studio R3 and 3ds Max (squad)")),
        },
    ),
    "output": choice(
        n_("Bake"),
        n_("Playback method for the imported motion"),
        "HANDLES",
        {
            "HANDLES": (
                n_("Handles"),
                n_("Play the motion with handles. Rotations with errors above 1 degree are baked as samples"),
            ),
            "SAMPLES": (n_("Samples"), n_("Bake one linear key per frame")),
            "CURVES": (n_("Curves"), n_("Bake the fewest Bezier keys within a tolerance")),
            "NONE": (n_("None"), n_("Import only keys and parameters, to bake later")),
        },
    ),
    "sample_limit": sample_limit(5_000_000, n_("Maximum number of samples. Above this limit, handles play the motion")),
}

EXPORT = {
    "global_scale": _scale(n_("File units per Blender unit")),
    "frame_start": _start(n_("Scene frame that becomes frame 0 of the file")),
    **_TIMING,
    "sample_limit": sample_limit(1_000_000, n_("Maximum number of samples to write (objects times frames)")),
}
