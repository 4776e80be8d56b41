# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write files that contain keys, and read presets, with only the standard library and NumPy.

Messages are translatable, as in `interp`.

>>> from formats import three_ds
>>> scene = three_ds.Scene(keyframer=three_ds.Keyframer(segment=(0, 30)))
>>> three_ds.read(three_ds.write(scene)).keyframer.segment
(0, 30)
"""
