# SPDX-License-Identifier: GPL-3.0-or-later
"""Editing of keys on the paths of objects and bones in the viewport."""
