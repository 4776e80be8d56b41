# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation of keys, which changes them until a condition holds at and between all frames."""
