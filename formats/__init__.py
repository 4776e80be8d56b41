# SPDX-License-Identifier: GPL-3.0-or-later
"""Files to keys and back. Standard library and NumPy only; imports nothing else of this project.

>>> from formats import three_ds
>>> scene = three_ds.Scene(keyframer=three_ds.Keyframer(segment=(0, 30)))
>>> three_ds.read(three_ds.write(scene)).keyframer.segment
(0, 30)
"""

from . import table, three_ds

__all__ = ["table", "three_ds"]
