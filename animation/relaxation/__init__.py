# SPDX-License-Identifier: GPL-3.0-or-later
"""Relax keys: change them until a condition holds at and between all frames."""
