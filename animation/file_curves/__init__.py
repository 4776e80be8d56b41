# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore curves of FBX and glTF files on objects that Blender's importers have created."""
