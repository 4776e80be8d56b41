# SPDX-License-Identifier: GPL-3.0-or-later
import bpy

key = bpy.context.window_manager.tcb_preset

key.tension = 0.0
key.continuity = 0.0
key.bias = 0.0
key.ease_to = 1.0
key.ease_from = 1.0
