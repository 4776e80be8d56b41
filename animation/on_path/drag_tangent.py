# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a tangent of a path by changing the parameters of a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ...interp.fitting.tcb_from_tangents import OTHER_STAYS, at_same_direction
from ..bake.plans.own_motion import OwnChannels, is_keyed_whole
from ..edit.parameters import set_parameters_of_each
from ..edit.track_keys import key_at
from ..live.dragged_handles import KeyTangents
from ..store.read_own_keys import read_own_keys
from ..store.tracks import Track, bends_by_parameters
from .drag_point import movable_point
from .path_keys import Spot, Vector

Side = Literal["handle_left", "handle_right"]
_NAMES = ("tension", "continuity", "bias")
_SHOWN_FRACTION = 1.0 / 3.0
"""The fraction of a segment's duration that a shown tangent spans, like a Bezier handle."""
_OTHER_IS_FREE = 0.0
"""The weight of the tangent on the other side if it follows the dragged tangent."""


class DraggedTangent:
    """The dragged end of a path tangent on one side of a key.

    Raises AnimationError if parameters do not determine the tangent: if the track is not TCB, if its method has no
    parameters, or if that side of the key has an ease or no segment.
    """

    def __init__(
        self,
        spot: Spot,
        side: Side,
        shown: Vector,
        shown_frames: float,
        defaults: Mapping[str, float],
        depth: Vector | None = None,
    ) -> None:
        """Start the drag.

        `shown` is the vector from the key to the end of the tangent. `shown_frames` is the number of frames to the next
        key of the path on that side, which may be a key of another track. `depth` is the view direction. The position
        of the end along this direction has no effect.
        """
        point = movable_point(spot)
        self._keyed, self._side = point.track, side
        self._shown, self._shown_frames = shown, shown_frames
        track = self._keyed.track
        own = read_own_keys(track)
        _check_tangents(track, own, spot.frame)
        options = track.settings.options
        self._defaults = defaults if options is None else options.defaults
        self._projection = np.eye(3)
        if depth is not None:
            self._projection -= np.outer(depth, depth) / float(depth @ depth)
        indices = sorted(self._keyed.components)
        effect = self._projection @ (point.effect if track.is_rotation else point.effect[:, indices])
        rows = {index: int(np.argmax(self._keyed.is_at(own[index].keys))) for index in indices}
        self._key = KeyTangents(track, {index: own[index] for index in indices}, rows, self._defaults, effect)
        if side not in self._key.now:
            raise track.error("NO_KEY_BESIDE", frame=spot.frame)
        if self._key.is_eased(side):
            raise track.error("EASE_DECIDES", frame=spot.frame)
        self.parameters = dict(zip(_NAMES, self._key.present.tolist(), strict=True))
        """The current tension, continuity and bias of the key."""

    def drag_to(self, end: Vector, *, alone: bool = False, length_only: bool = False) -> None:
        """Set the parameters that bring the end of the tangent closest to `end`, a world vector from the key.

        If `alone` is true, the tangent on the other side changes as little as possible. Otherwise, the other tangent
        follows. If `length_only` is true, the tangent keeps its direction. At the ends of a loop, nothing changes.
        """
        if length_only:
            end = at_same_direction(end, self._shown)
        sign = 1.0 if self._side == "handle_right" else -1.0
        velocity_change = self._projection @ (sign * (end - self._shown)) / (_SHOWN_FRACTION * self._shown_frames)
        # Tangents of splines are per segment of the track. The shown tangent is per segment of the path.
        goal = self._key.now[self._side] + self._key.width(self._side) * velocity_change
        weight_of_other = OTHER_STAYS if alone else _OTHER_IS_FREE
        best = self._key.best_parameters({self._side: goal}, weight_of_other)
        if best is not None:
            self.parameters = dict(zip(_NAMES, best.parameters.tolist(), strict=True))
            self._set_parameters()

    def _set_parameters(self) -> None:
        """Write the parameters to the key. Raise AnimationError if the key can't be changed."""
        self._keyed.refresh()
        keys = key_at(self._keyed.datablock, self._keyed.track, self._keyed.frame)
        for error in set_parameters_of_each([(keys, self.parameters)], self._defaults, is_drag_step=True):
            raise error


def _check_tangents(track: Track, own: OwnChannels, frame: float) -> None:
    """Raise AnimationError if parameters do not determine any tangent of the track."""
    if not track.enabled:
        raise track.error("NOT_TCB", frame=frame)
    if not bends_by_parameters(track, track.settings):
        raise track.error("NO_PARAMETERS", frame=frame)
    if track.is_rotation and not is_keyed_whole(track, own):
        raise track.error("KEYED_APART", frame=frame)
