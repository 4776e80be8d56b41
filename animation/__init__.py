# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripting functions to enable, edit, bake, free, restore and remove the TCB animation of a datablock.

    from bl_ext.user_default.tcb_animation import animation

    animation.enable(datablock)
    animation.key_set(datablock, "location", 20, tension=1.0)
    animation.bake(datablock, step=1.0)
    animation.free(datablock)
    animation.bake(datablock, output="HANDLES")
    animation.apply(datablock)

Functions that change or check one datablock, `verb(datablock, ...)`, have a counterpart for several,
`verb_many(datablocks, ...)`. The counterpart takes an iterable, or a mapping from each datablock to the path prefixes
of its tracks. The `errors` of the returned report list the datablocks that can't be processed.

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
    # Type checkers treat a name that is imported as itself as public.
    from ..interp import __version__ as __version__  # noqa: I001 (one import per module)
    from .adjust_keys.relax import Relaxation as Relaxation, relax as relax
    from .adjust_keys.relaxed_motion import StaysAbove as StaysAbove, StaysAt as StaysAt, TurnsWithin as TurnsWithin
    from .checks.conditions import Checks as Checks, check as check, check_many as check_many
    from .checks.joints import Gap as Gap, joint_gap as joint_gap
    from .checks.violation import Violation as Violation
    from .datablocks import of_file as of_file, of_object as of_object
    from .edit.bake import bake as bake, bake_many as bake_many
    from .edit.bake_in_world import bake_in_world as bake_in_world, bake_in_world_many as bake_in_world_many
    from .edit.enable import enable as enable, enable_many as enable_many
    from .edit.fix_rotations import RotationFault as RotationFault, find_rotation_faults as find_rotation_faults
    from .edit.fix_rotations import fix_rotations as fix_rotations, fix_rotations_many as fix_rotations_many
    from .edit.free_restore_apply_remove import apply as apply, apply_many as apply_many
    from .edit.free_restore_apply_remove import free as free, free_many as free_many
    from .edit.free_restore_apply_remove import remove as remove, remove_many as remove_many
    from .edit.free_restore_apply_remove import restore as restore, restore_many as restore_many
    from .edit.key_all_rotation_channels import key_whole as key_whole, key_whole_many as key_whole_many
    from .edit.key_arrays import KeyArrays as KeyArrays, get_keys as get_keys, set_keys as set_keys
    from .edit.parameters import key_set as key_set, key_set_many as key_set_many
    from .edit.tables import TableKeys as TableKeys, export_table as export_table, import_table as import_table
    from .edit.timing import remove_retiming as remove_retiming, retime as retime
    from .edit.track_keys import find_track as find_track
    from .edit.track_settings import choose as choose, choose_many as choose_many
    from .edit.velocities import write_velocities as write_velocities, write_velocities_many as write_velocities_many
    from .file_curves.restore_curves import restore_curves as restore_curves
    from .reduction.reduce import KeyCount as KeyCount, keys_by_error as keys_by_error
    from .reduction.reduce import reduce as reduce, reduce_many as reduce_many
    from .reduction.report import Reduction as Reduction
    from .report import AnimationError as AnimationError, Finding as Finding, Report as Report
    from .store.table.track_records import Options as Options

del bake, _package

_MODULES = {
    "..interp": ("__version__",),
    ".adjust_keys.relax": ("Relaxation", "relax"),
    ".adjust_keys.relaxed_motion": ("StaysAbove", "StaysAt", "TurnsWithin"),
    ".checks.conditions": ("Checks", "check", "check_many"),
    ".checks.joints": ("Gap", "joint_gap"),
    ".checks.violation": ("Violation",),
    ".datablocks": ("of_file", "of_object"),
    ".edit.bake": ("bake", "bake_many"),
    ".edit.bake_in_world": ("bake_in_world", "bake_in_world_many"),
    ".edit.enable": ("enable", "enable_many"),
    ".edit.fix_rotations": ("RotationFault", "find_rotation_faults", "fix_rotations", "fix_rotations_many"),
    ".edit.free_restore_apply_remove": (
        "apply",
        "apply_many",
        "free",
        "free_many",
        "remove",
        "remove_many",
        "restore",
        "restore_many",
    ),
    ".edit.key_all_rotation_channels": ("key_whole", "key_whole_many"),
    ".edit.key_arrays": ("KeyArrays", "get_keys", "set_keys"),
    ".edit.parameters": ("key_set", "key_set_many"),
    ".edit.tables": ("TableKeys", "export_table", "import_table"),
    ".edit.timing": ("remove_retiming", "retime"),
    ".edit.track_keys": ("find_track",),
    ".edit.track_settings": ("choose", "choose_many"),
    ".edit.velocities": ("write_velocities", "write_velocities_many"),
    ".file_curves.restore_curves": ("restore_curves",),
    ".reduction.reduce": ("KeyCount", "keys_by_error", "reduce", "reduce_many"),
    ".reduction.report": ("Reduction",),
    ".report": ("AnimationError", "Finding", "Report"),
    ".store.table.track_records": ("Options",),
}
"""Names by module, imported on first access. Importing all of them at startup would make the startup a third slower."""
_HOME = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(name)
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
