# SPDX-License-Identifier: GPL-3.0-or-later
"""Classification of a baked channel's keys after edits: which are the animator's, and with which values.

Own keys are recognized by identity. Three cases are decided by comparison with what the last update wrote:

- A generated key has another value than its stamp. Either the animator keyed over it, or it was moved, scaled or
  mirrored in value together with others. The latter is assumed where one map of values explains it, the generated keys
  around it and both own keys around them; otherwise the key is the animator's, and so are those shifted alike in a row
  with it.
- Blender merges selected keys that land on one frame into one with the mean of their values. An own key whose value is
  such a mean, of own and generated keys, gets the mean of the own ones.
- The key that remains of merged keys may be a generated one. A missing own key was merged into it where its value is
  the mean with the own key's, or where it was moved to the own key's frame; of equal values no mean tells, and the key
  that was the last one before it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ..fcurves.keyframes import BoolArray, Float32Array, IndexArray, Keyframes
from ..records import record
from .edits.copies import Copies
from .edits.history import History, differ
from .edits.keyed_over import KeyedOver
from .edits.merged_own_keys import Returned
from .edits.merges import Merges
from .table import identity
from .table.custom_property import OWN, Channel, Written
from .table.identity import Identities
from .table.stamps import is_generated, is_stamped


@record(eq=False)
class Changes:
    """The classification of the keys of one channel."""

    is_own: BoolArray
    """Which keys are the animator's."""
    values: Float32Array
    """Own values of these keys, shape (n,) for all keys."""
    promoted: BoolArray
    """Which of the animator's keys were generated."""
    merged: BoolArray
    """Keys into which others were merged: Blender set the mean value and did not move the handles."""
    returned: Written = field(default_factory=lambda: np.empty(0, dtype=OWN))
    """Own keys that were merged into generated ones or replaced by them: their identities, and `co` where they are
    now."""
    swallowed_by: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """The rows of the generated keys into which they were merged; -1: replaced by a key that was pasted or moved
    there."""
    doubtful: Float32Array = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    """Frames of promoted keys that may not be the animator's, of returned keys that may have been deleted on purpose,
    and of own keys whose value may lack that of a key merged into them."""

    @classmethod
    def joined(cls, every: Sequence[Changes]) -> Changes:
        """Concatenate the classifications of several channels, but for what is returned or doubtful."""
        names = ("is_own", "values", "promoted", "merged")
        return cls(*(np.concatenate([getattr(each, name) for each in every]) for name in names))

    def own(self, keys: Keyframes) -> Keyframes:
        """Return the animator's keys, with their own values."""
        own = keys if self.is_own.all() else keys.take(self.is_own)
        values = self.values[self.is_own]
        shift = values - own.values
        if not shift.any():
            return own
        co, left, right = own.co.copy(), own.handle_left.copy(), own.handle_right.copy()
        co[:, 1] = values
        # Adding a shift of zero would turn -0.0 into 0.0.
        along = (shift != 0.0) & ~self.merged[self.is_own]
        left[along, 1] += shift[along]
        right[along, 1] += shift[along]
        return own.with_(co=co, handle_left=left, handle_right=right)


def classify(keys: Keyframes, identities: Identities, written: Channel | None) -> Changes:
    """Classify the keys of a channel; `written` is None where it was never baked, so that its stamps were pasted."""
    generated = is_generated(keys) & (identities == identity.NONE)
    is_own = ~generated
    promoted = is_own & is_stamped(keys)
    merged = np.zeros(len(keys), dtype=np.bool_)
    values = keys.values.copy()
    if written is None:
        return Changes(is_own, values, promoted, merged)
    changed = generated & differ(keys.values, keys.back)
    if not changed.any() and _as_written(keys, identities, is_own, written):
        rows = np.flatnonzero(is_own)
        values[rows] = written.own["value"]
        return Changes(is_own, values, promoted, merged)
    history = History.of(keys, identities, generated, written)
    merges, copies = Merges(history), Copies(history)
    changed &= ~history.flipped
    keyed = np.zeros(len(keys), dtype=np.bool_)
    doubtful = keyed.copy()
    if changed.any():
        keyed, doubtful = KeyedOver(history, merges).keyed(np.flatnonzero(changed))
    values, merged = merges.own_values()
    found = Returned(history, merges, copies)
    returned, by = found.swallowed()
    unsure = np.array(found.unsure, dtype=np.float32)
    unsure = unsure[np.isin(unsure, returned["co"][:, 0])]
    incomplete = np.unique(np.array(found.incomplete, dtype=np.float32))
    in_doubt = np.concatenate((keys.frames[doubtful], copies.covered, unsure, incomplete))
    return Changes(is_own | keyed, values, promoted | keyed, merged, returned, by, in_doubt)


def _as_written(keys: Keyframes, identities: Identities, is_own: BoolArray, written: Channel) -> bool:
    """Return whether the own keys are those that were written, with the values that were written.

    They may be where they were written, or moved, but not copied over the original ones with generated keys among them.
    """
    own = identities[is_own]
    if own.tobytes() != written.own["identity"].tobytes():
        return False
    if (keys.co[is_own] == written.own["co"]).all():
        return True
    came_from = np.sort(keys.period[~is_own])
    return bool((keys.values[is_own] == written.own["co"][:, 1]).all() and np.diff(came_from).all())
