# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of keys: set, reset, pasted, recorded and restored."""
