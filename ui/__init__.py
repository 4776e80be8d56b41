# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that operators and panels share: properties, selection, Live, reports."""
