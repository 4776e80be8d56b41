# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the publisher from the manifest and the page for PyPI to hatchling's metadata of tcb-splines."""

from __future__ import annotations

import re
from email.utils import parseaddr
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https:)[^)]*\)\n+", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https:)[^)]*\)")


def without_relative_links(page: str) -> str:
    """Return the page without images and links to other files of the repository."""
    return LINK.sub(r"\1", PICTURE.sub("", page))


class PublisherHook(MetadataHookInterface):  # type: ignore[misc]  # mypy's environment has no hatchling
    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        manifest = (root / "blender_manifest.toml").read_text(encoding="utf-8")
        values = dict(re.findall(r'^(maintainer|website) = "([^"]*)"', manifest, re.MULTILINE))
        named = {field: value for field, value in values.items() if "example.org" not in value}
        name, email = parseaddr(named.get("maintainer", ""))
        metadata["authors"] = [{"name": name, "email": email}] if email else []
        metadata["urls"] = {"Homepage": named["website"]} if "website" in named else {}
        page = (root / "docs" / "automate" / "package.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_relative_links(page)}
