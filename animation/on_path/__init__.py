# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are edited where they are seen: on the paths of objects and bones through the world."""
