# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operation did, in numbers and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import bpy

from .errors import Refusal
from .translation import counted, n_, rpt_

_PLACE = re.compile(r'^"[^"]*"(, ([^":]|"[^"]*")*)?: ')
"""Of what a note is: an object, and perhaps a track and a frame of it."""
_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?")
_ROUNDING = 1e-4
"""Units, or degrees. Of a look, no person sees less."""


class HandleError(TypedDict):
    """How near the handles of a track's keys come to its motion; as it is, JSON."""

    datablock: str
    track: str
    rotation: bool
    error: float
    """The largest: in the property's units, of rotations an angle in degrees."""
    frame: float | None
    """Where that is; None where there was nothing to fit."""


@dataclass
class Report:
    """Adds up over datablocks."""

    datablocks: int = 0
    """Objects, and what they are made of."""
    objects: int = 0
    """The objects among them."""
    tracks: int = 0
    keys: int = 0
    """The animator's: frames at which a track has keys."""
    samples: int = 0
    """Generated keys, all channels together."""
    curve_keys: int = 0
    """Generated Bezier keys, all channels together."""
    value_error: float = 0.0
    """The largest difference of curves or handles from the motion, in the properties' units."""
    rotation_error: float = 0.0
    """The same of rotations: an angle in radians."""
    handles: list[HandleError] = field(default_factory=list)
    """Of each track that handles play."""
    looks_changed: int = 0
    """Tracks of those whose look was kept that play so much otherwise that a person may see it."""
    looks_kept: int = 0
    """Tracks whose keys got the parameters that play most as their curves did before."""
    value_change: float = 0.0
    """The largest difference of these from what was played before, in the properties' units."""
    value_change_at: str = ""
    """The track and the frame of it."""
    rotation_change: float = 0.0
    """The same of rotations: an angle in radians."""
    rotation_change_at: str = ""
    refusals: list[Refusal] = field(default_factory=list)
    """What was asked for and could not be done; what they name was not changed."""
    notes: list[str] = field(default_factory=list)
    """What was left alone, and what a person should know of what was done."""
    standing: list[Refusal] = field(default_factory=list)
    """Those of the notes that hold until the track is otherwise."""

    def add(self, other: Report) -> None:
        self.datablocks += other.datablocks
        self.objects += other.objects
        self.tracks += other.tracks
        self.keys += other.keys
        self.samples += other.samples
        self.curve_keys += other.curve_keys
        self.value_error = max(self.value_error, other.value_error)
        self.rotation_error = max(self.rotation_error, other.rotation_error)
        self.handles += other.handles
        self.refusals += other.refusals
        self.looks_of(other)

    def looks_of(self, other: Report) -> None:
        """Add what the other says of looks that were kept, and its notes."""
        self.looks_kept += other.looks_kept
        self.looks_changed += other.looks_changed
        if other.value_change > self.value_change:
            self.value_change, self.value_change_at = other.value_change, other.value_change_at
        if other.rotation_change > self.rotation_change:
            self.rotation_change, self.rotation_change_at = other.rotation_change, other.rotation_change_at
        self.notes += other.notes
        self.standing += other.standing

    @classmethod
    def on(cls, datablocks: Sequence[bpy.types.ID]) -> Report:
        """The report of something that was done to these."""
        return cls(len(datablocks), sum(isinstance(datablock, bpy.types.Object) for datablock in datablocks))

    @property
    def refused(self) -> list[str]:
        """The errors, in words."""
        return [str(refusal) for refusal in self.refusals if not (refusal.nothing_to_do and self.tracks)]

    @property
    def _changes(self) -> list[tuple[str, str]]:
        """How near a look was kept, and the places that are farthest off, without what is only rounding."""
        degrees = math.degrees(self.rotation_change)
        changes = [(f"{self.value_change:.2g}", self.value_change_at)] if self.value_change > _ROUNDING else []
        turned = [(rpt_("{:.2g} degrees", degrees), self.rotation_change_at)] if degrees > _ROUNDING else []
        return changes + turned

    @property
    def farthest_off(self) -> list[str]:
        """The places whose look is kept worst, with how far it is off."""
        return [rpt_("{place:s}, by {change:s}", place=place, change=change) for change, place in self._changes]

    @property
    def counts(self) -> str:
        """How much it was, and how near, in words."""
        parts = []
        if self.objects:
            parts.append(counted(self.objects, n_("{:,} object"), n_("{:,} objects")))
        others = self.datablocks - self.objects
        if others > 0 and parts:
            parts.append(counted(others, n_("{:,} other datablock"), n_("{:,} other datablocks")))
        elif others > 0:
            parts.append(counted(others, n_("{:,} datablock"), n_("{:,} datablocks")))
        parts.append(_tracks(self.tracks))
        if self.keys:
            parts.append(counted(self.keys, n_("{:,} key"), n_("{:,} keys")))
        if self.samples:
            parts.append(counted(self.samples, n_("{:,} sample"), n_("{:,} samples")))
        if self.curve_keys:
            parts.append(counted(self.curve_keys, n_("{:,} generated key"), n_("{:,} generated keys")))
        if self.value_error:
            parts.append(rpt_("values within {:.2g}", self.value_error) + self._near(rotations=False))
        if self.rotation_error:
            degrees = math.degrees(self.rotation_error)
            parts.append(rpt_("rotations within {:.2g} degrees", degrees) + self._near(rotations=True))
        if self.looks_kept:
            parts.append(self._looks)
        return ", ".join(parts)

    def _near(self, rotations: bool) -> str:
        """Where handles are farthest off, in brackets."""
        errors = [each for each in self.handles if each["rotation"] == rotations]
        frame = max(errors, key=lambda each: each["error"])["frame"] if errors else None
        return "" if frame is None else f" ({rpt_('frame {:g}', round(frame, 2))})"

    @property
    def _looks(self) -> str:
        tracks = _tracks(self.looks_kept)
        within = [change for change, _ in self._changes]
        if not within:
            return rpt_("the look of {:s} kept", tracks)
        if len(within) == 1:
            return rpt_("the look of {:s} kept within {:s}", tracks, within[0])
        values, rotations = within
        return rpt_(
            "the look of {tracks:s} kept within {values:s} and {rotations:s}",
            tracks=tracks,
            values=values,
            rotations=rotations,
        )


def one_of_each(notes: Iterable[str]) -> dict[str, list[str]]:
    """A line for each kind of note, with those that it stands for: the first of them, and how many more say the same of
    others, with other numbers."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(_NUMBERS.sub("", _PLACE.sub("", note)), []).append(note)
    return {
        rpt_("{:s} (and {:d} more so)", alike[0], len(alike) - 1) if len(alike) > 1 else alike[0]: alike
        for alike in kinds.values()
    }


def _tracks(n: int) -> str:
    return counted(n, n_("{:,} track"), n_("{:,} tracks"))
