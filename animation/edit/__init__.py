# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits to tracks: enable, restore, apply and remove TCB, set and paste parameters, insert keys, change timing."""
