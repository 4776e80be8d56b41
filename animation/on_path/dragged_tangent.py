# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag the end of a path tangent. The tension, continuity and bias of the key follow it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ...interp.fitting.tcb_from_tangents import OTHER_STAYS, at_same_direction
from ..bake.plans.handles import is_keyed_whole
from ..bake.plans.splines import bends_by_parameters
from ..edit.parameters.set_parameters import set_parameters
from ..edit.track_keys import TrackKeys
from ..live.key_tangents import KeyTangents
from ..report import Report
from ..store.own_keys import read_own_keys
from .move_point import movable_point
from .points import Spot, Vector

Side = Literal["handle_left", "handle_right"]
_THIRD = 3.0
"""A tangent is shown with a third of the duration of its segment, like a Bezier handle."""
_OTHER_IS_FREE = 0.0
_NAMES = ("tension", "continuity", "bias")


class DraggedTangent:
    """The end of a path tangent that is dragged, on one side of a key.

    Raises AnimationError if parameters do not determine the tangent. For example, the track is not TCB, its method has
    no parameters, there is an ease beside the key, or that side has no segment.
    """

    def __init__(
        self,
        spot: Spot,
        side: Side,
        shown: Vector,
        reach: float,
        defaults: Mapping[str, float],
        depth: Vector | None = None,
    ) -> None:
        """Hold the tangent.

        `shown` is the vector from the key to the end of the tangent. `reach` is the number of frames of the segment on
        that side. `depth` is the view direction. The position of the end along this direction has no effect.
        """
        self.spot, self.side, self.defaults = spot, side, defaults
        self.held = movable_point(spot)
        self._shown, self._reach = shown, reach
        track = self.held.track.track
        if not track.enabled:
            raise track.error("NOT_TCB", frame=spot.frame)
        if not bends_by_parameters(track, track.settings):
            raise track.error("NO_PARAMETERS", frame=spot.frame)
        own = read_own_keys(track)
        if track.is_rotation and not is_keyed_whole(track, own):
            raise track.error("KEYED_APART", frame=spot.frame)
        rows = {
            index: int(np.argmin(np.abs(each.keys.frames - spot.frame)))
            for index, each in own.items()
            if index in self.held.track.keyed
        }
        indices = sorted(rows)
        options = track.settings.options
        self.defaults = options.defaults if options is not None else defaults
        effect = self.held.effect if track.is_rotation else self.held.effect[:, indices]
        self._flat = np.eye(3) if depth is None else np.eye(3) - np.outer(depth, depth) / float(depth @ depth)
        effect = self._flat @ effect
        self.key = KeyTangents(track, {index: own[index] for index in indices}, rows, self.defaults, effect)
        if side not in self.key.now:
            raise track.error("NO_KEY_BESIDE", frame=spot.frame)
        if self.key.is_eased(side):
            raise track.error("EASE_DECIDES", frame=spot.frame)
        self.parameters = dict(zip(_NAMES, self.key.present.tolist(), strict=True))

    def drag_to(self, end: Vector, *, alone: bool = False, length_only: bool = False) -> Report:
        """Set the parameters that bring the end of the tangent closest to `end`, a world vector from the key.

        With `alone`, the tangent on the other side changes as little as possible. Otherwise, it follows. With
        `length_only`, the tangent keeps its direction.
        """
        if length_only:
            end = at_same_direction(end, self._shown)
        away = 1.0 if self.side == "handle_right" else -1.0
        change = self._flat @ (away * (end - self._shown) * (_THIRD / self._reach))
        goal = self.key.now[self.side] + self.key.width(self.side) * change
        found = self.key.bent({self.side: goal}, OTHER_STAYS if alone else _OTHER_IS_FREE)
        if found is None:
            return Report()
        self.parameters = dict(zip(_NAMES, found.parameters.tolist(), strict=True))
        return self._set()

    def _set(self) -> Report:
        track = self.held.track
        track.refresh()
        frames = np.array([self.spot.frame], dtype=np.float32)
        keys = TrackKeys(track.datablock, track.track, frames, np.zeros(1, dtype=np.bool_), self.key.own)
        set_parameters(keys, self.parameters, self.defaults)
        return track.play()
