# SPDX-License-Identifier: GPL-3.0-or-later
"""The files and the options of a run of the command."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

_WITHOUT_EFFECT = frozenset(
    (
        "blender",
        "dry_run",
        "files",
        "files_from",
        "in_place",
        "jobs",
        "json",
        "output",
        "relative_to",
        "skip_done",
        "worker",
    )
)
"""Arguments that do not affect the content of a result."""
RESULT_SUFFIXES = {"import": ".blend", "export": ".3ds", "export-table": ".csv"}
"""Suffixes of results that cannot replace the input file."""


class File(NamedTuple):
    """A file to process."""

    source: Path
    target: Path | None
    """The path of the result with links resolved, or None if nothing is written."""


@dataclass(frozen=True)
class Job:
    """A run of a verb."""

    given: argparse.Namespace
    """The arguments by name."""
    request: Any
    """The verb's options as one object, for functions of `animation` that take one."""
    files: list[File]
    makes_folder: bool = True
    """True if the folder of the results may be created."""

    @property
    def verb(self) -> str:
        return str(self.given.verb)

    @property
    def suffix(self) -> str:
        """Return the suffix of the results."""
        return RESULT_SUFFIXES.get(self.verb, ".blend")

    @property
    def work(self) -> str:
        """Return the verb, or a more specific name if options change the operation.

        "no-velocities" removes written velocities, and "enable-and-bake" also bakes tracks that were not TCB.
        """
        if self.verb == "bake" and (self.given.enable or self.given.objects):
            return "enable-and-bake"
        return "no-velocities" if self.verb == "velocities" and self.given.remove else self.verb

    @property
    def makes_new_files(self) -> bool:
        """Return whether every file has a result, even a file without animation."""
        return self.verb in ("import", "import-table") or self.suffix != ".blend"

    @property
    def inputs(self) -> list[str]:
        """Return the files on which all results depend."""
        names = (getattr(self.given, name, None) for name in ("table", "model"))
        return [os.path.realpath(name) for name in names if isinstance(name, str)]

    @property
    def options_of_result(self) -> dict[str, Any]:
        """Return the arguments, except files, that affect the content of a result, as read from JSON."""
        options = {name: value for name, value in vars(self.given).items() if name not in _WITHOUT_EFFECT}
        read: dict[str, Any] = json.loads(json.dumps(options))
        return read
