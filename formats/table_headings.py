# SPDX-License-Identifier: GPL-3.0-or-later
"""The headings of table columns, each of which names a property, a component and a unit.

A heading names a property by Blender's path, and its component in square brackets or by its letter:
`rotation_axis_angle[0]`, `["speed"]`, `pose.bones["Arm"].location.x`. Locations, rotations, scales and matrices also
have short names, which other programs write. Names of rotations distinguish between quaternions, Euler angles and
matrices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .errors import FileError
from .interp import n_

Unit = Literal["FRAME", "SECOND"]
Form = Literal["VALUE", "QUATERNION", "EULER", "MATRIX"]

_UNIT_OF_NAME: dict[str, Unit] = {
    **dict.fromkeys(("frame", "frames"), "FRAME"),
    **dict.fromkeys(("seconds", "second", "sec", "s", "time", "t", "time_s", "time [s]", "time (s)"), "SECOND"),
}
_OWNER = r"^(?P<owner>(?:.*?\.)?)"
_LETTER = r"[._ ]?(?P<letter>[wxyz])$"
_ORDERS = "xyz|xzy|yxz|yzx|zxy|zyx"
_LOCATION = re.compile(rf"{_OWNER}(?:location|loc|position|pos|translation|p|t){_LETTER}", re.IGNORECASE)
_BARE_LETTER = re.compile(r"^(?P<letter>[xyz])$", re.IGNORECASE)
_SCALE = re.compile(rf"{_OWNER}(?:scale|scl){_LETTER}", re.IGNORECASE)
_QUATERNION = re.compile(rf"{_OWNER}(?:rotation_quaternion|quaternion|quat|q){_LETTER}", re.IGNORECASE)
_EULER = re.compile(
    rf"{_OWNER}(?P<word>rotation_euler|euler|rot)(?:_?(?P<order>{_ORDERS}))?(?:_?(?P<unit>degrees|deg|radians|rad))?{_LETTER}",
    re.IGNORECASE,
)
_MATRIX = re.compile(
    rf"{_OWNER}(?:matrix|mat|m)[._ ]?(?:\[(?P<index>\d{{1,4}})\]|(?P<row>\d)[_ ,]?(?P<column>\d))$", re.IGNORECASE
)
_COMPONENT = re.compile(r"^(?P<path>.+)\[(?P<index>\d{1,4})\]$")
_LETTERED = re.compile(r"^(?P<path>.+[\w\]])\.(?P<letter>[wxyzrgba])$")
_INDEX_OF_LETTER = {**dict(zip("xyz", range(3), strict=True)), **dict(zip("rgba", range(4), strict=True))}
_W_FIRST = "wxyz"
"""The letters of quaternions and of axis-angle rotations."""


class HeadingError(FileError):
    """A heading that does not name a property, or does not specify its order or unit."""


@dataclass(frozen=True)
class Heading:
    """The property and component in a column.

    Attributes
    ----------
    path : str
        Blender's path. Paths of rotations end in "rotation", and paths of matrices in "matrix".
    index : int
        The component. For a matrix element, this is its column or, if `row` is None, its index counted row by row.
    row : int or None
        The row of a matrix element if the heading names its row and column, counted from 0 or 1 as in the file.
    """

    path: str
    index: int
    form: Form = "VALUE"
    row: int | None = None
    order: str = ""
    """The order of Euler angles. If empty, the order of the object is used."""
    degrees: bool = False
    is_single: bool = False
    """True if the heading names no component because its property has only one."""


def time_of(name: str) -> Unit | None:
    """Return the unit of time of a column with this name, or None if it does not contain times."""
    return _UNIT_OF_NAME.get(name.strip().lower())


def heading_of(name: str) -> Heading:
    """Return the contents of a column with this name. Raises HeadingError."""
    name = name.strip()
    for pattern, path in ((_LOCATION, "location"), (_BARE_LETTER, "location"), (_SCALE, "scale")):
        match = pattern.match(name)
        if match and match["letter"].lower() in _INDEX_OF_LETTER:
            return Heading(_owner(match) + path, _INDEX_OF_LETTER[match["letter"].lower()])
    match = _QUATERNION.match(name)
    if match:
        return Heading(_owner(match) + "rotation", _W_FIRST.index(match["letter"].lower()), "QUATERNION")
    match = _EULER.match(name)
    if match and match["letter"].lower() in _INDEX_OF_LETTER:
        return _euler_heading(name, match)
    match = _MATRIX.match(name)
    if match:
        path = _owner(match) + "matrix"
        if match["index"]:
            return Heading(path, int(match["index"]), "MATRIX")
        return Heading(path, int(match["column"]), "MATRIX", row=int(match["row"]))
    return _path_heading(name)


def _owner(match: re.Match[str]) -> str:
    return match.groupdict().get("owner") or ""


def _euler_heading(name: str, match: re.Match[str]) -> Heading:
    order, unit = (match["order"] or "").upper(), (match["unit"] or "").lower()
    # Blender's own path has the order of the object, and radians.
    is_blender_path = match["word"].lower() == "rotation_euler"
    if not is_blender_path and not order:
        text = n_("{:s}: specify the order of the Euler angles, as in euler_xyz_degrees.{:s}", name, match["letter"])
        raise HeadingError(text)
    if not is_blender_path and not unit:
        column = f"euler_{order.lower()}_degrees.{match['letter']}"
        raise HeadingError(n_("{:s}: specify degrees or radians, as in {:s}", name, column))
    index = _INDEX_OF_LETTER[match["letter"].lower()]
    return Heading(_owner(match) + "rotation", index, "EULER", order=order, degrees=unit.startswith("deg"))


def _path_heading(name: str) -> Heading:
    """Return the contents of a column that is named by a path."""
    match = _COMPONENT.match(name)
    if match:
        return Heading(match["path"], int(match["index"]))
    match = _LETTERED.match(name)
    if match and match["path"].endswith("rotation_axis_angle") and match["letter"] in _W_FIRST:
        return Heading(match["path"], _W_FIRST.index(match["letter"]))
    if match and match["letter"] in _INDEX_OF_LETTER:
        return Heading(match["path"], _INDEX_OF_LETTER[match["letter"]])
    if not name:
        raise HeadingError(n_("the heading is empty"))
    return Heading(name, 0, is_single=True)


def names_of(path: str, form: Form, components: tuple[int, ...], order: str = "", is_single: bool = False) -> list[str]:
    """Return the headings with which this project writes a property's columns. Euler angles are in radians."""
    owner = path.removesuffix("rotation")
    if form == "QUATERNION":
        return [f"{owner}quaternion.{_W_FIRST[index]}" for index in components]
    if form == "EULER":
        return [f"{owner}euler_{order.lower()}_radians.{'xyz'[index]}" for index in components]
    if is_single:
        return [path]
    if re.search(r"(^|\.)(location|scale)$", path):
        return [f"{path}.{'xyz'[index]}" for index in components]
    return [f"{path}[{index}]" for index in components]
