# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of other programs into Blender's scenes and back. Their bytes are the business of `formats`."""
