# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings, errors and reports of operations, as data, as JSON and as text.

A finding is an error or a note. It remains data until it is shown.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict

import bpy

from .messages import MESSAGES, NOTHING_TO_DO
from .text import counted, listed, n_, rpt_, size_text, translated
from .track_paths import channel_name, track_name

IN_RADIANS = {"unit": "radians"}
"""Field metadata for angles, which are in degrees in JSON."""


class JsonResult:
    """A result, as a dataclass, that can be converted to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with angles in degrees and a message for each finding."""
        instance: Any = self
        return {
            field.name: _as_json(getattr(self, field.name), is_angle=field.metadata == IN_RADIANS)
            for field in fields(instance)
        }


def _as_json(value: Any, is_angle: bool = False) -> Any:
    """Return a JSON-compatible value. Numbers that are not finite become None."""
    if isinstance(value, JsonResult):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_json(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return math.degrees(value) if is_angle and value is not None else value


@dataclass(frozen=True)
class Finding(JsonResult):
    """An error or a note about one track, key or datablock. `str()` returns the finding's text."""

    code: str
    """The code of the message, such as LOCKED, which is the same in all languages and versions."""
    object: str = ""
    """The name of the datablock, such as `Ball`, or `Cam (camera)` for a datablock other than an object. Empty for a
    file."""
    track: str = ""
    """The path of the track. Empty if the finding does not concern a single track."""
    frame: float | None = None
    """The frame of the key."""
    arguments: tuple[Any, ...] = ()
    """The values in the message, in order. Each is a string, a number, a tuple of strings or numbers, a pair of a
    number and its unit (`°` or empty), or a quoted finding."""

    @property
    def message(self) -> str:
        """Return the problem and its solution in the user's language."""
        text = MESSAGES[self.code]
        if isinstance(text, tuple):
            singular, plural = text
            count = self.arguments[0]
            if isinstance(count, tuple):
                count = len(count)
            text = singular if count == 1 else plural
        return _Formatter(self.track).vformat(rpt_(text), [_shown(value) for value in self.arguments], {})

    def __str__(self) -> str:
        """Return the message, preceded by the names of the datablock, the track and the key."""
        names = [f'"{self.object}"'] if self.object else []
        names += [track_name(self.track)] if self.track else []
        names += [] if self.frame is None else [rpt_("frame {:g}", self.frame)]
        return f"{', '.join(names)}: {self.message}" if names else self.message

    def on(self, name: str, track: str = "") -> Finding:
        """Return a copy of the finding for this datablock and track, without a frame."""
        return replace(self, object=name, track=track, frame=None)

    @property
    def has_nothing_to_do(self) -> bool:
        """Return whether the finding counts as an error only if nothing could be done for any object."""
        return self.code in NOTHING_TO_DO

    @property
    def size(self) -> float:
        """Return the first number among the arguments, or 0 if there is none."""
        values = map(_first, self.arguments)
        return next((float(value) for value in values if isinstance(value, int | float)), 0.0)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Return a key that is equal for findings that differ only in their numbers, objects, tracks and frames."""
        values = (value.kind if isinstance(value, Finding) else value for value in self.arguments)
        return (self.code, *(value for value in values if isinstance(_first(value), str)))

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a JSON-compatible dictionary, with its message."""
        return {**super().to_dict(), "message": self.message}


class AnimationError(Exception):
    """An error that names the datablock or tracks that were not changed, and the reason for each.

    Attributes
    ----------
    findings : tuple of Finding
        The errors, one for each track.
    """

    def __init__(self, *findings: Finding) -> None:
        super().__init__(*findings)
        self.findings = findings

    def __str__(self) -> str:
        return "; ".join(map(str, self.findings))

    @property
    def message(self) -> str:
        """Return the text without the names of the datablock and the tracks."""
        return "; ".join(finding.message for finding in self.findings)

    def has(self, code: str) -> bool:
        """Return whether any of the findings has this code."""
        return any(finding.code == code for finding in self.findings)


def size_of(number: float, is_angle: bool = False) -> tuple[float, str]:
    """Return a number, or an angle converted to degrees, with its unit, as an argument of a finding."""
    return (math.degrees(number), "°") if is_angle else (float(number), "")


def _first(value: Any) -> Any:
    """Return the first element of a tuple, or any other value."""
    return value[0] if isinstance(value, tuple) and value else value


def _shown(value: Any) -> Any:
    """Return an argument as displayed in the text."""
    if isinstance(value, Finding):
        return str(value)
    return translated(value) if isinstance(value, str) else value


class _Formatter(string.Formatter):
    """Python's formatter, with formats for sizes with units, lists of names or frames, and channels of a track."""

    def __init__(self, track: str) -> None:
        self._track = track

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "size":
            number, unit = value
            return size_text(math.radians(number), is_angle=True) if unit else size_text(number)
        if format_spec == "names":
            return listed([item if isinstance(item, str) else f"{item:g}" for item in value])
        if format_spec == "channels":
            return ", ".join(channel_name(self._track, int(index)) for index in str(value).split(", "))
        return str(super().format_field(value, format_spec))


# Reports


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
            size = size_text(self.value_error).removeprefix("<")
            phrases.append(rpt_("values within {:s}", size) + self._frame_of_error(rotations=False))
        if not self.rotations_exact:
            angle = size_text(self.rotation_error, is_angle=True).removeprefix("<")
            phrases.append(rpt_("rotations within {:s}", angle) + self._frame_of_error(rotations=True))
        if self.looks_kept:
            phrases.append(self._preserved_motion)
        return ", ".join(phrases)

    @property
    def _datablock_counts(self) -> list[str]:
        """Return the phrases that count objects and other datablocks."""
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
