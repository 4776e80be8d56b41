# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions for what can't be done; their texts name the object, the track, the key and the reason."""

from __future__ import annotations

from .translation import n_, rpt_

# Reasons that several modules give.
FRAME_NOT_FINITE = n_("a key stands at a frame that is not a finite number")
KEYED_APART = n_("its channels are keyed at different frames; key them together first")
LOCKED = n_("locked; unlock its channels first")
EDITED_OUTSIDE = n_(
    "edited outside: its curves were changed after the bake. Apply keeps the curves. "
    "Free Bake with Discard Edits brings back the saved keys "
    "(script: free(discard_edits=True); command: free --discard-edits)"
)
TABLE_LOST = n_(
    "baked, but its table is gone. Remove TCB keeps the keys with an identity and drops the generated ones. "
    "Apply keeps the curves"
)
NOT_TCB = n_("not a TCB track; enable it first")
NO_FLOAT_KEYS = n_("it has no keys on a float property")
PLAYED_NOT_FINITE = n_("what it plays is not a finite number")
VALUE_NOT_FINITE = n_("its value is not a finite number")


class Note(str):
    """The text of a note, with the names of the datablock and the track that it is about."""

    name: str
    track: str

    def __new__(cls, text: str, name: str, track: str) -> Note:
        """Make the note of its whole text."""
        note = super().__new__(cls, text)
        note.name, note.track = name, track
        return note


class FreeNote(str):
    """The text of a note on baked tracks to which Free Bake is the answer."""


def note_on(name: str, text: str, track: str = "", frame: float | None = None) -> str:
    """Return, as a `Note`, the text behind the names of the datablock, the track and the key that it is about."""
    place = [f'"{name}"']
    if track:
        place.append(track)
    if frame is not None:
        place.append(rpt_("frame {:g}", frame))
    return Note(f"{', '.join(place)}: {text}", name, track)


class AnimationError(Exception):
    """A datablock, or one track of it, that is left as it is; the text says which and why.

    Attributes
    ----------
    name : str
        The name of the datablock.
    track : str
        The path of the track with the problem; empty where it is not one track's.
    frame : float or None
        The frame of the key with the problem.
    reason : str
        The problem, in the user's language.
    nothing_to_do : bool
        True where this is an error only if nothing else was done: some of several objects may have nothing to work on.
    """

    def __init__(
        self, name: str, reason: str, track: str = "", frame: float | None = None, nothing_to_do: bool = False
    ) -> None:
        self.name = name
        self.track = track
        self.frame = frame
        self.reason = reason
        self.nothing_to_do = nothing_to_do
        self._parts: list[AnimationError] = []
        super().__init__(note_on(name, reason, track, frame))

    @property
    def parts(self) -> list[AnimationError]:
        """Return the errors that were joined into this one, or this one alone."""
        return self._parts or [self]

    @classmethod
    def of_all(cls, errors: list[AnimationError]) -> AnimationError:
        """Join several errors, each of which names its own track, into one that has them as its `parts`."""
        if len(errors) == 1:
            return errors[0]
        whole = cls(errors[0].name, "; ".join(error.reason for error in errors))
        whole.args = ("; ".join(map(str, errors)),)
        whole._parts = errors
        return whole


class LayeredActionError(AnimationError):
    """The action has more than one layer or strip, so what plays is not its keys alone: nobody reads or writes them."""


class TooManySamplesError(AnimationError):
    """A bake, all its datablocks together, of more samples than the limit; `count` is their number."""

    def __init__(self, name: str, reason: str, count: float) -> None:
        super().__init__(name, reason)
        self.count = count
