# SPDX-License-Identifier: GPL-3.0-or-later
"""Import translatable English messages from `interp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "formats":
    # In a checkout on the module path, `formats` and `interp` are top-level packages.
    from interp.messages import Text, n_
else:
    from ..interp.messages import Text, n_

__all__ = ["Text", "n_"]
