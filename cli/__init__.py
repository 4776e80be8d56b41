# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `blender --command tcb VERB FILE…`, which processes files without a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

__all__ = ["main", "register", "unregister"]

_registered: list[Any] = []


def main(arguments: Sequence[str], program: str = "", start: Sequence[str] = ()) -> int:
    """Run the command with `run.main`, imported on demand, and return its exit status."""
    from .run import PROGRAM, main

    return main(arguments, program or PROGRAM, start)


def _command(arguments: Sequence[str]) -> int:
    """Run the command in a separate process."""
    from .streams import end_at_once_by_signals

    end_at_once_by_signals()
    return main(arguments)


def register() -> None:
    _registered.append(bpy.utils.register_cli_command("tcb", _command))


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
