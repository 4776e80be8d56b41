# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that restores the curves of an imported FBX or glTF file."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..animation import AnimationError, restore_curves
from ..animation.options import RESTORE_CURVES
from ..animation.steps import IMPORT_STEPS
from ..animation.translation import rpt_
from ..ui.layouts import draw_properties, layout_of
from ..ui.operator_results import Status, finish, refuse
from ..ui.option_properties import property_of
from .files import path_of
from .progress import Progress

_OBJECT_ITEMS = (
    ("ALL", "All Objects", "All scene objects whose names are in the file"),
    ("SELECTED", "Selected Objects", "Selected objects, including the objects of the last import"),
)


class IMPORT_ANIM_OT_tcb_restore_curves(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Replace imported keys with the keys and tangents in the file. Import the file first"""

    bl_idname = "import_anim.tcb_restore_curves"
    bl_label = "Restore Curves"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(default="*.fbx;*.glb;*.gltf", options={"HIDDEN"})

    objects: EnumProperty(name="Objects", description="Objects whose curves are restored", items=_OBJECT_ITEMS)
    use_exact: property_of(RESTORE_CURVES["exact"])
    value_tolerance: property_of(RESTORE_CURVES["value_tolerance"])
    rotation_tolerance: property_of(RESTORE_CURVES["rotation_tolerance"])
    use_tcb: property_of(RESTORE_CURVES["use_tcb"])

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        draw_properties(layout, self, ("objects", "use_exact"))
        tolerances = layout.column()
        tolerances.active = self.use_exact or self.use_tcb
        draw_properties(tolerances, self, ("value_tolerance", "rotation_tolerance"))
        draw_properties(layout, self, ("use_tcb",))

    def execute(self: Any, context: Any) -> Status:
        objects = list(context.selected_objects if self.objects == "SELECTED" else context.scene.objects)
        try:
            with closing(Progress(context.window_manager, IMPORT_STEPS)) as progress:
                report = restore_curves(
                    path_of(self.filepath),
                    objects,
                    exact=self.use_exact,
                    value_tolerance=self.value_tolerance,
                    rotation_tolerance=self.rotation_tolerance,
                    use_tcb=self.use_tcb,
                    progress=progress,
                )
        except AnimationError as refusal:
            return refuse(self, refusal)
        return finish(self, report, rpt_("Restored the curves of {:s}", report.counts))
