# SPDX-License-Identifier: GPL-3.0-or-later
"""Why something can't be done, in words that name the object, the track, the key and the fault."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818  it names what happened, and to the user it is no error of the program's
    """A datablock, or one track of it, is left as it is; the text says which and why."""

    def __init__(self, name: str, reason: str, track: str = "", frame: float | None = None) -> None:
        self.name = name
        self.track = track
        self.frame = frame
        self.reason = reason
        place = [f'"{name}"']
        if track:
            place.append(track)
        if frame is not None:
            place.append(f"frame {frame:g}")
        super().__init__(f"{', '.join(place)}: {reason}")

    @classmethod
    def of_all(cls, name: str, texts: list[str]) -> Refusal:
        """One refusal that says all of these, each of which names its track by itself."""
        refusal = cls(name, "; ".join(texts))
        refusal.args = ("; ".join(texts),)
        return refusal
