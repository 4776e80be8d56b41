# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake functions for scripts, for one datablock and for several."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..arguments import Count, Datablocks, FrameRange, Parameters, Positive, by_datablock, checked
from ..bake.pipeline import bake as bake_selected
from ..errors import AnimationError
from ..options import BAKE
from ..report import Report
from ..steps import Progress
from ..store.table.stored_bake_options import Options, Output


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
    """Bake the TCB tracks of the datablock. If the datablock has no TCB tracks, enable and bake all its tracks.

    Tracks enabled by this function get the default parameters (0 or `defaults`), which changes their motion. To
    preserve the motion, call `enable(datablock, keep_look=True)` first.

    If the datablock has no action of its own, or is in tweak mode, the actions of its NLA strips are baked. Each action
    is baked once, in action time.

    Parameters
    ----------
    datablock : bpy.types.ID
        Any datablock with its own animation, for example an object, a camera or a node tree.
    output : {"SAMPLES", "CURVES", "HANDLES"}
        SAMPLES writes a linear key every `step` frames. CURVES writes the fewest Bezier keys that reproduce the motion
        within the tolerances, including between frames. SAMPLES and CURVES lock the channels, and `free` restores the
        animator's keys. HANDLES generates no keys. The handles of the animator's keys approximate the motion. A track
        that is already baked is freed first.
    step : float
        Interval between samples in frames, which may be less than 1.
    extend : (float, float), optional
        First and last frames of a range that extends the bake beyond the keys, for cycles and linear extrapolation.
    sample_limit : int
        Maximum number of samples. If more samples would be needed, nothing is baked.
    defaults : mapping, optional
        Parameters by name, for keys that have none of their own.
    prefixes : iterable of str, optional
        Bake only tracks whose paths start with one of the prefixes, for example 'location' or 'pose.bones["Arm"]'.
    value_tolerance : float, optional
        Maximum error of curves and handles, in the property's units. A note reports handles with a larger error.
        Default: 1e-4 of the range of the track's keys.
    rotation_tolerance : float
        Maximum error in rotations, in radians. Default: 0.01 degree.
    progress : callable, optional
        Called with the number of finished tracks and the total number of tracks. If `progress` raises an exception, the
        bake is completed before the exception is raised again.

    Returns
    -------
    Report
        Counts, errors, and notes on tracks that were not baked.

    Raises
    ------
    AnimationError
        Nothing was baked. The error message names the track, the key and the reason.
    TypeError, ValueError
        An argument has the wrong type or an invalid value. The error message names the argument.

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
) -> Report:
    """Bake the TCB tracks of several datablocks (see `bake`). If no track is TCB, enable and bake all tracks.

    Tracks enabled by this function get the default parameters (0, or the parameters in `options`), which changes their
    motion.

    Parameters
    ----------
    datablocks : iterable of bpy.types.ID
        The datablocks, or a mapping from each datablock to its prefixes. Datablocks that share an action and slot are
        baked once.
    options : Options, optional
        Options of the bake. Default: the defaults of `bake`.
    prefixes : iterable of str, optional
        See `bake`.
    progress : callable, optional
        See `bake`.

    Returns
    -------
    Report
        Tracks that can't be baked are not changed, and are listed in `errors` with the key. All other tracks are baked.

    Raises
    ------
    TypeError, ValueError
        An argument has the wrong type or an invalid value. The error message names the argument.

    Examples
    --------
    >>> report = animation.bake_many([ball, rig], animation.Options(output="HANDLES"))
    >>> report.objects, report.tracks, report.errors
    (2, 3, [])
    """
    each = by_datablock(datablocks, prefixes)
    only = {datablock: own for datablock, own in each.items() if own is not None}
    return bake_selected(each, Options() if options is None else options, only, progress)
