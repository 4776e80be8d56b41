# SPDX-License-Identifier: GPL-3.0-or-later
"""Binary FBX files assembled by hand: records, a scene with models, and curves on their properties."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TICKS = 46186158000
CUBIC, LINEAR, CONSTANT = 0x8, 0x4, 0x2
AUTO, TCB, USER, NEXT = 0x100, 0x200, 0x400, 0x100
WEIGHTED = 0x3000000


@dataclass
class Record:
    name: str
    values: Sequence[Any] = ()
    inner: Sequence[Record] = ()


@dataclass
class KeyCurve:
    """The keys of one number. `data` contains four floats per key, or is empty."""

    times: Sequence[float]
    values: Sequence[float]
    flags: Sequence[int]
    data: Sequence[Sequence[float]] = ()
    after: str = ""
    """The letter of the extrapolation after the last key, if the file names one."""


@dataclass
class Model:
    name: str
    parent: int = 0
    properties: Mapping[str, Sequence[float]] = field(default_factory=dict)
    curves: Mapping[str, Sequence[KeyCurve | None]] = field(default_factory=dict)
    added: Mapping[str, Sequence[KeyCurve | None]] = field(default_factory=dict)
    """Curves of a second layer, which is added to the first."""


def value_bytes(value: Any) -> bytes:
    """Return the bytes of a property: ints as 64 bits, floats as doubles, and arrays compressed by zlib."""
    if isinstance(value, bytes):
        return b"S" + struct.pack("<I", len(value)) + value
    if isinstance(value, np.ndarray):
        kind = {"float32": b"f", "float64": b"d", "int64": b"l", "int32": b"i"}[value.dtype.name]
        packed = zlib.compress(value.tobytes())
        return kind + struct.pack("<III", len(value), 1, len(packed)) + packed
    if isinstance(value, np.int32):
        return b"I" + struct.pack("<i", value)
    if isinstance(value, int):
        return b"L" + struct.pack("<q", value)
    return b"D" + struct.pack("<d", value)


def record_bytes(record: Record, at: int, wide: bool) -> bytes:
    """Return the bytes of a record at a position in the file, with its nested records."""
    values = b"".join(map(value_bytes, record.values))
    header = struct.Struct("<QQQB" if wide else "<IIIB")
    start = at + header.size + len(record.name) + len(values)
    inner = b""
    for each in record.inner:
        inner += record_bytes(each, start + len(inner), wide)
    if record.inner:
        inner += bytes(header.size)
    head = header.pack(start + len(inner), len(record.values), len(values), len(record.name))
    return head + record.name.encode() + values + inner


def file_bytes(records: Sequence[Record], version: int = 7400) -> bytes:
    data = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", version)
    for record in records:
        data += record_bytes(record, len(data), version >= 7500)
    return data + bytes(25)


def properties(given: Mapping[str, Sequence[Any]]) -> Record:
    return Record(
        "Properties70", (), [Record("P", [name.encode(), b"", b"", b"", *values]) for name, values in given.items()]
    )


def setting(name: str, kind: bytes, label: bytes, value: Any) -> Record:
    return Record("P", [name.encode(), kind, label, b"", value])


AXES = {"UpAxis": 1, "UpAxisSign": 1, "FrontAxis": 2, "FrontAxisSign": 1, "CoordAxis": 0, "CoordAxisSign": 1}
SETTINGS = Record(
    "GlobalSettings",
    (),
    [
        Record(
            "Properties70",
            (),
            [
                *(setting(name, b"int", b"Integer", np.int32(value)) for name, value in AXES.items()),
                setting("UnitScaleFactor", b"double", b"Number", 1.0),
                setting("TimeMode", b"enum", b"", np.int32(11)),
            ],
        )
    ],
)


def curve_record(number: int, curve: KeyCurve) -> Record:
    count = len(curve.times)
    data = np.array(curve.data or np.zeros((count, 4)), dtype=np.float32).ravel()
    arrays = {
        "KeyTime": np.round(np.array(curve.times) * TICKS).astype(np.int64),
        "KeyValueFloat": np.array(curve.values, dtype=np.float32),
        "KeyAttrFlags": np.array(curve.flags, dtype=np.int32),
        "KeyAttrDataFloat": data,
        "KeyAttrRefCount": np.ones(count, dtype=np.int32),
    }
    inner = [Record(name, [array]) for name, array in arrays.items()]
    if curve.after:
        inner.append(Record("Post-Extrapolation", (), [Record("Type", [ord(curve.after)])]))
    return Record("AnimationCurve", [number, b"AnimCurve\0\1AnimCurve", b""], inner)


def scene_bytes(
    models: Sequence[Model], version: int = 7400, weight: KeyCurve | None = None, blend_mode: int = 0
) -> bytes:
    """Return a file with models 1, 2, … (parents are numbers), and one stack with the layers that animate them.

    `weight` contains the weight of the second layer in percent, and `blend_mode` the number of its mode.
    """
    objects = [Record("AnimationStack", [1000, b"Take 001\0\1AnimStack", b""])]
    links = []
    number = 2000
    for layer, name in ((1001, b"BaseLayer"), (1002, b"Added")):
        if layer == 1001 or any(model.added for model in models):
            modes = [properties({"BlendMode": (blend_mode,)})] if layer == 1002 and blend_mode else []
            objects.append(Record("AnimationLayer", [layer, name + b"\0\1AnimLayer", b""], modes))
            links.append(Record("C", [b"OO", layer, 1000]))
    if weight is not None:
        objects += [Record("AnimationCurveNode", [1003, b"Weight\0\1AnimCurveNode", b""]), curve_record(1004, weight)]
        links += [Record("C", [b"OP", 1003, 1002, b"Weight"]), Record("C", [b"OP", 1004, 1003, b"d|Weight"])]
    for index, model in enumerate(models, 1):
        name = model.name.encode() + b"\0\1Model"
        objects.append(Record("Model", [index, name, b"Null"], [properties(model.properties)]))
        links.append(Record("C", [b"OO", index, model.parent]))
        for layer, prop, curves in (
            *((1001, prop, curves) for prop, curves in model.curves.items()),
            *((1002, prop, curves) for prop, curves in model.added.items()),
        ):
            number += 1
            node = number
            objects.append(Record("AnimationCurveNode", [node, b"T\0\1AnimCurveNode", b""]))
            links += [Record("C", [b"OO", node, layer]), Record("C", [b"OP", node, index, prop.encode()])]
            for axis, curve in zip("XYZ", curves, strict=True):
                if curve is not None:
                    number += 1
                    objects.append(curve_record(number, curve))
                    links.append(Record("C", [b"OP", number, node, f"d|{axis}".encode()]))
    parts = [SETTINGS, Record("Objects", (), objects), Record("Connections", (), links)]
    return file_bytes(parts, version)
