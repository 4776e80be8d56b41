# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between F-curves and NumPy arrays."""
