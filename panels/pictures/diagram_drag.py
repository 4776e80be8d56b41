# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging the ends of the tangents in the diagram: tension, continuity and bias of the chosen keys follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import FloatProperty

from ...animation.checks.key_info import Sides
from ...animation.edit.parameters.drag import ParameterDrag
from ...animation.edit.parameters.set_parameters import set_parameters
from ...animation.errors import AnimationError
from ...animation.number_text import number_text
from ...animation.translation import iface_, n_, rpt_
from ...interp.fitting.tcb_from_tangents import OTHER_STAYS, at_same_direction, tcb_of_tangents
from ...ui import selection
from ...ui.redraw import show_in_headers
from ...ui.reporting import NO_OWN_KEY_SELECTED, finish, for_each_of, poll_keys
from ...ui.sliders.key_fields import DESCRIPTIONS
from ...ui.sliders.shared_number import is_mixed
from . import diagram, find_picture
from .bitmap import Points

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Status = set[OperatorReturnItems]
else:
    Status = set

_NAMES = ("tension", "continuity", "bias")
_EDITORS = {"VIEW_3D", "GRAPH_EDITOR", "DOPESHEET_EDITOR"}
_REACH = 9.0
"""Pixels from the end of a tangent, of a picture of 160, within which it is taken hold of."""
_STILL = 3.0
"""Pixels of the same by which the mouse moves before tangents that end on the key are told apart."""
_HINT = n_(
    "Drag: tension, continuity and bias follow; Shift: this side alone, Ctrl: its length alone;"
    " release: confirm, Esc or right click: cancel"
)
_KEYMAP = "View2D Buttons List"
"""Blender's, of all regions of panels."""
_items: list[tuple[Any, Any]] = []


def dragged(
    start: Mapping[str, float], row: int, end: Points, *, alone: bool = False, length_only: bool = False
) -> dict[str, float]:
    """Return the parameters with which a tangent ends nearest to a point of the diagram.

    `start`: the parameters before; of several that do, the nearest to these. `row`: 0 for the tangent to the key, 1 for
    that from it. `alone`: the other one stays as near as it can. `length_only`: it keeps its direction.
    """
    ends = diagram.ends_of_tangents(start)
    away = [0.0 * diagram.KEY if each is None else each - diagram.KEY for each in ends]
    goal = end - diagram.KEY
    away[row] = at_same_direction(goal, away[row]) if length_only else goal
    incoming, outgoing = -diagram.THIRD * away[0], diagram.THIRD * away[1]
    weights = np.full((1, 2), OTHER_STAYS if alone else 0.0)
    weights[0, row] = 1.0
    before, after = diagram.CHORDS
    found = tcb_of_tangents(
        before[np.newaxis],
        after[np.newaxis],
        np.array([0.5]),
        incoming[np.newaxis],
        outgoing[np.newaxis],
        np.array([[start[name]] for name in _NAMES]),
        weights,
    )
    return dict(zip(_NAMES, found.parameters[:, 0].tolist(), strict=True))


def _is_in_the_middle(region: bpy.types.Region, x: int) -> bool:
    """Return whether the diagram can be there: it is centred, and the scroll bar and the tabs are beside it."""
    unit = diagram.button_height()
    room = diagram.size_drawn() * (0.5 + _REACH / 160) + unit / 2
    return bool(abs(x - region.width / 2) <= room and 2 * unit < x < region.width - 2 * unit)


def _parameter(name: str) -> Any:
    label, description = DESCRIPTIONS[name]
    return FloatProperty(name=label, description=description, min=-1.0, max=1.0, step=5, precision=3)


