# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages in English that can be translated later, from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # A checkout on the path of modules, where `formats` and `interp` are packages by themselves.
    from interp.messages import Text, n_
else:
    from ..interp.messages import Text, n_

__all__ = ["Text", "n_"]
