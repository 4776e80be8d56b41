# SPDX-License-Identifier: GPL-3.0-or-later
"""List of check findings. The list is kept until the window closes and is not saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty, StringProperty


class TCBFinding(bpy.types.PropertyGroup):
    """A finding in the list, with the error as its name."""

    item: StringProperty(name="Object", options=set())
    bone: StringProperty(name="Bone", options=set())
    # Frame range as text.
    place: StringProperty(name="Frames", options=set())
    # Property or constraint. Empty if the error names it.
    track: StringProperty(name="Track", options=set())
    frame: FloatProperty(name="Frame", options=set())


def show_findings(window_manager: Any, result: str, findings: Iterable[Mapping[str, Any]] = ()) -> None:
    """Replace the findings in the list, given as properties of `TCBFinding`, and the result above the list."""
    window_manager.tcb_findings.clear()
    window_manager.tcb_result = result
    window_manager.tcb_finding = 0
    for finding in findings:
        row = window_manager.tcb_findings.add()
        for name, value in finding.items():
            setattr(row, name, value)


def register() -> None:
    bpy.utils.register_class(TCBFinding)
    manager: Any = bpy.types.WindowManager
    manager.tcb_findings = CollectionProperty(type=TCBFinding, options={"SKIP_SAVE"})
    manager.tcb_finding = IntProperty(name="Finding", description="Index of the active finding", options={"SKIP_SAVE"})
    manager.tcb_result = StringProperty(
        name="Result", description="Result of the last check or adjustment", options={"SKIP_SAVE"}
    )


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.tcb_findings, manager.tcb_finding, manager.tcb_result
    bpy.utils.unregister_class(TCBFinding)
