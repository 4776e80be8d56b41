# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in Blender: when it looks for edits, which scene's settings it takes, and what it says."""
