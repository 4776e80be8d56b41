# SPDX-License-Identifier: GPL-3.0-or-later
"""The drag in progress, during which Live waits. Each step of a drag rebakes tracks or previews handles."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import bpy

from ..fcurves.channels import Channels
from ..report import Report
from ..store.find_tracks import refreshed
from ..store.table.track_records import Options
from ..store.table_upkeep import is_live
from ..store.tracks import Track
from .pipeline import rebake


class _Drag:
    """The state of the current drag."""

    stepped_at = -math.inf
    """time.monotonic() of the last step that wrote keys."""
    finish: Callable[[], object] | None = None
    """Function that ends a drag with a preview, or None without a preview."""


_drag = _Drag()


def is_dragged(seconds: float) -> bool:
    """Return whether a drag shows a preview or made a step within the last `seconds`."""
    return _drag.finish is not None or time.monotonic() - _drag.stepped_at < seconds


def rebake_step(users: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track]) -> Report:
    """Update the tracks that a step of a drag has changed, if they are baked, or live and played by handles.

    `users` are the datablocks that the channels animate.
    """
    is_action_live = is_live(channels.action)
    tracks_to_bake = [
        track
        for track in refreshed(users[0], channels, tracks)
        if track.in_use and (track.is_baked or (is_action_live and track.is_played_by_handles))
    ]
    if not tracks_to_bake:
        return Report()
    report = rebake(users, channels, tracks_to_bake, Options())
    _drag.stepped_at = time.monotonic()
    return report


def end_drag() -> None:
    """Make Live detect edits immediately after the last step of a drag."""
    _drag.stepped_at = -math.inf


def begin_preview(finish: Callable[[], object]) -> None:
    """Make Live ignore a drag's preview until `finish` ends the drag."""
    _drag.finish = finish


def end_preview(finish: Callable[[], object]) -> None:
    """Make Live detect edits again after the preview that began with `finish`."""
    # Each access to a method creates a new object, so `is` would fail.
    if _drag.finish == finish:
        _drag.finish = None


def finish_preview() -> None:
    """If a drag is showing a preview, finish the drag at its last step."""
    if _drag.finish is not None:
        try:
            _drag.finish()
        finally:
            _drag.finish = None


def forget_preview() -> None:
    """After another file is loaded, discard the drag that was showing a preview."""
    _drag.finish = None
