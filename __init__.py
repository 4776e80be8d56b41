# SPDX-License-Identifier: GPL-3.0-or-later
"""TCB Animation: tension, continuity, bias and ease for Blender's keyframes."""


def register() -> None:
    """Called by Blender when the extension is enabled."""


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
