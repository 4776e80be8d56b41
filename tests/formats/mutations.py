# SPDX-License-Identifier: GPL-3.0-or-later
"""Random changes to the bytes of a file."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

EDGE_NUMBERS = (
    0,
    1,
    5,
    6,
    7,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7FC00000,
)
"""Replacements for lengths, counts, frames and floats, around small counts, limits of 8, 16 and 32 bits, and NaN."""

Mutation = Callable[[random.Random, bytearray, int, Sequence[bytes]], None]
"""A function that changes the bytes at an offset. It may copy from other files."""


def set_byte(rng: random.Random, data: bytearray, offset: int, _: Sequence[bytes]) -> None:
    data[offset : offset + 1] = bytes([rng.randrange(256)])


def set_number(rng: random.Random, data: bytearray, offset: int, _: Sequence[bytes]) -> None:
    size = rng.choice((2, 4))
    data[offset : offset + size] = (rng.choice(EDGE_NUMBERS) % (1 << 8 * size)).to_bytes(size, "little")


def set_length(rng: random.Random, data: bytearray, offset: int, _: Sequence[bytes]) -> None:
    """If a u32 looks like a chunk length (its upper half is 0), change it by up to 8."""
    upper_half = data.find(b"\0\0", offset)
    if upper_half >= 2:
        length = int.from_bytes(data[upper_half - 2 : upper_half + 2], "little")
        data[upper_half - 2 : upper_half + 2] = max(0, length + rng.randint(-8, 8)).to_bytes(4, "little")


def cut_off(_: random.Random, data: bytearray, offset: int, __: Sequence[bytes]) -> None:
    del data[offset:]


def remove_bytes(rng: random.Random, data: bytearray, offset: int, _: Sequence[bytes]) -> None:
    del data[offset : offset + rng.randrange(1, 40)]


def insert_part(rng: random.Random, data: bytearray, offset: int, others: Sequence[bytes]) -> None:
    """Insert part of another file."""
    other = rng.choice(others)
    start = rng.randrange(len(other))
    data[offset:offset] = other[start : start + rng.randrange(1, 200)]


def overwrite_part(rng: random.Random, data: bytearray, offset: int, others: Sequence[bytes]) -> None:
    """Overwrite bytes with part of another file."""
    other = rng.choice(others)
    start = rng.randrange(len(other))
    part = other[start : start + rng.randrange(1, 60)]
    data[offset : offset + len(part)] = part


MUTATIONS: tuple[Mutation, ...] = (
    set_byte,
    set_number,
    set_length,
    cut_off,
    remove_bytes,
    insert_part,
    overwrite_part,
)


def mutate(rng: random.Random, original: bytes, others: Sequence[bytes]) -> bytes:
    """Return the bytes of a file with one to four changes."""
    data = bytearray(original)
    for _ in range(rng.choice((1, 1, 2, 4))):
        offset = rng.randrange(len(data) + 1)
        rng.choice(MUTATIONS)(rng, data, offset, others)
    return bytes(data)
