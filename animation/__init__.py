# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripting functions to enable, edit, bake, free, restore and remove the TCB animation of a datablock.

    from bl_ext.user_default.tcb_animation import animation

    animation.enable(datablock)
    animation.key_set(datablock, "location", 20, tension=1.0)
    animation.bake(datablock, step=1.0)
    animation.free(datablock)
    animation.bake(datablock, output="HANDLES")
    animation.apply(datablock)

Most functions that take one datablock, `verb(datablock, ...)`, have a counterpart for several, `verb_many(datablocks,
...)`. The counterpart takes an iterable, or a mapping from each datablock to the path prefixes of its tracks. The
`errors` of the returned report list the datablocks that can't be processed.

`datablock` is any ID that can be animated: an object, a camera, a material's node tree or a shape key block. The
functions need neither a selection nor a context. If a function raises `AnimationError`, the tracks and datablocks named
in the error are unchanged. An argument of the wrong type raises TypeError, and an invalid value raises ValueError. The
error message names the argument.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# A subpackage has the same name as the function `bake`. Import the subpackage first, so that a later import does not
# replace the function.
from . import bake as _package

if TYPE_CHECKING:
    from ..interp import __version__
    from ..interp.fitting.curves import ROTATION_TOLERANCE
    from .checks.conditions import Checks, Violation, check
    from .checks.joints import Gap, joint_gap
    from .datablocks import of_file, of_object
    from .edit.bake import bake, bake_many
    from .edit.bake_in_world import bake_in_world
    from .edit.enable import enable, enable_many
    from .edit.enable_and_bake import enable_and_bake
    from .edit.fix_rotations import RotationFault, find_rotation_faults, fix_rotations
    from .edit.key_arrays import KeyArrays, get_keys, set_keys
    from .edit.key_whole import key_whole
    from .edit.many import (
        apply_many,
        choose_many,
        fix_rotations_many,
        free_many,
        key_set_many,
        key_whole_many,
        remove_many,
        restore_many,
    )
    from .edit.parameters.key_set import key_set
    from .edit.restore import apply, free, remove, restore
    from .edit.table_export import export_table
    from .edit.table_import import TableKeys, import_table
    from .edit.timing import remove_retiming, retime
    from .edit.track_keys import TrackKeys, track_keys
    from .edit.track_settings import choose, find_track
    from .edit.velocities import Velocities, write_velocities
    from .errors import AnimationError, Finding
    from .file_curves.restore_curves import restore_curves
    from .options import SAMPLE_LIMIT
    from .reduction.reduce import KeyCount, keys_by_error, reduce, reduce_many
    from .reduction.result import Reduction
    from .relaxation.adjust import Relaxation, relax
    from .relaxation.wanted_conditions import StaysAbove, StaysAt, TurnsWithin
    from .report import Report
    from .store.table.stored_bake_options import Options

__all__ = [
    "ROTATION_TOLERANCE",
    "SAMPLE_LIMIT",
    "AnimationError",
    "Checks",
    "Finding",
    "Gap",
    "KeyArrays",
    "KeyCount",
    "Options",
    "Reduction",
    "Relaxation",
    "Report",
    "RotationFault",
    "StaysAbove",
    "StaysAt",
    "TableKeys",
    "TrackKeys",
    "TurnsWithin",
    "Velocities",
    "Violation",
    "__version__",
    "apply",
    "apply_many",
    "bake",
    "bake_in_world",
    "bake_many",
    "check",
    "choose",
    "choose_many",
    "enable",
    "enable_and_bake",
    "enable_many",
    "export_table",
    "find_rotation_faults",
    "find_track",
    "fix_rotations",
    "fix_rotations_many",
    "free",
    "free_many",
    "get_keys",
    "import_table",
    "joint_gap",
    "key_set",
    "key_set_many",
    "key_whole",
    "key_whole_many",
    "keys_by_error",
    "of_file",
    "of_object",
    "reduce",
    "reduce_many",
    "relax",
    "remove",
    "remove_many",
    "remove_retiming",
    "restore",
    "restore_curves",
    "restore_many",
    "retime",
    "set_keys",
    "track_keys",
    "write_velocities",
]

del bake, _package

_MODULES = {
    "..interp": ("__version__",),
    "..interp.fitting.curves": ("ROTATION_TOLERANCE",),
    ".checks.conditions": ("Checks", "Violation", "check"),
    ".checks.joints": ("Gap", "joint_gap"),
    ".datablocks": ("of_file", "of_object"),
    ".edit.bake": ("bake", "bake_many"),
    ".edit.bake_in_world": ("bake_in_world",),
    ".edit.enable": ("enable", "enable_many"),
    ".edit.enable_and_bake": ("enable_and_bake",),
    ".edit.fix_rotations": ("RotationFault", "find_rotation_faults", "fix_rotations"),
    ".edit.key_arrays": ("KeyArrays", "get_keys", "set_keys"),
    ".edit.key_whole": ("key_whole",),
    ".edit.many": (
        "apply_many",
        "choose_many",
        "fix_rotations_many",
        "free_many",
        "key_set_many",
        "key_whole_many",
        "remove_many",
        "restore_many",
    ),
    ".edit.parameters.key_set": ("key_set",),
    ".edit.restore": ("apply", "free", "remove", "restore"),
    ".edit.table_export": ("export_table",),
    ".edit.table_import": ("TableKeys", "import_table"),
    ".edit.timing": ("remove_retiming", "retime"),
    ".edit.track_keys": ("TrackKeys", "track_keys"),
    ".edit.track_settings": ("choose", "find_track"),
    ".edit.velocities": ("Velocities", "write_velocities"),
    ".errors": ("AnimationError", "Finding"),
    ".file_curves.restore_curves": ("restore_curves",),
    ".options": ("SAMPLE_LIMIT",),
    ".reduction.reduce": ("KeyCount", "keys_by_error", "reduce", "reduce_many"),
    ".reduction.result": ("Reduction",),
    ".relaxation.adjust": ("Relaxation", "relax"),
    ".relaxation.wanted_conditions": ("StaysAbove", "StaysAt", "TurnsWithin"),
    ".report": ("Report",),
    ".store.table.stored_bake_options": ("Options",),
}
"""Names by module, imported on first access. Importing all of them at startup would make the startup a third slower."""
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(name)
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
