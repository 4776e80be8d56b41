# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of F-curves as arrays."""

from __future__ import annotations

from tests.animation.curves import fcurves, key, new_object


def test_keys_can_be_compared_and_hashed(animation) -> None:
    thing = new_object()
    key(thing, "location", [(1, (0, 4, 8)), (20, (1, 5, 9))])
    keys, others = (animation.fcurves.read_keys.read(fcurve) for fcurve in fcurves(thing)[:2])
    assert keys != others
    assert len({keys, others}) == 2
