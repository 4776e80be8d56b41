# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert between F-curves and NumPy arrays."""
