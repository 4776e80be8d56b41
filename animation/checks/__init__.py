# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure and relax motion: conditions, joints, continuity."""
