# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves of FBX and glTF files, put on what Blender's importers have made of these files."""
