# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of all findings, indexed by codes that scripts and tools can rely on.

A pair contains the singular and plural texts, and its first argument is the count. In addition to Python's formats,
`{:size}` formats a number with its unit, and `{:names}` lists the first few names or frames.
"""

from __future__ import annotations

from .text import n_

MESSAGES: dict[str, str | tuple[str, str]] = {
    # Datablocks that cannot be edited.
    "NO_ANIMATION": n_("no animation"),
    "ONLY_IN_STRIPS": n_(
        "all animation is in NLA strips. Enter tweak mode on a strip first (in Python: animation_data.use_tweak_mode)"
    ),
    "NO_SLOT": n_('action "{:s}" has no slot for this datablock. Choose a slot first'),
    "NO_FCURVES": n_('action "{:s}" has no F-curves for this datablock'),
    "LAYERED": n_(
        'action "{:s}" has more than one layer or strip (layers: {:d}, strips: {:d}). Merge them first with '
        "Object > Animation > Bake Action"
    ),
    "LINKED": n_("the data is linked. Make a library override, or open the source file"),
    "LINKED_ACTION": n_('action "{:s}" is linked. Make it local first'),
    "TWEAKED": n_("an NLA strip is in tweak mode, so the action cannot be replaced. Exit tweak mode first"),
    "ACTION_COPIED": n_('the linked action "{:s}" is unchanged. A local copy is now used'),
    "STRIP_ACTION_LINKED": n_('action "{:s}" of an NLA strip is linked. Make it local first'),
    "STRIPS_STAY_PLAIN": n_(
        "actions of NLA strips were not enabled: {:names}. Enter tweak mode on a strip to enable its action"
    ),
    "SLOTS_REMOVED": (
        n_("TCB data was removed for {:,} track whose slot no longer exists"),
        n_("TCB data was removed for {:,} tracks whose slots no longer exist"),
    ),
    "NO_SUCH_TRACK": n_("no such track. Available tracks: {:s}"),
    "NO_BONE": n_('no bone "{:s}"'),
    "LIVE_OFF": n_('Live is now off for action "{:s}"'),
    "LIVE_FAILED": n_("Live failed: {:s}"),
    # Blocked tracks.
    "NOT_IN_USE": n_("the track is not used in the current rotation mode"),
    "LOCKED": n_("the channels are locked. Unlock them first"),
    "EDITED_OUTSIDE": n_(
        "edited outside TCB: the curves were changed after the bake. Apply keeps the curves. Free Bake with Discard "
        "Edits restores the saved keys"
    ),
    "TABLE_LOST": n_(
        "the track is baked, but the TCB table is missing. Remove TCB keeps your identified keys and deletes "
        "generated keys. Apply keeps the curves"
    ),
    "TABLE_DAMAGED": n_("the TCB table is damaged ({:s}). Delete it with Remove TCB"),
    "TABLE_NEWER": n_(
        "the TCB table was saved by a newer version of TCB Animation (schema {:d}). This version reads schema "
        "{:d}. Update the add-on"
    ),
    "DRIVEN": n_("a driver sets the value, so keys have no effect"),
    "MUTED": n_("the channels are muted. Unmute them first"),
    "SAMPLED_CURVE": n_("a sampled curve has no keys. Convert it to keyframes first (Graph Editor, Channel menu)"),
    "CHANNEL_WITHOUT_KEYS": n_("{:channels} has no keys. Insert a key or delete the F-curve"),
    "NOT_TCB": n_("this is not a TCB track. Enable TCB first"),
    # Invalid keys.
    "NO_KEYS": n_("no keys"),
    "NO_KEY_AT_FRAME": n_("no key at this frame"),
    "KEY_AT_FRAME": n_("there is already a key at this frame"),
    "NO_FLOAT_KEYS": n_("no keys on a float property"),
    "FRAME_OUT_OF_RANGE": n_("the frame is outside Blender's range, -{0:,} to {0:,}"),
    "FRAME_NOT_FINITE": n_("the frame of a key is not a finite number"),
    "VALUE_NOT_FINITE": n_("the value is not a finite number"),
    "HANDLE_NOT_FINITE": n_("a handle position is not a finite number"),
    "PLAYED_NOT_FINITE": n_("the motion has values that are not finite numbers"),
    "ZERO_QUATERNION": n_("the quaternion is zero, which is not a rotation"),
    "TWO_KEYS_AT_FRAME": n_("two keys are at the same frame. Delete or move one of them"),
    "KEYED_APART": n_("channels are keyed at different frames. Key all channels at the same frames first"),
    "INTERPOLATION_APART": n_(
        "channels have different interpolation types. Choose the same type for all channels first"
    ),
    "KEYS_TOO_NEAR": n_(
        "keys of different channels are less than {:g} frames apart. Move these keys to the same frame"
    ),
    "HANDLES_TOO_LONG": n_(
        "the handles are too long: the motion could exceed the range of float32. Use smaller values, "
        "tangents or parameters"
    ),
    "VALUE_TOO_LARGE": n_("the value is too large: the motion could exceed the range of float32"),
    "TOO_FAST": n_("the angular velocity is above {:g} radians per frame"),
    "MOTION_TOO_FAR": n_("values after this key exceed the range of float32"),
    "TURN_TOO_FAR": n_(
        "the turn from the previous key is {:.4g} degrees, more than the maximum of {:g} degrees for {:s}. "
        "Insert keys between the two keys, or choose Turns: Shortest (path SHORTEST)"
    ),
    "SPLINE": n_("{:s}"),
    "METHOD_FOR_VALUES": n_("{:s} cannot interpolate rotations"),
    "METHOD_FOR_ROTATIONS": n_("{:s} interpolates rotations only"),
    # Bakes.
    "NOT_BAKED": n_("the track is not TCB, so it was not baked. Enable TCB first"),
    "CURVES_GONE": n_("the F-curves of the TCB tracks were deleted"),
    "STEP_TOO_SMALL": n_(
        "a step of {:g} frames is too small: Blender merges keys that are less than {:g} frames apart"
    ),
    "TOO_MANY_SAMPLES": n_(
        "the bake needs about {:,.0f} samples, more than the limit of {:,}. Increase the step, select fewer "
        "objects, or raise the sample limit"
    ),
    "TOO_MANY_ROWS": n_("more than {:,} samples are needed. Write the velocities of fewer tracks at a time"),
    "COMPLETED": n_("all rotation channels were keyed at the same frames"),
    "MODIFIERS": n_("F-curve modifiers act on the baked motion: {:s} ({:channels})"),
    "HELD_OUTSIDE": n_("extrapolation is Linear, but the bake holds the values outside the keys. Extend the bake"),
    "NOT_EXTENDED": n_(
        "the motion stops at the first and last keys, so the bake was not extended. Choose a cycle or linear "
        "extrapolation to continue the motion"
    ),
    "OTHER_SLOPE_OUTSIDE": n_(
        "extrapolation is Linear, but some segments use Blender's interpolation. The slope beyond the bake may not "
        "match the motion"
    ),
    "CURVES_MISS": n_(
        "maximum error {:size} after frame {:g}: the tolerance would require keys that are too close together"
    ),
    "TIMED_AS_SAMPLES": n_(
        "a frame function retimes the motion, so it was baked as samples. For motion blur, bake samples with a "
        "smaller step"
    ),
    "LOOP_JUMPS": n_("the loop jumps, because the first and last keys have different poses"),
    "CYCLE_INSIDE_KEYS": n_("the motion cycles. Extend the bake to include repeats outside the keys"),
    "CYCLE_ENDS": n_(
        "the motion cycles, but some segments use Blender's interpolation. The bake does not repeat the motion "
        "outside the keys"
    ),
    "LOOP_CORNER": n_(
        "the motion loops, but some segments use Blender's interpolation. The motion has a corner where its end "
        "meets its start"
    ),
    "HANDLES_TIMED": n_("handles cannot play motion with a frame function. Bake samples"),
    "HANDLES_LEAVE_KEYS": n_(
        "handles cannot play a method that does not pass through the keys. Bake samples or curves"
    ),
    "HANDLES_KEYED_APART": n_(
        "handles cannot play a rotation whose channels are keyed at different frames. Key all rotation "
        "channels, or bake"
    ),
    "HANDLES_CYCLE": n_("handles do not repeat the cycle, because the F-curves have other modifiers"),
    "HANDLES_APPROXIMATE": n_("handles approximate the motion: maximum error {:size} at frame {:g}"),
    "HANDLES_CHOSEN": n_(
        "the handle types that you chose have no effect on this bake. They affect only motion played by handles"
    ),
    "TURNED_SHORT": (
        n_("{:,} turn now takes the shortest path. Choose Turns: As Keyed to keep long turns"),
        n_("{:,} turns now take the shortest path. Choose Turns: As Keyed to keep long turns"),
    ),
    "KEYED_NEAR": n_(
        "channels have keys at frames {:g} and {:g}, so close together that the motion bends sharply. Move these "
        "keys to the same frame"
    ),
    "EULER_OTHER_WAY": n_("Euler angles jump at frame {:names}, because the rotation takes a different path"),
    "SHARED_MODE": n_('the action is shared, but the rotation modes differ. The mode of "{:s}" is used'),
    "WORLD_TIMED": n_("a frame function changes the timing. Mute the function first"),
    "WORLD_VELOCITIES": n_("the method uses velocities in the parent's axes. Choose another method"),
    "WORLD_ONE_KEY": n_("at least two keys are needed for interpolation"),
    "WORLD_UNKNOWN": n_("{:s}. Only motion from F-curves and parents can be baked in world space"),
    "WORLD_NO_PARENT": n_("there is no parent, so the motion is already interpolated in world space"),
    "WORLD_NO_TRACK": n_("no TCB location or rotation track. Enable TCB first"),
    "PARENT_FLAT": n_("the parent's scale is zero at this frame"),
    "PARENT_UNEQUAL": n_("the parent's scale is not uniform, so the world-space transform is not a pure rotation"),
    "PARENT_MIRRORED": n_("the parent is mirrored, so the world-space transform is not a pure rotation"),
    # Enable, Free Bake, Restore, Remove and Apply.
    "FLIP_NOT_KEPT": n_(
        "the rotation flips at this key, because the quaternion changes sign from the previous key. TCB takes the "
        "shortest path, with default parameters. To preserve the rest of the motion, undo, use Fix Rotations, and "
        "enable again"
    ),
    "GIMBAL_LOCK": n_(
        "gimbal lock: handles are off by {:size}. Bake TCB as samples, or use a quaternion rotation mode"
    ),
    "TURNS_KEPT": n_("the turn to this key is {:.0f}°. Choose Turns: Shortest to take the shortest path"),
    "TURNS_SHORTEST": n_("Turns was set to Shortest, which changes the motion less than As Keyed"),
    "LINEAR_CURVED": n_(
        "all keys were linear. The TCB curves deviate from straight lines by up to {:size}. For straight lines, choose"
        " Linear in Set Parameters"
    ),
    "CHANGED": n_("by {:size}"),
    "LOOK_CHANGED": n_("the motion changes by up to {:size}, because TCB parameters cannot reproduce it exactly"),
    "NOT_BEZIER": n_("Blender still plays keys that are not Bezier. Make these keys Bezier to use TCB"),
    "NOTHING_BAKED": n_("no track is baked"),
    "NOTHING_PLAYED": n_("no track is baked or played by handles"),
    "NO_TCB_TRACK": n_("no TCB track"),
    "TIMING_STAYS": n_("the frame function was kept. Remove it in the Timing panel"),
    "TABLE_PART_REMOVED": n_("the damaged part of the TCB table was removed"),
    "TABLE_REMOVED": n_("the damaged TCB table was removed, including all key data in it"),
    "KEPT_IDENTIFIED_KEYS": n_(
        "the TCB table is missing. Your identified keys were kept, and generated keys were deleted. Handles, "
        "interpolation and keys at other frames cannot be restored"
    ),
    "KEPT_CURVES": n_("the TCB table is missing. The curves were kept unchanged"),
    "CHANNELS_GONE": n_("the channels were deleted, so there was nothing to keep"),
    "LOCKED_AGAIN": (
        n_("{:,} baked track was locked again. Free Bake unlocks it for editing"),
        n_("{:,} baked tracks were locked again. Free Bake unlocks them for editing"),
    ),
    "KEYED_WHILE_BAKED": n_("{:names}: keys cannot be inserted into baked tracks. Free Bake to edit"),
    "POSED_WHILE_BAKED": n_("{:names}: the motion is baked, so the new pose will not be kept. Free Bake to edit"),
    "DID_NOT_MOVE": (
        n_("{:,} baked track did not move. Free Bake to edit"),
        n_("{:,} baked tracks did not move. Free Bake to edit"),
    ),
    "DID_NOT_CHANGE": (
        n_("{:,} baked track did not change. Free Bake to edit"),
        n_("{:,} baked tracks did not change. Free Bake to edit"),
    ),
    # Edits.
    "HANDLE_FIXED": n_("keys and parameters determine this handle, so it was reset"),
    "HANDLE_NEAREST": n_("tension, continuity and bias cannot place the handle there. The closest position was used"),
    "PARAMETER_UNKNOWN": n_("{!r} is not one of {:s}"),
    "PARAMETER_NOT_FINITE": n_("{:s} {:g} is not a finite number in float32"),
    "PARAMETER_OUT_OF_RANGE": n_("{:s} {:g} is not between {:g} and {:g}"),
    "VELOCITY_SIZE": n_("the velocity must have {:d} components, not {:d}"),
    "PASTED_NO_VELOCITIES": n_("the method does not use velocities, so none were pasted"),
    "PASTED_OTHER_VELOCITIES": n_("velocities can't be pasted between values and rotations, so they were omitted"),
    "PASTED_FIRST_COMPONENTS": n_(
        "the property has fewer components than the copied velocity. Only the first components were pasted"
    ),
    "KEYED_APART_SHOWN": n_(
        "channels are keyed at different frames. Smoothness is shown only while the track is not baked"
    ),
    "NO_PARAMETERS": n_("the method does not use tension, continuity or bias"),
    "NO_KEY_BESIDE": n_("there is no other key on this side"),
    "EASE_DECIDES": n_("an ease next to this key determines the tangent"),
    "PLAYED_AT_OTHER_TIMES": n_("a frame function plays the keys at other frames"),
    "TWEAKED_TIMES": n_("an NLA strip in tweak mode may play the keys at other frames"),
    "POINT_WITHOUT_TRACK": n_("no track moves this point"),
    "POINT_WITHOUT_KEY": n_("no track that moves this point has a key here"),
    "POINT_LOCKED": n_("all tracks with a key here are locked"),
    "LAST_KEY": n_("the last key cannot be deleted. Delete the channels instead"),
    "NO_TIP": n_("the scale is zero, so the axis has no tip"),
    # Fix Rotations.
    "FLIP": (
        n_("the rotation flips at frame {:names}, because the quaternion changes sign from the previous key"),
        n_("the rotation flips at frames {:names}, because the quaternion changes sign from the previous key"),
    ),
    "FLIP_EULER": (
        n_("the rotation flips at frame {:names}: different Euler angles for the same pose"),
        n_("the rotation flips at frames {:names}: different Euler angles for the same pose"),
    ),
    "JUMP": (
        n_("the rotation jumps by full turns within one frame, at frame {:names}"),
        n_("the rotation jumps by full turns within one frame, at frames {:names}"),
    ),
    "TURN": (
        n_("the turn to the key at frame {:names} exceeds 180 degrees"),
        n_("the turns to the keys at frames {:names} exceed 180 degrees"),
    ),
    "GIMBAL": (
        n_("the key at frame {:names} is close to gimbal lock. Use another rotation order"),
        n_("the keys at frames {:names} are close to gimbal lock. Use another rotation order"),
    ),
    "REPAIRED": n_("repaired: {:s}"),
    "NOT_REPAIRED": n_("{:s} ({:s})"),
    "TURN_KEPT": n_("{:s}. Set Turns to Shortest"),
    "TURN_KEPT_TCB": n_("{:s}. Choose Turns: Shortest in the Track panel"),
    "NOT_REPAIRED_BAKED": n_("the track is baked. Use Free Bake first"),
    "NOT_REPAIRED_MODIFIED": n_("the channels have modifiers. Apply or remove them first"),
    "NOT_REPAIRED_ADDED": n_(
        "NLA blending adds the action to other motion. Only a strip that replaces the other motion can be repaired"
    ),
    "NOT_REPAIRED_UNUSED": n_("the TCB track is in an unused action. Assign the action to its object first"),
    "NOT_REPAIRED_PARTLY": n_("only some channels have keys. Key all channels first"),
    # Timing.
    "TIMING_WHICH_TRACK": n_("no track is chosen for constant speed. Choose a track"),
    "TIMING_OUTSIDE": n_("the frame to hold is outside the motion (frames {:g} to {:g})"),
    "NO_TIMING": n_("no frame function"),
    "TIMING_ONE_KEY": n_("all keys are at the same frame, so there is no motion to retime"),
    "TIMING_DRIVEN": n_("{:s} is driven. Remove the driver first"),
    "TIMING_LOCKED": n_("the frame function is locked. Unlock its channel first"),
    "TIMING_STILL": n_("there is no movement, so the speed cannot be made constant"),
    "TIMING_NOT_FINITE": n_("the frame function has a value that is not a finite number"),
    "TIMING_TOO_FAR": n_("the frame function covers too many frames of the motion, {:g} to {:g}"),
    # Tables.
    "TABLE_NOT_BEZIER": n_(
        "not all keys are Bezier. Tables do not store interpolation, so new keys become Bezier on import"
    ),
    "COLUMNS_EMPTY": n_("the columns have no values"),
    "COLUMN_TWICE": n_("two columns name the same channel"),
    "COLUMN_BEYOND": n_("the property has {:d} components, but the table names component {:d}"),
    "COLUMN_WITHOUT_COMPONENT": n_("the property has {:d} components. Name one component, for example {:s}[0]"),
    "COLUMN_UNKNOWN": n_("no float property with this name. Name columns as in location[0] or data.lens"),
    "COLUMN_OTHER_MODE": n_("the rotation mode is {:s}, so the table must contain {:s}"),
    "COLUMN_NOT_ANIMATABLE": n_("this is not a separate property that can be animated"),
    "ROW": n_("line {:d}: {:s}"),
    "ROWS_TOO_NEAR": n_(
        "the next row is less than {:g} frames later, so Blender cannot distinguish the keys. Remove some rows"
    ),
    "CELL_TOO_LARGE": n_("the value exceeds the range of float32"),
    "COMPONENT_DRIVEN": n_("{:channels} is driven, so keys have no effect"),
    "HAS_KEYS": n_("there are already keys. Use Replace Keys to delete them"),
    "PARAMETERS_GONE": n_("the previous TCB parameters were removed with their keys"),
    # Velocities as custom properties.
    "VELOCITY_TOO_LARGE": n_("the velocity or acceleration exceeds the range of float32"),
    "VELOCITY_FORGOTTEN": n_(
        "library override: Blender discards these custom properties when the file is loaded. Write them again "
        "after loading"
    ),
    "NO_VELOCITIES": n_("no velocities were written"),
    # Keys from arrays, and curves of FBX and glTF files.
    "PROPERTY_UNKNOWN": n_("no float property with this path"),
    "CURVES_NOT_READ": n_("{:s} cannot be read: {:s}"),
    "CURVES_FAULT": n_("{:s}: {:s}"),
    "CURVES_WARNING": n_("{:s}: {:s}"),
    "CURVES_NOT_FOUND": n_("these objects have no animation from {:s}. Import the file first"),
    "DIFFERS_FROM_FILE": n_(
        "the animation differs from the file's keys by {:size}. Import the file again, or choose the imported objects"
    ),
    "MOVED_WITHOUT_CURVES": n_("the property is animated in the file, but has no F-curves. Import the animation first"),
    "RESTORE_TCB": n_("this is already a TCB track. Remove TCB, then restore the curves"),
    "RESTORED_NEARLY": n_(
        "handles reproduce the curve to within {:size}. Use Exact to add keys until the curve matches"
    ),
    "STAYS_PLAIN": n_("the track was not enabled, because no parameters can reproduce the curves"),
    # Reduce.
    "REDUCE_SAMPLE_LIMIT": n_(
        "about {:,.0f} samples are needed, more than the limit of {:,}. Choose a shorter range of frames, or "
        "raise the sample limit"
    ),
    "REDUCE_TCB": n_("the track is already TCB. Apply or remove TCB first"),
    "REDUCE_BAKED": n_("the track is baked. Free or apply the bake first"),
    "REDUCE_MODIFIERS": n_("F-curve modifiers act on the track ({:s}). Bake or remove the modifiers first"),
    "REDUCE_HANDLES_FREE": n_(
        "automatic handles next to the range are now Free, so that the new keys do not move them"
    ),
    "REDUCE_PLAIN": n_("the track is not TCB. The reduced keys were kept as plain keys"),
    "REDUCE_SHARED": n_('this object still plays the shared action "{:s}"'),
    "REDUCE_KEPT": n_('the original action "{:s}" is kept in the file'),
    "REDUCE_FEW_IN_RANGE": n_("no track has three keys from frame {:g} to {:g}"),
    "REDUCE_NO_KEYS": n_("no keys to reduce"),
    "REDUCE_FEW_KEYS": n_("too few keys to reduce"),
    "REDUCE_CLOSE": n_("keys are less than one frame apart"),
    "REDUCE_SHORT_RANGE": n_("the range has fewer than three whole frames"),
    "REDUCE_RANGE_END": n_("no key at frame {:g}, which is an end of the range"),
    "REDUCE_TURNS": n_("channels jump by a full turn in this range"),
    "REDUCE_TOO_FEW": n_("{:d} keys are not enough. At least {:d} are needed"),
    "REDUCE_PHYSICS": n_("moved by physics: {:s} is a rigid body"),
    "REDUCED": n_("{:s}"),
    "NOT_REACHED": n_("{:s}"),
    # Relax.
    "RELAX_ITSELF": n_("an object or bone cannot be its own target. Choose another target"),
    "RELAX_NO_OBJECT": n_('no object "{:s}"'),
    "RELAX_NO_TARGET": n_("no target is chosen. Choose a target first"),
    "RELAX_NO_KEY": n_("no keys to adjust"),
    "RELAX_SELECT_KEYS": n_("no keys are selected. Select the keys to adjust in the Dope Sheet or the timeline"),
    "RELAX_UNKNOWN": n_("{:s}. Only motion from F-curves and parents can be adjusted"),
    "RELAX_NOT_FINITE": n_("the deviation from the condition is not a finite number"),
    "RELAX_NOT_REACHED": n_(
        "the tolerance of {:size} cannot be reached: the error remains {:size} at frame {:g} (before: "
        "{:size}). Nothing was changed. Select more keys"
    ),
    "RELAX_ONLY_TRANSFORMS": n_("only location and rotation keys can be adjusted"),
    "RELAX_NO_PLANE": n_("the scale is zero, so the object defines no plane"),
    # Checks, and motion from sources other than F-curves.
    "NOT_CHECKED": n_("not checked: {:s}"),
    "NOT_WORLD_SPACE": n_("the constraint does not use world space"),
    "OTHER_CONSTRAINTS": n_("other constraints also act on the object"),
    "POSITION_NOT_FINITE": n_("the position is not a finite number"),
    "TARGET_NO_BONE": n_("the target {:s} is not a bone"),
    "TOO_MANY_FRAMES": n_("{:,.0f} samples would be needed from frame {:g} to {:g}. Choose a shorter range"),
    "NO_PARENT": n_("no parent"),
    "BONE_WITHOUT_PARENT": n_("bone {!r} has no parent"),
    "JOINT_PARENT_FLAT": n_("the parent's scale is zero at frame {:g}. Start the range at another frame"),
    "HAS_CONSTRAINTS": n_("{:s} has constraints"),
    "RIGID_BODY": n_("{:s} is a rigid body"),
    "PARENTED_BY": n_("{:s} has the parent type {:s}"),
    "PARENTED_RELATIVE": n_("{:s} is parented to {:s} with Relative Parenting"),
    "HAS_IK": n_("{:s} has inverse kinematics"),
    "INHERITS_PART": n_("{:s} inherits only part of its parent's transform"),
    "HAS_NLA": n_("{:s} has NLA tracks"),
    "HAS_DRIVERS": n_("{:s} has drivers"),
    "QUOTED": n_("{:s}"),
    # 3D Studio files.
    "FILE_DAMAGED": n_("{:s}"),
    "FILE_WARNING": n_("{:s}"),
    "OF_FILE": n_("{:s}: {:s}"),
    "MADE": n_("Created {:s}"),
    "EXPORTED": n_("Exported {:s}"),
    "MATCHED": n_("Matched {:d} by name: {:s}"),
    "LEFT_OUT": n_("Skipped: {:s}"),
    "AXIS_WITHOUT_LENGTH": (
        n_("{:d} key has an axis of zero length, and was imported without rotation"),
        n_("{:d} keys have an axis of zero length, and were imported without rotation"),
    ),
    "NEARLY_WHOLE_TURN": (
        n_("{:d} turn of nearly 360 degrees was imported as a small turn in the opposite direction"),
        n_("{:d} turns of nearly 360 degrees were imported as small turns in the opposite direction"),
    ),
    "KEYS_SHARE_FRAME": n_(
        "several keys are at frame {:s} in the file. To keep all of them, each earlier key was moved back by "
        "{:g} frames"
    ),
    "KEY_NOT_FINITE": (
        n_("{:d} key without a finite value was skipped"),
        n_("{:d} keys without a finite value were skipped"),
    ),
    "KEYS_GO_BACK": n_("the keys were not in order, so they were sorted by frame"),
    "KEYS_NOT_TOLD_APART": (
        n_(
            "{:d} key less than {:g} frames before the next key was skipped, because Blender cannot distinguish keys "
            "this close together"
        ),
        n_(
            "{:d} keys less than {:g} frames before the next key were skipped, because Blender cannot distinguish keys "
            "this close together"
        ),
    ),
    "KEY_PARAMETERS_OUT_OF_RANGE": (
        n_("{:d} key had parameters out of range, which were clamped"),
        n_("{:d} keys had parameters out of range, which were clamped"),
    ),
    "LONG_TURN": (
        n_("{:d} turn above 180 degrees, up to {:.1f} degrees. To shorten it, import with Shortest Turns"),
        n_("{:d} turns above 180 degrees, up to {:.1f} degrees. To shorten them, import with Shortest Turns"),
    ),
    "TURNS_SAMPLED": n_("no rotation mode can store these turns in keys, so the motion was imported as samples"),
    "TURNS_SHORTENED": n_("{:s}. The rotation was imported along the shortest path"),
    "MODE_CHOSEN": n_("the rotation mode was set to {:s} to preserve full turns"),
    "FRAMES_BEYOND_FILE": n_(
        "the scene's frame range extends past the file's last frame, {:,}, so the exported motion ends there"
    ),
    "OTHER_CONSTRUCTION": n_("the file cannot store a separate rotation algorithm for one object"),
    "PARENT_LOSES_SCALE_AND_ROTATION": n_(
        'the parent "{:s}" has no scale or rotation in the file, so the object does not inherit them'
    ),
    "PARENT_LOSES_SCALE": n_('the parent "{:s}" has no scale in the file, so the object does not inherit the scale'),
    "NODES_MAKE_COLOR": n_("nodes determine the background color, so the viewport color was exported as ambient light"),
    "NODES_ANIMATED": n_("animation of nodes was not exported: {:s}"),
    "LIGHT_TYPE": n_("the file format does not support {:s} lights. The light was exported as a point light"),
    "TYPE_AS_DUMMY": n_("the file format does not support objects of type {:s}. The object was exported as a dummy"),
    "ARMATURE_AS_DUMMY": n_(
        "the file cannot store armatures. The object was exported as a dummy, without the motion of its bones"
    ),
    "COLLECTION_AS_DUMMY": n_('the instance of collection "{:s}" was exported as a dummy'),
    "SHAPE_CHANGES": n_(
        "the file cannot store shape changes, so the mesh was exported with its shape at the first frame"
    ),
    "VALUE_NOT_IN_FILE": (
        n_("{:d} key has a value that the file cannot store. The closest value, or 0, was exported"),
        n_("{:d} keys have a value that the file cannot store. The closest value, or 0, was exported"),
    ),
    "FRAME_NOT_WHOLE": (
        n_("{:d} key not at a whole frame, such as {:g}, was exported at the closest whole frame"),
        n_("{:d} keys not at a whole frame, such as {:g}, were exported at the closest whole frame"),
    ),
    "KEYS_SHARE_FILE_FRAME": n_("keys less than one frame apart share a frame in the file"),
    "SHORT_NAME": n_('exported as "{:s}": names in the file are limited to {:d} Latin-1 characters'),
    "IMPORT_STATE_DAMAGED": n_("the saved state of the imported 3DS file was damaged, so it was created again"),
    "MOTION_SAMPLED": n_("{:s}: the motion was exported as samples"),
    "SHEARED": n_("the file cannot store shear, so the object was exported without shear"),
    "MARKERS_CHANGED": n_("the morph track was skipped, because its markers were changed"),
    "LENS_SAMPLED": n_("the lens is animated, so the field of view was exported as {:d} samples"),
    "VIEW_AS_PERSPECTIVE": n_("the file cannot store a camera of type {:s}, so the camera was exported as perspective"),
    "HOTSPOT_SAMPLED": n_("the blend or size of the light is animated, so the hotspot was exported as {:d} samples"),
    "HAS_CONSTRAINT": n_('the object has the constraint "{:s}"'),
    "PARENT_NOT_IN_FILE": n_("the parent is not in the file"),
    "DRIVERS": n_("the object has drivers"),
    "NLA_STRIPS": n_("there are NLA strips"),
    "DELTAS": n_("the object has delta transforms"),
    "PARENT_INVERSE_SHEARS": n_("the parent inverse has shear"),
    "WRITTEN_UNBAKED": n_(
        "the track is TCB but not baked. The motion was exported as it would play after a bake, not as it plays now"
    ),
    "WRITTEN_OUT_OF_DATE": n_(
        "the track was edited after the last bake. The motion was exported as it would play after a new bake, "
        "not as it plays now"
    ),
    "WRITTEN_EDITED_OUTSIDE": n_(
        "the track was edited outside TCB after the bake. The motion was exported as it would play after a new "
        "bake, not as it plays now"
    ),
    "WRITTEN_OTHER_MODE": n_(
        "the track was baked for another rotation mode. The motion was exported as it would play after a bake in "
        "the current mode, not as it plays now"
    ),
    "FILE_KEYS_FAR_APART": n_(
        "there are {:,.0f} frames between the first and last keys, more than the limit of {:,} samples. "
        "Shorten the motion, or raise the sample limit"
    ),
    "FILE_SAMPLE_LIMIT": n_(
        "{:,} samples would exceed the file's limit of {:,}. Shorten the motion or the scene's frame range, use "
        "TCB tracks without constraints, or raise the sample limit"
    ),
    "WRITTEN_AS_SAMPLES": n_("{:s}: exported as {:d} samples"),
    "WRITTEN_AS_SAMPLES_OUTSIDE": n_("{:s}: exported as {:d} samples, including the scene's frames outside the keys"),
    "REASON_LEFT": n_("{:s}: not exported"),
    "ENDS_NOT_IN_FILE": n_(
        "the file cannot store End Segments. The program that reads the file determines how to interpolate the "
        "end segments"
    ),
    "IS_DRIVEN": n_("driven"),
    "IS_NOT_TCB": n_("not TCB"),
    "IN_WORLD_SPACE": n_("baked in world space"),
    "MUTED_IN_PART": n_("partly muted"),
    "RETIMED": n_("retimed by a frame function"),
    "METHOD_NOT_IN_FILE": n_("the file does not support the method {:s}"),
    "TURNS_ABOUT_MOVING_AXIS": n_("the axis of full turns moves, but a file stores turns about one axis"),
    "COMPONENTS_APART": n_("components have keys or spline ends at different frames"),
    "MODIFIERS_LEFT": n_("F-curve modifiers were not exported: {:s}"),
    "GOES_ON_OUTSIDE": n_("the motion outside the keys was not exported, so the file holds the first and last values"),
    "SEGMENT_FILLED": (
        n_("{:d} constant or eased segment was exported with {:d} additional keys, exact at whole frames"),
        n_("{:d} constant or eased segments were exported with {:d} additional keys, exact at whole frames"),
    ),
    "SPLINE_SAMPLED": (
        n_(
            "{:d} spline next to a constant or eased segment was exported as {:d} samples, because the file cannot end "
            "a spline there"
        ),
        n_(
            "{:d} splines next to constant or eased segments were exported as {:d} samples, because the file cannot "
            "end splines there"
        ),
    ),
    "DRIVER_DECIDES": n_("{:s} is driven, so its animation in the file was skipped"),
    "SAMPLES_FOR_HANDLES": n_(
        "the track was baked as samples, because handles would have a maximum error of {:size}. "
        "Shortest Turns may reduce the error"
    ),
    "HANDLES_FOR_SAMPLES": n_(
        "handles play the motion, because about {:,.0f} samples would exceed the limit of {:,}. Raise the sample "
        "limit to bake"
    ),
    "NODE_LEFT": n_("skipped: {:s}"),
    "NODE_WITHOUT_OBJECT": n_("skipped, because no object has this name"),
    "ACTION_REPLACED": n_('the previous action "{:s}" is kept in the file'),
    "WORLD_NOT_USED": n_(
        'the ambient light was imported as world "{:s}", which is unused because the scene already has a world'
    ),
    "ONE_OF_SEVERAL": n_('matched with "{:s}", although other objects also have this name: {:s}'),
    "IS_LINKED": n_("linked"),
    "IS_TWEAKED": n_("an NLA strip is in tweak mode"),
    "OWN_CONSTRAINTS": n_("existing constraints were kept: {:s}"),
    "OTHER_PARENT": n_("the parent is {:s}, but {:s} in the file. Keys were imported unchanged"),
    "VERTICES_APART": n_("vertices differ by up to {:size} from their positions around the pivot in the file"),
    "TRACK_WITHOUT_PROPERTY": n_("skipped: the object has no such property"),
    "NO_TARGET_NO_ROLL": n_("there is no target, so the object points along -Z without roll"),
    "NO_TARGET": n_("there is no target, so the object points along -Z"),
    "UNDER_AMBIENT": n_(
        "the parent is the ambient light, which has no position, so the object was imported without a parent"
    ),
    "UNDER_AMBIENT_UNDER": n_('the parent is the ambient light, which has no position, so "{:s}" became the parent'),
    "UNLINKED_AXES": n_(
        "Blender cannot unlink single axes from a parent, so the object inherits all of the parent's motion"
    ),
    "CYCLE_LEFT": n_("the cycle was not imported, so the motion ends at the last key"),
    "MORPH_AS_MARKERS": n_("{:d} morph keys were imported as markers of the action. They do not deform the mesh"),
    "ANGLE_OUT_OF_RANGE": (
        n_("{:d} key has an angle outside {:g} to {:g} degrees. Blender shows the closest possible angle"),
        n_("{:d} keys have angles outside {:g} to {:g} degrees. Blender shows the closest possible angle"),
    ),
    "MESH_TOO_LARGE": n_(
        "the mesh has {:d} vertices and {:d} triangles, more than the {:d} that the file can store, so it was "
        "exported as a dummy"
    ),
    "FLAT_MESH": n_(
        "the object is flat at the first frame, so the mesh was exported without the object's rotation and scale"
    ),
    "MIRRORED_MESH": n_("the scale mirrors the object, so other programs may show a mirrored mesh"),
    "MESH_MATRIX": n_("the mesh matrix is singular or not finite, so it was not applied"),
    "VERTICES_NOT_FINITE": n_("{:d} vertices without a finite position were placed at the origin"),
    "FACES_WITHOUT_VERTICES": n_("{:d} faces with missing vertices were skipped"),
    "TEXTURE_COORDINATES": n_(
        "the texture coordinates were skipped, because their number differs from the number of vertices"
    ),
    # Files of the command.
    "FILE_NOT_READ": n_("cannot be read: {:s}"),
    "FILE_NOT_A_FILE": n_("not a file"),
    "FILE_NOT_BLEND": n_("this is not a .blend file"),
    "FILE_EMPTY": n_("the file is empty, so it is not a .blend file"),
    "FILE_NOT_OPENED": n_("Blender {:s} cannot open the file. The file is damaged or from a newer version: {:s}"),
    "FILE_OF_NEWER": n_("the file was saved by Blender {:s}. Blender {:s} could lose data when it saves the file"),
    "FILE_NOT_3DS": n_("{:s}"),
    "FILE_GONE": n_("the file no longer exists"),
    "FILE_CHANGED": n_("another process changed the file, so it was not written"),
    "FILE_FAULT": n_("{:s}: {:s} (a bug in TCB Animation. Please report it)"),
    "TARGET_NOT_A_FILE": n_("{:s} exists, but is not a file"),
    "TARGET_PROTECTED": n_("{:s} is write-protected"),
    "TARGET_NOT_WRITTEN": n_("{:s} cannot be written: {:s}"),
    "TARGET_IS_LIBRARY": n_("the output would replace {:s}, a library of the file"),
    "FOLDER_MISSING": n_("the folder {:s} does not exist"),
    "FOLDER_NOT_A_FOLDER": n_("{:s} is not a folder"),
    "FOLDER_PROTECTED": n_("no permission to write to the folder {:s}"),
    "BLENDER_DID_NOT_WRITE": n_("Blender could not write to {:s}{:s}: {:s}"),
    "LOG_NOT_WRITTEN": n_("the log {:s} cannot be written: {:s}"),
    "TABLE_NOT_READ": n_("{:s} cannot be read: {:s}"),
    "TABLE_FAULT": n_("{:s}: {:s}"),
    "OPTIONS": n_("{:s}"),
    "LIBRARY_MISSING": n_("the library {:s} is missing. Data linked from it was not changed"),
    "LIBRARY_NOT_READ": n_(
        "the library {:s} is damaged, or you have no permission to read it. Data linked from it was not changed"
    ),
    "SAVED_BY_NEWER": n_("the file was saved by Blender {:s}. Blender {:s} may not read all of its data"),
    "RESULT_CONVERTED": n_("the file was saved by Blender {:s}. The result is saved by Blender {:s}"),
    "LEFT_TO_OWN_FILE": n_("skipped, because it is linked. Process the source file"),
    "NOTHING_BUT_LINKED": n_("nothing to do: the relevant data is linked. Process the source file"),
    "NO_OBJECT_MATCHES": n_('no object matches "{:s}". The file contains {:names}'),
    "NO_OBJECT": n_('no object matches "{:s}". The file contains no objects'),
    "ONLY_IN_OTHER_SCENES": n_("the object is not in the open scene, so it is not exported"),
    "NOT_WRITTEN_STRICT": n_("no result was written because --strict is set"),
    "NOT_IN_A_SCENE": n_("the object was not checked, because it is not in any scene"),
    "NO_JOINT_OBJECT": n_('no object is named "{:s}". For a bone, write OBJECT:BONE'),
    "VIOLATION": n_("{:s}, {:s}"),
    "JOINT_HOLDS": n_('the joint with "{:s}" has no gap ({:,} samples)'),
    "JOINT_APART": n_('the joint with "{:s}" has a gap of up to {:.4g}'),
    "NOT_ANIMATED": n_("no animation in the file"),
    "ONE_OBJECT_NEEDED": n_(
        "a table contains only one object, but there are {:d}. Choose one with --objects: {:names}"
    ),
    "NOTHING_TO_BAKE": n_("nothing to bake: no TCB tracks. Use --enable to make keyed tracks TCB"),
    "NOTHING_TO_ENABLE_AND_BAKE": n_("nothing to bake: no keys on a float property"),
    "NOTHING_TO_FREE": n_("nothing to free: no baked tracks"),
    "NOTHING_TO_RESTORE": n_("nothing to restore: no track plays TCB motion"),
    "NOTHING_TO_APPLY": n_("nothing to apply: no TCB tracks"),
    "NOTHING_TO_REMOVE": n_("nothing to remove: no TCB tracks"),
    "NOTHING_TO_ENABLE": n_("nothing to enable: no plain tracks with keys"),
    "NOTHING_TO_REDUCE": n_("nothing to reduce: no track has more than two keys, apart from TCB tracks"),
    "NOTHING_TO_REDUCE_IN_RANGE": n_("nothing to reduce: no track has three keys in the range, apart from TCB tracks"),
    "NOTHING_TO_CURVES": n_("nothing to restore: no object in the file has the same name as any of these objects"),
    "NOTHING_TO_ROTATIONS": n_("nothing to repair: no rotation flips or jumps"),
    "NOTHING_TO_VELOCITIES": n_("no velocities to write: no TCB tracks"),
    "NOTHING_TO_NO_VELOCITIES": n_("no velocities to remove: none were written"),
    "WORKER_ENDED": n_("the worker process ended with status {:d}"),
    "WORKER_ENDED_BY_SIGNAL": n_("signal {:d} ({:s}) ended the worker process"),
    "WORKER_KILLED": n_("signal {:d} ({:s}) ended the worker process, perhaps because memory is low"),
}

NOTHING_TO_DO = frozenset(
    (
        "COLUMNS_EMPTY",
        "CURVES_GONE",
        "NO_FLOAT_KEYS",
        "NO_TCB_TRACK",
        "NO_TIMING",
        "NO_VELOCITIES",
        "NOTHING_BAKED",
        "NOTHING_PLAYED",
        "REDUCE_FEW_IN_RANGE",
        "REDUCE_FEW_KEYS",
        "REDUCE_NO_KEYS",
        "REDUCE_SHORT_RANGE",
        "RELAX_NO_KEY",
    )
)
"""Codes that are errors only if nothing else was done, because some of several objects may have nothing to work on."""

STANDING = frozenset(
    (
        "CURVES_MISS",
        "CYCLE_ENDS",
        "CYCLE_INSIDE_KEYS",
        "EULER_OTHER_WAY",
        "HANDLES_CHOSEN",
        "HANDLES_CYCLE",
        "KEYED_NEAR",
        "LOOP_CORNER",
        "LOOP_JUMPS",
        "MODIFIERS",
        "SPLINE",
        "TIMED_AS_SAMPLES",
        "TURNED_SHORT",
    )
)
"""Codes of notes that stay valid until the track changes."""

ASK_TO_FREE = frozenset(("DID_NOT_CHANGE", "DID_NOT_MOVE", "KEYED_WHILE_BAKED", "LOCKED_AGAIN", "POSED_WHILE_BAKED"))
"""Codes of notes that Free Bake resolves."""
