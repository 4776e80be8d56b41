# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the node from which an object was imported."""

from __future__ import annotations

from ..conversion import Conversion
from ..imported_state import DamagedStateError, recall
from ..importing.file_nodes import node_name
from ..importing.plan_objects import PlannedObject, add_keys
from ..notes import drop_note
from .export_node import ExportNode


def find_source(node: ExportNode, conversion: Conversion) -> None:
    """Find the node from which the object was imported, if the conversion is unchanged."""
    try:
        state = recall(node.obj)
    except DamagedStateError:
        node.add_note("IMPORT_STATE_DAMAGED")
        return
    if state is None or state.node.kind != node.kind or not state.conversion.is_like(conversion):
        return
    planned = PlannedObject(node_name(state.node), state.node, None, "", node.space(state.conversion))
    # The import has already reported its notes.
    add_keys(planned, state.node.tracks, state.rotation_options, drop_note)
    node.source, node.planned = state.node, planned
