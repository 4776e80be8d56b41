# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn: the diagram of a key's parameters."""

from __future__ import annotations

from . import diagram

_MODULES = (diagram,)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
