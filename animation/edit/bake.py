# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: the functions for scripts, on one datablock and on several."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..arguments import Count, Datablocks, FrameRange, Parameters, Positive, by_datablock, checked
from ..bake.pipeline import bake as bake_selected
from ..errors import AnimationError
from ..options import BAKE
from ..report import Report
from ..steps import Progress
from ..store.table.options import Options, Output


@checked
def bake(  # noqa: PLR0913
    datablock: bpy.types.ID,
    *,
    output: Output = BAKE["output"].default,
    step: Positive = BAKE["step"].default,
    extend: FrameRange | None = None,
    sample_limit: Count = BAKE["sample_limit"].default,
    defaults: Parameters | None = None,
    prefixes: Iterable[str] | None = None,
    value_tolerance: Positive | None = None,
    rotation_tolerance: Positive = BAKE["rotation_tolerance"].default,
    progress: Progress | None = None,
) -> Report:
    """Bake the TCB tracks of the datablock; where it has none, enable and bake all of its tracks.

    Tracks that are enabled here get parameters 0 (or the `defaults`), so their motion changes: call
    `enable(datablock, keep_look=True)` first to preserve it.

    Where the datablock has no action of its own, or in tweak mode, the actions of its NLA strips are baked, each once
    and in its own time.

    Parameters
    ----------
    datablock : bpy.types.ID
        An object, a camera, a node tree: any datablock with animation of its own.
    output : {"SAMPLES", "CURVES", "HANDLES"}
        SAMPLES: a linear key every `step` frames. CURVES: the fewest Bezier keys within the tolerances, accurate
        between frames, too. Both lock the channels; `free` brings the animator's keys back. HANDLES: no generated keys;
        the handles of the animator's keys approximate the motion. A baked track is freed first.
    step : float
        Frames between samples; may be less than 1.
    extend : (float, float), optional
        First and last frame of a range that lengthens the bake beyond the keys, for cycles and linear extrapolation.
    sample_limit : int
        A bake of more samples than this is refused.
    defaults : mapping, optional
        Parameters, by name, for keys that have none of their own.
    prefixes : iterable of str, optional
        Bake only tracks whose paths start with one of them: 'location', 'pose.bones["Arm"]'.
    value_tolerance : float, optional
        Maximum error of curves, in the property's units; where handles exceed it, a note gives their error. Default:
        1e-4 of the range of the track's keys.
    rotation_tolerance : float
        Maximum error of rotations, in radians. Default: 0.01 degree.
    progress : callable, optional
        Called with the number of tracks done and the number of all. Where it raises, the bake is done first.

    Returns
    -------
    Report
        Counts, errors, and notes on what was not baked.

    Raises
    ------
    AnimationError
        Nothing was baked; the text names the track, the key and the reason.
    TypeError, ValueError
        An argument has a wrong type or an impossible value; the text names it.

    Examples
    --------
    >>> report = animation.bake(ball, step=0.5)
    >>> report.tracks, report.keys, report.samples
    (2, 6, 456)
    >>> bpy.context.scene.frame_set(30)
    >>> round(ball.location.x, 3)
    6.019
    >>> animation.bake(ball, output="HANDLES").samples  # no generated keys are left
    0
    """
    options = Options(
        step,
        extend,
        sample_limit,
        defaults or {},
        output,
        value_tolerance,
        rotation_tolerance,
    )
    only = None if prefixes is None else {datablock: list(prefixes)}
    report = bake_selected([datablock], options, only, progress)
    if report.errors and not report.tracks:
        raise AnimationError(*report.errors)
    return report


@checked
def bake_many(
    datablocks: Datablocks,
    options: Options | None = None,
    prefixes: Iterable[str] | None = None,
    progress: Progress | None = None,
    whole: bool = False,
) -> Report:
    """Bake the TCB tracks of several datablocks as `bake` does; where one has none, enable and bake all of its tracks.

    Tracks that are enabled here get parameters 0 (or the options' defaults), so their look is not kept.

    Parameters
    ----------
    datablocks : iterable of bpy.types.ID
        The datablocks, or a mapping from each datablock to its own prefixes. Those that share an action and slot are
        baked once.
    options : Options, optional
        The options of the bake. Default: those of `bake`.
    prefixes : iterable of str, optional
        As for `bake`.
    progress : callable, optional
        As for `bake`.
    whole : bool
        Leave a datablock unchanged if a key of one of its tracks is at fault; otherwise bake its other tracks.

    Returns
    -------
    Report
        Tracks that can't be baked are in `errors`, with the key, and are not changed; all others are baked.

    Raises
    ------
    TypeError, ValueError
        An argument has a wrong type or an impossible value; the text names it.

    Examples
    --------
    >>> report = animation.bake_many([ball, rig], animation.Options(output="HANDLES"))
    >>> report.objects, report.tracks, report.errors
    (2, 3, [])
    """
    each = by_datablock(datablocks, prefixes)
    only = {datablock: own for datablock, own in each.items() if own is not None}
    return bake_selected(each, Options() if options is None else options, only, progress, whole)
