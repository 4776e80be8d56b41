# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameter drags. A drag is prepared once, shown at each step, and written at the end.

For live tracks played by handles, each step shows a preview of the handles. When the drag ends, the preview is removed
and the parameters are set as in any other edit, so the result does not depend on the drag. To cancel a drag, it is
enough to remove the preview. Other tracks, for example baked tracks, are written at each step.

Plain tracks become TCB at the first step, and plain again if the drag is canceled.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import bpy
import numpy as np

from ...interp import KeysError
from ..bake.drags import begin_preview, end_drag, end_preview, finish_preview
from ..bake.handle_preview import HandlePreview
from ..fcurves.channels import channels_of, check_editable, evaluate_anew, users_of_channels
from ..report import AnimationError, Finding
from ..store.parameters import LIMITS, Numbers
from .enable import FirstEdit
from .keys import RecordedTrack, record_tracks, revert_tracks
from .parameters import set_parameters_of_each
from .track_keys import TrackKeys, current_tracks, read_again

QUICK, REST = 0.04, 0.1
"""Times in seconds. If a step takes longer than QUICK, the next steps wait for REST, so that they never queue up, and
only the last of them is shown."""

Given = Sequence[Mapping[str, Numbers]]
"""New values for the keys of each track: one array per name, with one value per key, or no arrays.

All tracks have the same names. Only tracks with velocities also have velocity names.
"""


