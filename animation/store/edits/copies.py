# SPDX-License-Identifier: GPL-3.0-or-later
"""Own keys that copies of generated keys replaced."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...fcurves.frames import ONE_KEY
from ...fcurves.keyframes import Float32Array
from ...records import record
from .history import History


def _is_within(frame: float, frames: Float32Array) -> bool:
    """Return whether a frame is in the range of others, which ascend."""
    return len(frames) > 0 and bool(frames[0] <= frame <= frames[-1])


@record(eq=False)
class Copies:
    """Tell which own keys were replaced by pasted or duplicated ones."""

    history: History

    @property
    def covered(self) -> Float32Array:
        """Return the frames of own keys that pasting may have been meant to replace."""
        return np.array([self.history.frames[which] for which in self.covered_keys], dtype=np.float32)

    @cached_property
    def covered_keys(self) -> dict[int, tuple[int, float, float]]:
        """Return own keys that copies of generated keys replaced: row -1, frame and value by their row.

        An own key counts as replaced where a copy is at its frame, or where it is in the range of all copies, but not
        in that of the own copies. Pasting over a whole range to replace the own keys would leave the same keys: in
        doubt the own keys are kept.
        """
        if not self.history.generated.any() or not (self._is_doubled or self._is_all_pasted):
            return {}
        frames, came_from = self.history.keys.frames, self.history.frames[self.history.source]
        copies = self.history.generated & (np.abs(self.history.keys.period - frames) > ONE_KEY)
        own_copies = ~self.history.generated & (self.history.source >= 0) & (np.abs(came_from - frames) > ONE_KEY)
        result = {}
        for which in np.flatnonzero(self.history.own >= 0).tolist():
            frame = self.history.frames[which]
            known = frames[self.history.source == which]
            stays = len(known) > 1 or (np.abs(known - frame) <= ONE_KEY).any()
            there = copies & (self.history.source >= 0) & (np.abs(frames - frame) <= ONE_KEY)
            replaced = _is_within(frame, frames[copies | own_copies]) and not _is_within(frame, frames[own_copies])
            if not stays and (self._is_all_pasted or there.any() or replaced):
                result[which] = (-1, float(frame), self._value_of_copy(which))
        return result

    def _value_of_copy(self, which: int) -> float:
        """Return the value of a replaced own key, by that of its copy if there is one."""
        written = float(self.history.written["value"][self.history.own[which]])
        copies = np.flatnonzero(~self.history.generated & (self.history.source == which))
        if not len(copies) or written != float(self.history.written["co"][self.history.own[which], 1]):
            return written
        return self._sign_of_copies * float(self.history.now[copies[0]])

    @cached_property
    def _sign_of_copies(self) -> float:
        """Return -1 where the keys were pasted flipped, with the negated values of the keys they were copied from."""
        known = np.flatnonzero(self.history.source >= 0)
        stays = known[
            np.abs(self.history.keys.frames[known] - self.history.frames[self.history.source[known]]) <= ONE_KEY
        ]
        copies = np.setdiff1d(known, stays)
        order = np.argsort(self.history.source[copies], kind="stable")
        copies = copies[order]
        twice = stays[np.isin(self.history.source[stays], self.history.source[copies])]
        beside = copies[np.searchsorted(self.history.source[copies], self.history.source[twice])]
        opposite = (self.history.now[twice] == -self.history.now[beside]) & (self.history.now[twice] != 0.0)
        return -1.0 if len(twice) and opposite.mean() > 0.5 else 1.0

    @cached_property
    def _is_all_pasted(self) -> bool:
        """Return whether all keys are generated ones that were pasted over all others."""
        return bool(
            (self.history.generated & (np.abs(self.history.keys.frames - self.history.keys.period) > ONE_KEY)).all()
        )

    @cached_property
    def _is_doubled(self) -> bool:
        """Return whether keys were copied while the original ones stayed where they were written."""
        known = np.flatnonzero(self.history.source >= 0)
        stays = np.abs(self.history.keys.frames[known] - self.history.frames[self.history.source[known]]) <= ONE_KEY
        again = np.isin(self.history.source[known[stays]], self.history.source[known[~stays]])
        own = self.history.source[known[~self.history.generated[known]]]
        # A key scaled about its own frame stays there, too.
        return bool(again.any()) or len(np.unique(own)) < len(own)
