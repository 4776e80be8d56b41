# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert between Blender scenes and the files of other programs, which `formats` reads and writes."""
