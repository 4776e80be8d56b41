# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a binary FBX file, read on demand, and the properties of objects.

A record has a name, properties, and nested records. Only the requested records are read, so meshes and images cost no
time.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, n_
from ..motion import VALUE_LIMIT, MotionError, check_count

_MAGIC = b"Kaydara FBX Binary  \0\x1a\0"
_VERSION = struct.Struct("<I")
_HEADER_SIZE = len(_MAGIC) + _VERSION.size
_NARROW, _WIDE = struct.Struct("<IIIB"), struct.Struct("<QQQB")
"""The header of a record: its end, the number and size of its properties, and the length of its name."""
_FIRST_WIDE = 7500
"""The first version with wide headers."""
_OLDEST, _NEWEST = 7100, 7999
"""The supported versions. The newest known version is 7700."""
_NUMBERS = {
    b"Y": struct.Struct("<h"),
    b"C": struct.Struct("<?"),
    b"B": struct.Struct("<?"),
    b"I": struct.Struct("<i"),
    b"F": struct.Struct("<f"),
    b"D": struct.Struct("<d"),
    b"L": struct.Struct("<q"),
}
_ARRAYS = {b"f": "<f4", b"d": "<f8", b"l": "<i8", b"i": "<i4", b"b": "<u1", b"c": "<u1"}
_ARRAY = struct.Struct("<III")
"""The header of an array: its number of elements, its encoding, and its size in the file."""
_LENGTH = struct.Struct("<I")
_PLAIN, _ZLIB = 0, 1
Properties = Mapping[str, list[Any]]
NO_PROPERTIES: Properties = {}


def read_records(data: bytes) -> Record:
    """Return a record that contains all records of a file.

    Raises MotionError if the data is not a binary FBX file of a supported version.
    """
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEADER_SIZE:
        is_text_file = data[:4096].lstrip().startswith(b";") and b"FBX" in data[:4096]
        raise MotionError(n_("a text FBX file. Save it as binary") if is_text_file else n_("not an FBX file"))
    (version,) = _VERSION.unpack_from(data, len(_MAGIC))
    if not _OLDEST <= version <= _NEWEST:
        raise MotionError(
            n_("FBX version {:d} is not supported. Only versions {:d} to {:d} are supported", version, _OLDEST, _NEWEST)
        )
    header = _WIDE if version >= _FIRST_WIDE else _NARROW
    return Record(data, header, "", _HEADER_SIZE, 0, _HEADER_SIZE, len(data))


