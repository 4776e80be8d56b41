# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of the verb `info`."""

from __future__ import annotations

from typing import Any

from ..animation.checks.track_state import STATES
from ..animation.translation import counted, iface_, n_, rpt_
from ..interp.keys import WORDS
from .outcome import Outcome

_PARAMETERS = {**WORDS, "velocity": n_("velocity")}


def list_of_tracks(outcome: Outcome) -> str:
    """Return the tracks of `info` below their datablocks."""
    lines = [f"{outcome.file}: {rpt_('Found {:s}', outcome.report.counts)}"]
    lines += [f"  {rpt_('missing library {:s}', path)}" for path in outcome.results["missing_libraries"]]
    for datablock in outcome.results["animated"]:
        lines.append(_title(datablock))
        lines += [f"    {_track(track)}" for track in datablock["tracks"]]
    return "\n".join(lines) + "\n"


def _title(datablock: dict[str, Any]) -> str:
    """Return the name, type and action of a datablock as text."""
    known = [datablock[name] for name in ("name", "type", "action")]
    text = n_('"{:s}" ({:s}, linked), action "{:s}"') if datablock["linked"] else n_('"{:s}" ({:s}), action "{:s}"')
    return f"  {rpt_(text, *known)}"


def _track(track: dict[str, Any]) -> str:
    """Return the state, method, keys and parameters of a track as text."""
    method = track["method"]
    ends = ["?" if track[end] is None else f"{track[end]:g}" for end in ("first", "last")]
    # If a track was edited outside TCB, the reason that blocks it includes the state.
    parts = [] if track["state"] == STATES["EDITED_OUTSIDE"] else [iface_(track["state"])]
    if track["state"] != STATES["PLAIN"]:
        parts.append(rpt_("method {:s}", method))
    parts.append(rpt_("{:s} from frame {:s} to {:s}", _key_count(track["keys"]), *ends))
    if track["samples"]:
        parts.append(counted(track["samples"], n_("{:,} sample"), n_("{:,} samples")))
    if track["curve_keys"]:
        parts.append(counted(track["curve_keys"], n_("{:,} generated key"), n_("{:,} generated keys")))
    parts += [f"{rpt_(_PARAMETERS[name])}: {_key_count(count)}" for name, count in track["parameters"].items()]
    if track["approximate"]:
        parts.append(rpt_("approximate"))
    if track["retimed"]:
        parts.append(rpt_("retimed"))
    if track["blocked"]:
        parts.append(track["blocked"]["message"])
    return f"{track['track']}: {', '.join(parts)}"


def _key_count(count: int) -> str:
    return counted(count, n_("{:,} key"), n_("{:,} keys"))