class ParameterDrag:
    """A drag that shows new parameters of keys, and then applies or cancels the change."""

    def __init__(self, chosen: Sequence[TrackKeys], defaults: Mapping[str, float]) -> None:
        """Prepare a drag of the keys. `defaults` contains the parameters of keys that have none of their own."""
        self.chosen = list(chosen)
        """The keys, read again if their tracks were enabled."""
        self.is_shown = False
        """True if the drag has shown a step and has not ended."""
        self._defaults = defaults
        self._given: Given = []
        """The values of the last step."""
        self._previews: list[tuple[HandlePreview, list[int]]] = []
        """The previews, with the indices of their tracks in `chosen`."""
        self._to_write: list[int] = []
        """Indices of the tracks that are written at each step."""
        self._recorded: dict[int, RecordedTrack] = {}
        """The tracks that were written, as they were before the drag, by index."""
        self._first_edit: FirstEdit | None = None
        """The enabling of plain tracks, if the drag has begun."""
        self._rests_until = -math.inf
        """The time before which no further step is shown."""
        self._waits = False
        """True if the last step was not shown yet."""

    def begin(self) -> list[Finding]:
        """Enable plain tracks, unless the drag has begun. Return notes on the enabled tracks."""
        if self._first_edit is not None:
            return []
        self._first_edit = FirstEdit(self.chosen, self._defaults)
        self.chosen = self._first_edit.chosen
        return self._first_edit.notes

    def to(self, given: Given) -> list[AnimationError]:
        """Show the parameters, possibly after a delay. Return an error for each track that can't be changed."""
        self.begin()
        kinds_before = list(map(_kind, self._given))
        self._take(given)
        if not self.is_shown:
            finish_preview()
            self._prepare()
            begin_preview(self.finish_at_last_step)
        elif kinds_before != list(map(_kind, given)):
            self._remove_previews()
            self._prepare()
        rest = self._rests_until - time.perf_counter()
        self._waits = rest > 0.0
        if not self._waits:
            return self._show()
        if not bpy.app.background and not bpy.app.timers.is_registered(self._catch_up):
            bpy.app.timers.register(self._catch_up, first_interval=rest)
        return []

    def finish(self, given: Given) -> list[AnimationError]:
        """End the drag with the given parameters. Return an error for each track that can't be changed.

        The motion is updated immediately if the drag has shown a step, and otherwise later by Live.
        """
        self.begin()
        self._take(given)
        if self.is_shown:
            return self.finish_at_last_step()
        return self._write(range(len(self.chosen)), is_drag_step=False)

    def finish_at_last_step(self) -> list[AnimationError]:
        """End the drag with the parameters of its last step."""
        if not self.is_shown:
            return []
        self._end()
        errors = self._write(range(len(self.chosen)), is_drag_step=True)
        for action in dict.fromkeys(map(_action_of, self.chosen)):
            # Undo reevaluates only data that were evaluated during the undo step.
            evaluate_anew(action)
        end_drag()
        return errors

    def take_back(self) -> None:
        """Cancel the drag and restore everything."""
        self._end()
        revert_tracks(list(self._recorded.values()))
        self._recorded.clear()
        if self._first_edit is not None:
            self._first_edit.revert()
            self.chosen = self._first_edit.before
            self._first_edit = None
        end_drag()

    def _take(self, given: Given) -> None:
        """Replace the values of the last step. Restore the written tracks if a parameter is no longer given."""
        if any(before.keys() - now.keys() for before, now in zip(self._given, given, strict=False)):
            revert_tracks(list(self._recorded.values()))
        self._given = given

    def _prepare(self) -> None:
        """Decide which tracks are previewed and which are written at each step, and create the previews."""
        tracks, kinds = current_tracks(self.chosen), list(map(_kind, self._given))
        groups: dict[tuple[int, int], list[int]] = {}
        for index, keys in enumerate(self.chosen):
            if kinds[index] == "PARAMETERS" and _is_editable(keys):
                groups.setdefault((_action_of(keys).session_uid, tracks[index].slot), []).append(index)
        previewed: set[int] = set()
        for indices in groups.values():
            channels = channels_of(self.chosen[indices[0]].datablock)
            (users,) = users_of_channels([channels])
            preview = HandlePreview(users, channels, [(tracks[index], self.chosen[index].frames) for index in indices])
            if preview.paths:
                self._previews.append((preview, indices))
                previewed.update(index for index in indices if tracks[index].path in preview.paths)
        self._to_write = [index for index, kind in enumerate(kinds) if kind and index not in previewed]
        self.is_shown = True

    def _show(self) -> list[AnimationError]:
        """Show the values of the last step. Return an error for each track that can't be changed."""
        start = time.perf_counter()
        for preview, indices in self._previews:
            given = {
                name: np.concatenate([self._given[index][name] for index in indices])
                for name in self._given[indices[0]]
            }
            # Parameters that define no motion are reported when the drag ends.
            with suppress(KeysError):
                preview.show(given)
        errors = self._write(self._to_write, is_drag_step=True) if self._to_write else []
        end = time.perf_counter()
        self._rests_until = end + REST if end - start > QUICK else -math.inf
        return errors

    def _catch_up(self) -> float | None:
        """Show the delayed step. Return the number of seconds that Blender's timer must still wait, if any."""
        rest = self._rests_until - time.perf_counter()
        if self._waits and rest > 0.0:
            return rest
        if self._waits:
            self._waits = False
            self._show()
        return None

    def _write(self, indices: Sequence[int], is_drag_step: bool) -> list[AnimationError]:
        """Set the parameters of the tracks with these indices. Each track is recorded before it is written first."""
        indices = [index for index in indices if self._given[index]]
        chosen = read_again([self.chosen[index] for index in indices])
        fresh = {n: keys for n, keys in zip(indices, chosen, strict=True) if n not in self._recorded}
        recorded = record_tracks((keys.datablock, keys.track) for keys in fresh.values())
        self._recorded |= zip(fresh, recorded, strict=True)
        given = [self._given[index] for index in indices]
        return set_parameters_of_each(zip(chosen, given, strict=True), self._defaults, is_drag_step=is_drag_step)

    def _end(self) -> None:
        """Remove the previews. The written tracks are not changed."""
        self._remove_previews()
        self.is_shown = self._waits = False
        end_preview(self.finish_at_last_step)

    def _remove_previews(self) -> None:
        for preview, _ in self._previews:
            preview.remove()
        self._previews, self._to_write = [], []


def _kind(given: Mapping[str, Numbers]) -> str:
    """Return the kind of values that change on a track. Only changes to parameters can be previewed."""
    if not given:
        return ""
    return "PARAMETERS" if LIMITS.keys() >= given.keys() else "VELOCITIES"


def _action_of(keys: TrackKeys) -> bpy.types.Action:
    return channels_of(keys.datablock).action


def _is_editable(keys: TrackKeys) -> bool:
    try:
        return check_editable(keys.datablock).action.is_editable
    except AnimationError:
        return False
