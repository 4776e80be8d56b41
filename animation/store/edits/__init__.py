# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of a channel's keys with those that were written: what edits did to each."""
