# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and velocities as tables, and back."""
