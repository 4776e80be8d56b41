# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of parameters, based on Blender's preset system: files, order, labels and operators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import bpy
from bl_operators.presets import AddPresetBase
from bpy.app.translations import contexts
from bpy.props import StringProperty

from ..animation.edit.parameters import set_parameters
from ..animation.report import Report
from ..animation.store.table.rows import PARAMETERS
from ..animation.text import iface_, n_, rpt_, translated
from ..formats import preset
from ..ui.chosen_keys import chosen_keys, chosen_parameters
from ..ui.operator_results import Status, finish, for_each_edited_track, refuse
from ..ui.scene import defaults_of
from ..ui.sliders.parameter_sliders import is_mixed
from .on_selection import NO_OWN_KEY_SELECTED, OnKeys
from .three_ds_and_tables import path_of, read_file

SUBFOLDER = "tcb_animation/key"
"""Subfolder of Blender's preset folders."""
_DEFAULT = "Smooth"
"""Name of the preset that is listed first."""
_BUILT_IN = {
    n_("Corner", msgctxt=contexts.id_action),
    n_("Ease Both", msgctxt=contexts.id_action),
    n_("Ease In", msgctxt=contexts.id_action),
    n_("Ease Out", msgctxt=contexts.id_action),
    n_("Linear", msgctxt=contexts.id_action),
    n_("Overshoot", msgctxt=contexts.id_action),
    n_("Smooth", msgctxt=contexts.id_action),
    n_("Stop", msgctxt=contexts.id_action),
}
"""Names of the presets that the extension ships with."""


def presets() -> dict[str, Path]:
    """Return the preset files by name, with the default first."""
    folders = map(Path, bpy.utils.preset_paths(SUBFOLDER))
    files = {file.stem: file for folder in folders for file in sorted(folder.glob("*.py"))}
    return {name: files[name] for name in sorted(files, key=lambda name: name != _DEFAULT)}


def label_of(name: str) -> str:
    """Return the displayed name of a preset."""
    label = bpy.path.display_name(name)
    return iface_(label, msgctxt=contexts.id_action) if label in _BUILT_IN else label


def user_presets() -> list[str]:
    """Return the names of the user's presets."""
    user_folder = Path(bpy.utils.user_resource("SCRIPTS")).resolve()
    return [name for name, file in presets().items() if user_folder in file.resolve().parents]


def apply_preset(context: bpy.types.Context, parameters: Mapping[str, float]) -> Report:
    """Apply the parameters of a preset to the chosen keys."""
    defaults = defaults_of(context.scene)
    return for_each_edited_track(
        chosen_keys(context), defaults, lambda keys: set_parameters(keys, parameters, defaults)
    )


class TCB_OT_preset_apply(OnKeys, bpy.types.Operator):
    """Apply a preset to the selected or shown keys"""

    bl_idname = "tcb.preset_apply"
    bl_label = "Apply TCB Preset"

    preset: StringProperty(
        name="Preset",
        description="Name of the preset, such as smooth, linear or stop",
        options={"SKIP_SAVE"},
    )
    filepath: StringProperty(
        name="File",
        description="File path of the preset, instead of its name",
        subtype="FILE_PATH",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if self.preset or self.filepath:
            return self.execute(context)
        bpy.ops.wm.call_menu(name="TCB_MT_presets")
        return {"INTERFACE"}

    def execute(self, context: bpy.types.Context) -> Status:
        path = path_of(self.filepath) if self.filepath else _file_of(self.preset)
        if path is None:
            names = ", ".join(presets())
            return refuse(self, rpt_('no preset "{:s}". Available presets: {:s}', self.preset, names))
        try:
            parameters = preset.read(read_file(path), PARAMETERS)
        except OSError as error:
            return refuse(self, error)
        except preset.PresetError as error:
            return refuse(self, rpt_("{}: {:s}", path, translated(error)))
        report = apply_preset(context, parameters)
        result = rpt_("Applied {:s} to {:s}", label_of(path.stem), report.counts)
        return finish(self, report, result, NO_OWN_KEY_SELECTED)


def _file_of(name: str) -> Path | None:
    normalized = _normalized(name)
    return next((file for preset_name, file in presets().items() if _normalized(preset_name) == normalized), None)


def _normalized(name: str) -> str:
    return name.casefold().replace(" ", "_")


class TCB_OT_preset_add(AddPresetBase, bpy.types.Operator):  # type: ignore[misc]
    """Save parameters of the selected or shown keys as a preset, or remove a preset"""

    bl_idname = "tcb.preset_add"
    bl_label = "Add TCB Preset"

    preset_menu = "TCB_MT_presets"
    preset_subdir = SUBFOLDER
    preset_defines: ClassVar[list[str]] = [preset.KEY_LINE]
    preset_values: ClassVar[list[str]] = [f"key.{name}" for name in PARAMETERS]

    def execute(self, context: Any) -> Status:  # type: ignore[override]
        options: Any = self
        if not (options.remove_name or options.remove_active):
            # The preset stores the values of `key`, which is this group in the line `preset.KEY_LINE`.
            saved_parameters = context.window_manager.tcb_preset
            for name, numbers in chosen_parameters(context).items():
                # NaN marks keys that cannot be read.
                if not len(numbers) or is_mixed(numbers) or math.isnan(numbers[0]):
                    return refuse(self, rpt_("Select only keys that have the same parameters"))
                setattr(saved_parameters, name, numbers[0])
        status: Any = super().execute(context)
        # Blender renames the menu after the preset.
        getattr(bpy.types, self.preset_menu).bl_label = "TCB Presets"
        return set(status)


def register() -> None:
    bpy.utils.register_preset_path(str(Path(__file__).parent.parent))


def unregister() -> None:
    bpy.utils.unregister_preset_path(str(Path(__file__).parent.parent))
