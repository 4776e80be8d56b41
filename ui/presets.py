# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets of parameters: their files, order and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import bpy
from bpy.app.translations import contexts

from ..animation.edit.set_parameters import set_parameters
from ..animation.report import Report
from ..animation.translation import iface_, n_
from .chosen_keys import chosen_keys
from .operator_results import for_each_edited_track
from .scene import defaults_of

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
