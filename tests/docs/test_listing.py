# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts and pictures for extensions.blender.org have the required sizes."""

from __future__ import annotations

import re
import struct

import pytest

from .documents import ROOT

LISTING = ROOT / "docs" / "listing"
DESCRIPTION = (LISTING / "description.md").read_text(encoding="utf-8")
SCREENSHOTS = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", DESCRIPTION)


def size_of(name: str) -> tuple[int, int]:
    """Return the width and height in the header of a PNG."""
    content = (LISTING / name).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


@pytest.mark.parametrize(
    ("name", "size"), [("icon.png", (256, 256)), *((name, (1920, 1080)) for name in ("featured.png", *SCREENSHOTS))]
)
def test_a_picture_has_the_size_of_the_platform(name, size):
    assert size_of(name) == size


def test_a_screenshot_is_below_a_megabyte_and_has_a_caption():
    pictures = {file.name for file in LISTING.glob("*.png")} - {"icon.png", "featured.png"}
    assert pictures == set(SCREENSHOTS)
    assert [name for name in pictures if (LISTING / name).stat().st_size >= 1_000_000] == []


def test_the_description_has_at_most_400_words():
    assert len(DESCRIPTION.split()) <= 400
