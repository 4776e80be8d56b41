# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators and panels share: properties, selection, handlers, reports."""
