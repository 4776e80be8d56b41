# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchange between Blender's scenes and other programs' files; `formats` reads and writes their bytes."""
