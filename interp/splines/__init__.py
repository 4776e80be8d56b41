# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines, a file a method; `methods` has all by name."""