class TCB_OT_diagram_drag(bpy.types.Operator):
    """Drag the end of a tangent in the diagram of the tab: tension, continuity and bias of the keys follow"""

    bl_idname = "tcb.diagram_drag"
    bl_label = "Drag in the Diagram"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "INTERNAL"}

    tension: _parameter("tension")
    continuity: _parameter("continuity")
    bias: _parameter("bias")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        region: Any = context.region
        if context.area is None or context.area.type not in _EDITORS:
            return False
        # Done again from its panel, it is in another region.
        if region is not None and region.type == "UI" and region.active_panel_category != "TCB":
            return False
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        numbers = {name: getattr(self, name) for name in _NAMES}
        chosen = selection.chosen_keys(context)
        report = for_each_of(chosen, lambda keys: set_parameters(keys, numbers, defaults))
        return finish(self, report, rpt_("Set {:s}", report.counts), NO_OWN_KEY_SELECTED)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        region = context.region
        numbers = selection.chosen_parameters(context)
        sides = selection.chosen_sides(context)
        if region is None or region.type != "UI" or sides is None:
            return {"PASS_THROUGH"}
        if not find_picture.is_shown(region) or not _is_in_the_middle(region, event.mouse_x - region.x):
            return {"PASS_THROUGH"}
        if any(not len(own) or is_mixed(own) for own in numbers.values()):
            return {"PASS_THROUGH"}
        self._start = {name: float(own[0]) for name, own in numbers.items()}
        self._sides: Sides = sides
        self._region: Any = region
        self._area: Any = context.area
        self._press = event.mouse_x - region.x, event.mouse_y - region.y
        self._size = diagram.size_drawn()
        self._corner: Points | None = None
        self._row: int | None = None
        self._is_held = False
        self._search = find_picture.search(region)
        window_manager: Any = context.window_manager
        window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        if event.type in {"ESC", "RIGHTMOUSE"} or (event.type == "LEFTMOUSE" and not self._is_held):
            return self._end(context, {"CANCELLED"})
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return self._end(context, {"FINISHED"})
        if self._corner is None:
            if self._search.pixels is None:
                return {"RUNNING_MODAL"}
            if not self._found():
                return self._end(context, {"CANCELLED"})
        keys = {"LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_CTRL", "RIGHT_CTRL"}
        if event.type == "MOUSEMOVE" or event.type in keys:
            return self._move(context, event)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        self._end(context, {"CANCELLED"})

    def _found(self) -> bool:
        """Find the picture, and in it the end of a tangent under the mouse; return whether there is one."""
        picture = diagram.bitmap(self._start, self._size, (0.0,) * 4, (0.0,) * 4, self._sides)
        pixels = self._search.pixels
        corner = find_picture.find(pixels, picture.pixels) if pixels is not None else None
        if corner is None:
            return False
        self._corner = left_low = np.array(corner, dtype=np.float64)
        reach = _REACH * self._size / 160
        near = []
        for row, end in enumerate(diagram.ends_of_tangents(self._start, self._sides)):
            if end is not None:
                at = diagram.shown_at(end)
                distance = float(np.linalg.norm(diagram.placed(at, self._size) + left_low - self._press))
                near.append((distance, row, at))
        near = sorted(each for each in near if each[0] <= reach)
        if not near:
            return False
        self._offset = near[0][2] - self._point(self._press)
        # Both end on the key: the way that the mouse takes says which is meant.
        both = len(near) > 1 and abs(near[0][0] - near[1][0]) < 1.0
        self._row = None if both else near[0][1]
        return True

    def _point(self, mouse: Any) -> Points:
        corner: Any = self._corner
        return diagram.at_pixel(np.subtract(mouse, corner), self._size)

    def _move(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        mouse = event.mouse_x - self._region.x, event.mouse_y - self._region.y
        if self._row is None:
            if np.abs(np.subtract(mouse, self._press)).max() < _STILL * self._size / 160:
                return {"RUNNING_MODAL"}
            self._row = int(mouse[0] > self._press[0])
        if not self._is_held:
            self._is_held = True
            chosen = selection.chosen_keys(context)
            self._sizes = list(map(len, chosen))
            self._drag = ParameterDrag(chosen, selection.default_parameters(context))
        end = self._point(mouse) + self._offset
        numbers = dragged(self._start, self._row, end, alone=event.shift, length_only=event.ctrl)
        for name, number in numbers.items():
            setattr(self, name, number)
        given = [{name: np.full(size, number) for name, number in numbers.items()} for size in self._sizes]
        try:
            # The panel says which can't be set.
            self._drag.to(given)
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return self._end(context, {"CANCELLED"})
        text = "   ".join(
            f"{iface_(DESCRIPTIONS[name][0])}: {number_text(number, 3)}" for name, number in numbers.items()
        )
        show_in_headers(context, self._area, text, iface_(_HINT))
        return {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context, status: Status) -> Status:
        if self._is_held:
            if status == {"CANCELLED"}:
                self._drag.take_back()
            else:
                self._drag.finish_at_last_step()
            show_in_headers(context, self._area, None, None)
        self._is_held = False
        return status


def register() -> None:
    find_picture.register()
    bpy.utils.register_class(TCB_OT_diagram_drag)
    window_manager: Any = bpy.context.window_manager
    keyconfig = window_manager.keyconfigs.addon
    if keyconfig is None:
        return
    keymap = keyconfig.keymaps.new(_KEYMAP, space_type="EMPTY")
    _items.append((keymap, keymap.keymap_items.new("tcb.diagram_drag", "LEFTMOUSE", "PRESS", any=True)))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
    bpy.utils.unregister_class(TCB_OT_diagram_drag)
    find_picture.unregister()
