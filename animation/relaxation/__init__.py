# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation: keys are changed until a condition holds at every frame and between."""
