# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of what the steps of a drag change: the drag knows its tracks, so Live need not look for them until it ends.

Some drags show a preview in the meantime, and write nothing before they end: see `preview.py`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import bpy

from ..fcurves.channels import Channels
from ..report import Report
from ..store.actions.live_switch import is_live
from ..store.table.options import Options
from ..store.tracks import Track, refreshed
from .pipeline import rebake


class _Drag:
    stepped_at = -math.inf
    finish: Callable[[], object] | None = None
    """A function that ends the drag with a preview."""


_drag = _Drag()


def replay(users: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track]) -> Report:
    """Bake tracks again that a step of a drag has changed: baked ones, and live ones that handles play.

    `users`: the datablocks that the channels animate.
    """
    live = is_live(channels.action)
    present = [
        track
        for track in refreshed(users[0], channels, tracks)
        if track.in_use and (track.is_baked or (live and track.is_played_by_handles))
    ]
    if not present:
        return Report()
    report = rebake(users, channels, present, Options())
    _drag.stepped_at = time.monotonic()
    return report


def is_dragged(seconds: float) -> bool:
    """Check whether a drag shows a preview or took a step within the last seconds."""
    return _drag.finish is not None or time.monotonic() - _drag.stepped_at < seconds


def begin_preview(finish: Callable[[], object]) -> None:
    """Make Live ignore the preview of a drag until `finish` ends it."""
    _drag.finish = finish


def end_preview(finish: Callable[[], object]) -> None:
    """Let Live look for edits after the preview."""
    if _drag.finish == finish:
        _drag.finish = None


def finish_preview() -> None:
    """Finish the drag with a preview at its last step, if there is one."""
    if _drag.finish is not None:
        _drag.finish()
        _drag.finish = None


def forget_preview() -> None:
    """Drop the drag with a preview, as another file was loaded."""
    _drag.finish = None


def end_drag() -> None:
    """Let Live look for edits at once."""
    _drag.stepped_at = -math.inf
