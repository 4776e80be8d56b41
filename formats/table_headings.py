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

_TIMES: dict[str, Unit] = {
    **dict.fromkeys(("frame", "frames"), "FRAME"),
    **dict.fromkeys(("seconds", "second", "sec", "s", "time", "t", "time_s", "time [s]", "time (s)"), "SECOND"),
}
_OWNER = r"^(?P<owner>(?:.*?\.)?)"
_LETTER = r"[._ ]?(?P<letter>[wxyz])$"
_ORDERS = "xyz|xzy|yxz|yzx|zxy|zyx"
_LOCATION = re.compile(rf"{_OWNER}(?:location|loc|position|pos|translation|p|t){_LETTER}", re.IGNORECASE)
_BARE = re.compile(r"^(?P<letter>[xyz])$", re.IGNORECASE)
_SCALE = re.compile(rf"{_OWNER}(?:scale|scl){_LETTER}", re.IGNORECASE)
_QUATERNION = re.compile(rf"{_OWNER}(?:rotation_quaternion|quaternion|quat|q){_LETTER}", re.IGNORECASE)
_EULER = re.compile(
    rf"{_OWNER}(?P<word>rotation_euler|euler|rot)(?:_?(?P<order>{_ORDERS}))?(?:_?(?P<unit>degrees|deg|radians|rad))?{_LETTER}",
    re.IGNORECASE,
)
_MATRIX = re.compile(
    rf"{_OWNER}(?:matrix|mat|m)[._ ]?(?:\[(?P<index>\d+)\]|(?P<row>\d)[_ ,]?(?P<column>\d))$", re.IGNORECASE
)
_COMPONENT = re.compile(r"^(?P<path>.+)\[(?P<index>\d{1,4})\]$")
_LETTERED = re.compile(r"^(?P<path>.+[\w\]])\.(?P<letter>[wxyzrgba])$")
_INDEX = {**dict(zip("xyz", range(3), strict=True)), **dict(zip("rgba", range(4), strict=True))}
_WITH_W = "wxyz"


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
    return _TIMES.get(name.strip().lower())


def heading_of(name: str) -> Heading:
    """Return the contents of a column with this name. Raises HeadingError."""
    name = name.strip()
    for found in (_LOCATION.match(name), _BARE.match(name)):
        if found and found["letter"].lower() in _INDEX:
            return Heading(_owner(found) + "location", _INDEX[found["letter"].lower()])
    found = _SCALE.match(name)
    if found and found["letter"].lower() in _INDEX:
        return Heading(_owner(found) + "scale", _INDEX[found["letter"].lower()])
    found = _QUATERNION.match(name)
    if found:
        return Heading(_owner(found) + "rotation", _WITH_W.index(found["letter"].lower()), "QUATERNION")
    found = _EULER.match(name)
    if found and found["letter"].lower() in _INDEX:
        return _euler(name, found)
    found = _MATRIX.match(name)
    if found:
        path = _owner(found) + "matrix"
        if found["index"]:
            return Heading(path, int(found["index"]), "MATRIX")
        return Heading(path, int(found["column"]), "MATRIX", row=int(found["row"]))
    return _any_path(name)


def _owner(found: re.Match[str]) -> str:
    return found.groupdict().get("owner") or ""


def _euler(name: str, found: re.Match[str]) -> Heading:
    own = found["word"].lower() == "rotation_euler"
    order, unit = (found["order"] or "").upper(), (found["unit"] or "").lower()
    if not own and not order:
        text = n_("{:s}: specify the order of the Euler angles, as in euler_xyz_degrees.{:s}", name, found["letter"])
        raise HeadingError(text)
    if not own and not unit:
        column = f"euler_{order.lower()}_degrees.{found['letter']}"
        raise HeadingError(n_("{:s}: specify degrees or radians, as in {:s}", name, column))
    index = _INDEX[found["letter"].lower()]
    degrees = unit.startswith("deg")
    return Heading(_owner(found) + "rotation", index, "EULER", order=order, degrees=degrees)


def _any_path(name: str) -> Heading:
    found = _COMPONENT.match(name)
    if found:
        return Heading(found["path"], int(found["index"]))
    found = _LETTERED.match(name)
    if found and found["path"].endswith("rotation_axis_angle") and found["letter"] in _WITH_W:
        return Heading(found["path"], _WITH_W.index(found["letter"]))
    if found and found["letter"] in _INDEX:
        return Heading(found["path"], _INDEX[found["letter"]])
    if not name:
        raise HeadingError(n_("the heading is empty"))
    return Heading(name, 0, is_single=True)


def names_of(path: str, form: Form, components: tuple[int, ...], order: str = "", is_single: bool = False) -> list[str]:
    """Return the headings with which this project writes a property's columns. Euler angles are in radians."""
    owner = path.removesuffix("rotation")
    if form == "QUATERNION":
        return [f"{owner}quaternion.{_WITH_W[index]}" for index in components]
    if form == "EULER":
        return [f"{owner}euler_{order.lower()}_radians.{'xyz'[index]}" for index in components]
    if is_single:
        return [path]
    if re.search(r"(^|\.)(location|scale)$", path):
        return [f"{path}.{'xyz'[index]}" for index in components]
    return [f"{path}[{index}]" for index in components]
