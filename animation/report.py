# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of an operation, as numbers and as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import bpy

from .errors import IN_RADIANS, Finding, JsonResult
from .number_text import size_text
from .translation import counted, n_, rpt_

_ROUNDING = 1e-4
"""Changes in the motion smaller than this, in units or degrees, are not visible."""


class HandleError(TypedDict):
    """The error of the handles that play a track, with JSON-compatible fields."""

    datablock: str
    track: str
    rotation: bool
    error: float
    """The maximum error of any component, in the property's units or, for rotations, as an angle in degrees."""
    frame: float | None
    """The frame of the maximum error, or None if nothing was fitted."""
    range: float
    """The value range of the track's keys, or 0 for rotations."""
    approximate: bool
    """True if the error exceeds the tolerance of a bake."""


def handle_error(
    datablock: str,
    track: str,
    error: float,
    frame: float,
    value_range: float,
    *,
    is_rotation: bool,
    is_approximate: bool,
) -> HandleError:
    """Return the entry of a track. `error` is in radians for rotations. `frame` is NaN if nothing was fitted."""
    return {
        "datablock": datablock,
        "track": track,
        "rotation": is_rotation,
        "error": math.degrees(error) if is_rotation else error,
        "frame": frame if math.isfinite(frame) else None,
        "range": 0.0 if is_rotation else value_range,
        "approximate": is_approximate,
    }