@dataclass(frozen=True, eq=False)
class Record:
    """A record, given by the positions of its properties and nested records."""

    data: bytes
    header: struct.Struct
    name: str
    start: int
    """The first byte of the properties."""
    count: int
    """The number of properties."""
    inner: int
    """The first byte of the nested records."""
    end: int

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    @cached_property
    def _records(self) -> list[Record]:
        """Return the nested records, up to a record of length 0."""
        records = []
        data, header, position = self.data, self.header, self.inner
        while position + header.size <= self.end:
            end, count, size, name_size = header.unpack_from(data, position)
            if not end:
                break
            name_start = position + header.size
            start = name_start + name_size
            if not start + size <= end <= self.end:
                raise MotionError(n_("the record at byte {:d} extends past the end of its parent", position))
            name = data[name_start:start].decode("ascii", "replace")
            records.append(Record(data, header, name, start, count, start + size, end))
            position = end
        return records

    def find(self, name: str) -> Record | None:
        """Return the first nested record with this name."""
        return next((record for record in self if record.name == name), None)

    @cached_property
    def values(self) -> list[Any]:
        """Return the properties as numbers, bytes, or None for arrays."""
        values: list[Any] = []
        position = self.start
        for _ in range(self.count):
            kind = self.data[position : position + 1]
            position += 1
            if kind in _NUMBERS:
                number = _NUMBERS[kind]
                self._check(position + number.size)
                values.append(number.unpack_from(self.data, position)[0])
                position += number.size
            elif kind in (b"S", b"R"):
                self._check(position + _LENGTH.size)
                (size,) = _LENGTH.unpack_from(self.data, position)
                position += _LENGTH.size
                self._check(position + size)
                values.append(self.data[position : position + size])
                position += size
            elif kind in _ARRAYS:
                self._check(position + _ARRAY.size)
                position += _ARRAY.size + _ARRAY.unpack_from(self.data, position)[2]
                self._check(position)
                values.append(None)
            else:
                raise MotionError(
                    n_("the record {:s} at byte {:d} has a property of unknown type", self.name, self.start)
                )
        return values

    def _check(self, end: int) -> None:
        """Raise MotionError if a property that ends at this byte extends past the properties."""
        if end > self.inner:
            raise MotionError(n_("the record {:s} at byte {:d} ends within a property", self.name, self.start))

    def array(self) -> npt.NDArray[Any]:
        """Return the first property, which must be an array."""
        position = self.start + 1
        kind = self.data[self.start : position]
        if not self.count or kind not in _ARRAYS:
            raise MotionError(n_("the record {:s} at byte {:d} has no array", self.name, self.start))
        self._check(position + _ARRAY.size)
        count, encoding, size = _ARRAY.unpack_from(self.data, position)
        position += _ARRAY.size
        self._check(position + size)
        check_count(count, self.name)
        dtype = np.dtype(_ARRAYS[kind])
        content = self._decompressed(self.data[position : position + size], encoding, count * dtype.itemsize)
        return np.frombuffer(content, dtype, count)

    def _decompressed(self, content: bytes, encoding: int, size: int) -> bytes:
        """Return the content of an array, which must have this size in bytes."""
        if encoding == _ZLIB:
            try:
                # Limit the output to one byte more than expected, because damaged data may expand a thousandfold.
                content = zlib.decompressobj().decompress(content, size + 1)
            except zlib.error as error:
                raise MotionError(n_("the array {:s} at byte {:d}: {}", self.name, self.start, error)) from error
        elif encoding != _PLAIN:
            raise MotionError(n_("the array {:s} at byte {:d} has an unknown encoding", self.name, self.start))
        if len(content) != size:
            raise MotionError(
                n_("the array {:s} at byte {:d} has {:d} bytes, not {:d}", self.name, self.start, len(content), size)
            )
        return content


def read_properties(record: Record) -> Properties:
    """Return the values of an object's properties, by name."""
    # A property is a record with name, type, label, flags and values.
    rows = (entry.values for entry in record.find("Properties70") or () if entry.name == "P")
    return {str(row[0], "utf-8", "replace"): row[4:] for row in rows if len(row) > 4 and isinstance(row[0], bytes)}


def read_template(root: Record, kind: str) -> Properties:
    """Return the default properties of objects of a kind, such as "Model"."""
    for record in root.find("Definitions") or ():
        if record.name == "ObjectType" and record.values[:1] == [kind.encode()]:
            template = record.find("PropertyTemplate")
            return read_properties(template) if template else NO_PROPERTIES
    return NO_PROPERTIES


def number(properties: Properties, name: str, default: float) -> float:
    """Return a number, or the default if it is missing or damaged."""
    value = properties.get(name, [default])[0]
    return float(value) if _is_number(value) else default


def vector(properties: Properties, name: str, default: float = 0.0) -> Float64Array:
    """Return three numbers, shape (3,), each the default if any of them is missing or damaged."""
    values = properties.get(name, [])[:3]
    is_valid = len(values) == 3 and all(map(_is_number, values))
    return np.array(values if is_valid else [default] * 3, dtype=np.float64)


def integer(properties: Properties, name: str, default: int) -> int:
    """Return an integer, or the default if it is missing or of another type."""
    value = properties.get(name, [default])[0]
    return value if isinstance(value, int) else default


def choice(properties: Properties, name: str, count: int, unknown: int, missing: int = 0) -> int:
    """Return the number of an enumeration's item, from 0 to `count` - 1, or the number for unknown or missing items."""
    item = integer(properties, name, unknown) if name in properties else missing
    return item if 0 <= item < count else unknown


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < VALUE_LIMIT
