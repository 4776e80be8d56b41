# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks found, for a person to go through: a list that lasts as long as the window, and no file keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty, StringProperty


@dataclass(frozen=True)
class Finding:
    """Where to look, and what is to be seen there."""

    item: bpy.types.Object
    frame: float
    place: str
    """The frames that it is about."""
    track: str
    """The property or constraint; empty where the fault says it."""
    fault: str
    bone: str = ""


class TCBFinding(bpy.types.PropertyGroup):
    """One of the list; its name is what is to be seen."""

    item: StringProperty(name="Object", options=set())
    bone: StringProperty(name="Bone", options=set())
    place: StringProperty(name="Frames", options=set())
    track: StringProperty(name="Track", options=set())
    frame: FloatProperty(name="Frame", options=set())


def put(window_manager: Any, findings: Iterable[Finding]) -> None:
    """Let these be the list."""
    window_manager.tcb_findings.clear()
    window_manager.tcb_finding = 0
    for finding in findings:
        row = window_manager.tcb_findings.add()
        row.name, row.item, row.bone = finding.fault, finding.item.name, finding.bone
        row.place, row.frame, row.track = finding.place, finding.frame, finding.track


def register() -> None:
    bpy.utils.register_class(TCBFinding)
    manager: Any = bpy.types.WindowManager
    manager.tcb_findings = CollectionProperty(type=TCBFinding, options={"SKIP_SAVE"})
    manager.tcb_finding = IntProperty(name="Finding", description="The line that is marked", options={"SKIP_SAVE"})


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.tcb_findings, manager.tcb_finding
    bpy.utils.unregister_class(TCBFinding)