@dataclass
class Report(JsonResult):
    """The counts, errors and notes of an operation, accumulated over datablocks."""

    datablocks: int = 0
    """Number of datablocks, which are objects and the datablocks that they use."""
    objects: int = 0
    """Number of objects among the datablocks."""
    tracks: int = 0
    """Number of processed tracks."""
    keys: int = 0
    """Number of frames with the animator's keys, summed over the processed tracks."""
    changed_keys: int = 0
    """Number of frames with keys that `key_set`, `key_whole` or `fix_rotations` inserted or changed, summed over
    tracks."""
    samples: int = 0
    """Number of generated linear keys, summed over all channels."""
    curve_keys: int = 0
    """Number of generated Bezier keys, summed over all channels."""
    value_error: float = 0.0
    """The maximum error of curves or handles, in the units of the properties."""
    rotation_error: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum error in rotations, in radians."""
    values_exact: bool = True
    """False if any error exceeds the float32 rounding of numbers in Blender."""
    rotations_exact: bool = True
    handles: list[HandleError] = field(default_factory=list)
    """One entry for each track that is played by handles."""
    looks_changed: int = 0
    """Number of tracks whose motion was to be preserved but changed visibly."""
    looks_kept: int = 0
    """Number of tracks whose keys received the parameters that best fit the previous motion of the F-curves."""
    value_change: float = 0.0
    """The maximum change in motion that was to be preserved, in the units of the properties."""
    value_change_at: Finding | None = None
    """The track and the frame of the maximum change."""
    rotation_change: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum change in rotations that were to be preserved, in radians."""
    rotation_change_at: Finding | None = None
    errors: list[Finding] = field(default_factory=list)
    """The errors. The tracks and datablocks named in them were not changed."""
    notes: list[Finding] = field(default_factory=list)
    """Notes on skipped tracks and on the result."""

    def add(self, other: Report) -> None:
        """Add the figures, errors and notes from another report."""
        self.datablocks += other.datablocks
        self.objects += other.objects
        self.tracks += other.tracks
        self.keys += other.keys
        self.changed_keys += other.changed_keys
        self.samples += other.samples
        self.curve_keys += other.curve_keys
        self.value_error = max(self.value_error, other.value_error)
        self.rotation_error = max(self.rotation_error, other.rotation_error)
        self.values_exact &= other.values_exact
        self.rotations_exact &= other.rotations_exact
        self.handles += other.handles
        self.errors += other.errors
        self.looks_of(other)

    def looks_of(self, other: Report) -> None:
        """Add the figures on preserved motion, and the notes, from another report."""
        self.looks_kept += other.looks_kept
        self.looks_changed += other.looks_changed
        if other.value_change > self.value_change:
            self.value_change, self.value_change_at = other.value_change, other.value_change_at
        if other.rotation_change > self.rotation_change:
            self.rotation_change, self.rotation_change_at = other.rotation_change, other.rotation_change_at
        self.notes += other.notes

    @classmethod
    def on(cls, datablocks: Sequence[bpy.types.ID], tracks: int = 0) -> Report:
        """Return a new report that counts only these datablocks and tracks."""
        return cls(len(datablocks), sum(isinstance(datablock, bpy.types.Object) for datablock in datablocks), tracks)

    @property
    def refused(self) -> list[Finding]:
        """Return the errors.

        If any track was processed, omit errors about datablocks for which there was nothing to do.
        """
        return [error for error in self.errors if not (error.has_nothing_to_do and self.tracks)]

    @property
    def farthest_off(self) -> list[Finding]:
        """Return the tracks and frames with the largest changes, unless the changes are only rounding errors."""
        findings = (self.value_change_at, self.rotation_change_at)
        return [finding for finding in findings if finding is not None and finding.size > _ROUNDING]

    @property
    def counts(self) -> str:
        """Return the counts and maximum errors as text."""
        phrases = [*self._datablock_counts, _tracks(self.tracks)]
        keys = self.changed_keys or self.keys
        if keys:
            phrases.append(counted(keys, n_("{:,} key"), n_("{:,} keys")))
        if self.samples:
            phrases.append(counted(self.samples, n_("{:,} sample"), n_("{:,} samples")))
        if self.curve_keys:
            phrases.append(counted(self.curve_keys, n_("{:,} generated key"), n_("{:,} generated keys")))
        if not self.values_exact:
            size = size_text(self.value_error)
            phrases.append(rpt_("values within {:s}", size) + self._frame_of_error(rotations=False))
        if not self.rotations_exact:
            angle = size_text(self.rotation_error, is_angle=True)
            phrases.append(rpt_("rotations within {:s}", angle) + self._frame_of_error(rotations=True))
        if self.looks_kept:
            phrases.append(self._preserved_motion)
        return ", ".join(phrases)

    @property
    def _datablock_counts(self) -> list[str]:
        phrases = []
        if self.objects:
            phrases.append(counted(self.objects, n_("{:,} object"), n_("{:,} objects")))
        others = self.datablocks - self.objects
        if others > 0 and self.objects:
            phrases.append(counted(others, n_("{:,} other datablock"), n_("{:,} other datablocks")))
        elif others > 0:
            phrases.append(counted(others, n_("{:,} datablock"), n_("{:,} datablocks")))
        return phrases

    def _frame_of_error(self, rotations: bool) -> str:
        """Return the frame of the maximum error of handles, in parentheses."""
        errors = [error for error in self.handles if error["rotation"] == rotations]
        frame = max(errors, key=lambda error: error["error"])["frame"] if errors else None
        return "" if frame is None else f" ({rpt_('frame {:g}', round(frame, 2))})"

    @property
    def _preserved_motion(self) -> str:
        """Return the number of tracks whose motion was preserved, and the maximum changes."""
        tracks = _tracks(self.looks_kept)
        sizes = [size_text(self.value_change)] if self.value_change > _ROUNDING else []
        if math.degrees(self.rotation_change) > _ROUNDING:
            sizes.append(size_text(self.rotation_change, is_angle=True))
        if not sizes:
            return rpt_("motion of {:s} preserved", tracks)
        within = sizes[0] if len(sizes) == 1 else rpt_("{:s} and {:s}", *sizes)
        return rpt_("motion of {:s} fitted within {:s}", tracks, within)


def one_of_each(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return a mapping from one line per kind of finding to the findings of that kind.

    Findings are of the same kind if they differ only in their numbers and the objects, tracks and frames they name. The
    line is the text of the finding with the largest first number, or else of the first finding. The line includes the
    number of other findings.
    """
    findings_by_kind: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        findings_by_kind.setdefault(finding.kind, []).append(finding)
    lines: dict[str, list[Finding]] = {}
    for similar in findings_by_kind.values():
        line = str(max(similar, key=lambda finding: finding.size))
        if len(similar) > 1:
            line = rpt_("{:s} (and {:d} similar)", line, len(similar) - 1)
        lines[line] = similar
    return lines


def _tracks(count: int) -> str:
    return counted(count, n_("{:,} track"), n_("{:,} tracks"))
