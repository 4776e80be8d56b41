# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: its stored form, and the records of keys and tracks in it."""
