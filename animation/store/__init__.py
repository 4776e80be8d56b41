# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs to keys and tracks, and where it lies."""
