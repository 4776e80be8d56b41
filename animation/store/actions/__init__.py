# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for actions: the Live switch, and maintenance of tables."""
