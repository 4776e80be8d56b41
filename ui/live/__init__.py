# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in Blender: detection of edits, choice of the scene's settings, and messages."""
