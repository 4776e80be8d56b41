# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules shared by operators and panels: properties, selection, Live and reports."""
