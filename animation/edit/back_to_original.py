# SPDX-License-Identifier: GPL-3.0-or-later
"""Return from a bake into a new action to the original action."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..arguments import checked
from ..datablocks import name_of, users_of
from ..errors import AnimationError
from ..fcurves.channels import assign, channels_in, channels_of
from ..fcurves.editable import check_editable, check_not_tweaked
from ..fcurves.refused_actions import check_one_layer
from ..report import Report
from ..store.actions.original_actions import bring_back, originals, release
from ..store.own_keys import key_frames
from ..store.tracks import find_tracks
from ..translation import rpt_


@checked
def back_to_original(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Assign the action from which the present one was baked, or reduced, to the datablock and all that share it.

    The original is unchanged, to the last bit. The other action is removed if nothing else uses it.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock that uses the baked action.
    prefixes : iterable of str, optional
        Only for the report: an action is exchanged as a whole.

    Returns
    -------
    Report
        The tracks and keys of the original.

    Raises
    ------
    AnimationError
        The action was neither baked nor reduced from another, or can't be exchanged. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball, target="NEW_ACTION")
    >>> baked = ball.animation_data.action
    >>> animation.back_to_original(ball).tracks
    2
    >>> ball.animation_data.action == baked
    False
    """
    baked = check_editable(datablock).action
    original = originals().get(baked)
    if original is None:
        raise AnimationError(
            name_of(datablock),
            rpt_('its action "{:s}" was neither baked nor reduced from another', baked.name),
            nothing_to_do=True,
        )
    places = {user: channels_of(user).slot_handle for user in users_of(baked)}
    slots = {channels.slot_handle for channels in channels_in(original)}
    for user, slot in places.items():
        check_not_tweaked(user)
        check_one_layer(user, original)
        if slot not in slots:
            raise AnimationError(
                name_of(user), rpt_('the action "{:s}" has no F-curves for it any more', original.name)
            )
    bring_back(original)
    report, counted = Report.on(list(places)), set()
    for user, slot in places.items():
        assign(user, original, slot)
        channels = channels_of(user)
        if channels.identity not in counted:
            counted.add(channels.identity)
            tracks = find_tracks(user, channels)
            report.tracks += len(tracks)
            report.keys += sum(len(key_frames(track)) for track in tracks)
        report.notes.append(rpt_('"{:s}" uses the action "{:s}" again', name_of(user), original.name))
    if places:
        release(original)
    if not baked.users:
        bpy.data.actions.remove(baked)
    return report
