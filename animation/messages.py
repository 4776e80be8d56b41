# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of all findings, by their codes: scripts and supervisors go by the codes, which stay.

A pair is the text for one and the text for any other number, which is the first argument. Besides Python's formats
there are `{:size}`, a number with its unit, and `{:names}`, of which the first few are listed.
"""

from __future__ import annotations

from .translation import n_

MESSAGES: dict[str, str | tuple[str, str]] = {
    # What can't be edited.
    "NO_ANIMATION": n_("it has no animation"),
    "ONLY_IN_STRIPS": n_("its animation is in NLA strips only; enter tweak mode on a strip first"),
    "NO_SLOT": n_('its action "{:s}" has no slot for it; choose a slot first'),
    "NO_FCURVES": n_('its action "{:s}" has no F-curves for it'),
    "LAYERED": n_(
        'its action "{:s}" has more than one layer or strip (layers: {:d}, strips: {:d}); '
        "make one of them first, with Object > Animation > Bake Action"
    ),
    "LINKED": n_("it is linked; make a library override of it, or open its own file"),
    "LINKED_ACTION": n_('its action "{:s}" is linked; make the action local first'),
    "IS_LINKED_ACTION": n_("it is linked; open its own file"),
    "TWEAKED": n_("an NLA strip of it is in tweak mode, so its action can't be exchanged"),
    "ACTION_COPIED": n_('its linked action "{:s}" stays as it is; it plays a copy in this file now'),
    "STRIP_ACTION_LINKED": n_('its NLA strip\'s action "{:s}" is linked; make the action local first'),
    "STRIPS_STAY_PLAIN": n_(
        "the actions of its NLA strips stay plain beside its own action: {:names}. Tweak a strip to enable it"
    ),
    "SLOTS_REMOVED": (
        n_("the TCB data of {:,} track of removed slots was removed"),
        n_("the TCB data of {:,} tracks of removed slots was removed"),
    ),
    "NO_SUCH_TRACK": n_("it has no track of this name; its tracks: {:s}"),
    "NO_BONE": n_('it has no bone "{:s}"'),
    "LIVE_OFF": n_('Live is now off for the action "{:s}"'),
    "LIVE_FAILED": n_("Live failed: {:s}"),
    # What blocks a track.
    "NOT_IN_USE": n_("unused, as the rotation mode is different"),
    "LOCKED": n_("locked; unlock its channels first"),
    "EDITED_OUTSIDE": n_(
        "edited outside: its curves were changed after the bake. Apply keeps the curves. "
        "Free Bake with Discard Edits brings back the saved keys "
        "(script: free(discard_edits=True); command: free --discard-edits)"
    ),
    "TABLE_LOST": n_(
        "baked, but its table is gone. Remove TCB keeps the keys with an identity and drops the generated ones. "
        "Apply keeps the curves"
    ),
    "TABLE_DAMAGED": n_("its TCB table is damaged ({:s}); Remove TCB (command: remove) takes it away"),
    "TABLE_NEWER": n_("saved by a newer TCB Animation (schema {:d}); this one reads {:d}"),
    "DRIVEN": n_("driven: the driver decides its value, not the keys"),
    "MUTED": n_("muted; unmute its channels first"),
    "SAMPLED_CURVE": n_("a sampled curve has no keys; convert it to keyframes first (Graph Editor, Channel menu)"),
    "CHANNEL_WITHOUT_KEYS": n_("its component {:d} has an F-curve without keys; key it or delete it"),
    "NOT_TCB": n_("not a TCB track; enable it first"),
    # Keys that make no motion.
    "NO_KEYS": n_("it has no keys"),
    "NO_KEY_AT_FRAME": n_("no key at this frame"),
    "KEY_AT_FRAME": n_("it has a key there"),
    "NO_FLOAT_KEYS": n_("it has no keys on a float property"),
    "NO_FLOAT_PROPERTY": n_("it has no animated float property"),
    "FRAME_NOT_FINITE": n_("a key stands at a frame that is not a finite number"),
    "VALUE_NOT_FINITE": n_("its value is not a finite number"),
    "HANDLE_NOT_FINITE": n_("a handle is not at finite numbers"),
    "PLAYED_NOT_FINITE": n_("what it plays is not a finite number"),
    "ZERO_QUATERNION": n_("the quaternion is zero, which is not a rotation"),
    "TWO_KEYS_AT_FRAME": n_("two keys at one frame; delete or move one of them"),
    "KEYED_APART": n_("its channels are keyed at different frames; key them together first"),
    "KEYS_TOO_NEAR": n_("keys of its channels are less than {:g} frames apart. Move them to one frame"),
    "VALUE_TOO_LARGE": n_("its value is so large that the motion could leave float32"),
    "TOO_FAST": n_("its angular velocity is above {:g} radians a frame"),
    "MOTION_TOO_FAR": n_("its values after this key are too large for float32"),
    "TURN_TOO_FAR": n_(
        "it turns {:.4g} degrees from the key before it; of more than {:g} {:s} keeps none: "
        "set keys between, or choose Turns: Shortest (path SHORTEST)"
    ),
    "SPLINE": n_("{:s}"),
    "METHOD_FOR_VALUES": n_("{:s} is for values only"),
    "METHOD_FOR_ROTATIONS": n_("{:s} is for rotations only"),
    # Bakes.
    "NOT_BAKED": n_("not TCB, so it was not baked. Enable it (command: --enable) to bake it, too"),
    "CURVES_GONE": n_("its TCB tracks have no F-curves any more"),
    "STEP_TOO_SMALL": n_("a step of {:g} is below {:g} frames, the distance below which Blender merges keys"),
    "TOO_MANY_SAMPLES": n_(
        "the bake needs about {:,.0f} samples, more than the limit of {:,}. "
        "Use a larger step or fewer objects, or raise the sample limit"
    ),
    "TOO_MANY_ROWS": n_("about {:,.0f} samples are needed, more than the limit of {:,}. Use a larger step"),
    "COMPLETED": n_("keyed all its rotation channels at the same frames"),
    "MODIFIERS": n_("F-curve modifiers act on the baked motion: {:s} (component {:s})"),
    "HELD_OUTSIDE": n_("its extrapolation is Linear, and the bake holds its values outside the keys. Extend the bake"),
    "OTHER_SLOPE_OUTSIDE": n_(
        "its extrapolation is Linear, and the bake leaves segments to Blender. Outside a baked end the line may "
        "have another slope than the motion"
    ),
    "CURVES_MISS": n_(
        "off by up to {:size} after frame {:g}: the tolerance needs keys that are too close to each other"
    ),
    "LOOP_JUMPS": n_("its last key is not the same pose as its first: the loop jumps there"),
    "CYCLE_INSIDE_KEYS": n_("it cycles. Extend the bake to bake its repeats beyond the keys"),
    "CYCLE_ENDS": n_("it cycles, and Blender plays some of its segments: the bake has no repeats beyond its keys"),
    "LOOP_CORNER": n_(
        "it loops, and Blender plays some of its segments: there is a corner where the end meets the start"
    ),
    "HANDLES_TIMED": n_("handles cannot play timed motion. Bake it as samples or curves"),
    "HANDLES_LEAVE_KEYS": n_(
        "handles cannot play a method that does not pass through the keys. Bake it as samples or curves"
    ),
    "HANDLES_KEYED_APART": n_(
        "handles cannot play a rotation whose channels are keyed at different frames. Key all rotation channels, or "
        "bake it"
    ),
    "HANDLES_CYCLE": n_("handles do not repeat its cycle, because its F-curves have other modifiers"),
    "HANDLES_APPROXIMATE": n_("handles approximate it: maximum error {:size} at frame {:g}"),
    "HANDLES_CHOSEN": n_(
        "its keys have handle types that you chose. They matter where handles play; this bake plays TCB there"
    ),
    "TURNED_SHORT": (
        n_("{:,} key now turns the short way. Choose Turns: As Keyed to keep the turns as keyed"),
        n_("{:,} keys now turn the short way. Choose Turns: As Keyed to keep the turns as keyed"),
    ),
    "KEYED_NEAR": n_(
        "its channels have keys at frames {:g} and {:g}, so the motion turns sharply there. Move them to one frame"
    ),
    "EULER_OTHER_WAY": n_("its Euler angles name another way round than the rotation takes to frame {:names}"),
    "SHARED_MODE": n_('shares the action in another rotation mode; "{:s}" decides'),
    "WORLD_TIMED": n_("a frame function times it. Mute that first"),
    "WORLD_VELOCITIES": n_("its velocities are given in its parent's axes. Choose another method"),
    "WORLD_ONE_KEY": n_("it needs two keys to interpolate between"),
    "WORLD_UNKNOWN": n_("{:s}. Only motion by F-curves and parents can be baked in the world"),
    "WORLD_NO_PARENT": n_("it has no parent, so it is interpolated in the world already"),
    "WORLD_NO_TRACK": n_("it has no TCB location or rotation. Enable it first"),
    "PARENT_FLAT": n_("its parent's scale is zero there"),
    "PARENT_UNEQUAL": n_("its parent is unequally scaled, so its rotation in world space is not a pure rotation"),
    "PARENT_MIRRORED": n_("its parent is mirrored, so its rotation in world space is not a pure rotation"),
    # Enable, and what takes TCB away.
    "TURNS_AS_KEYED": n_("Turns is As Keyed: with Shortest its motion would change more"),
    "TURNS_KEPT": n_("it turns by {:.0f}° to this key. Choose Turns: Shortest to turn the short way"),
    "TURNS_SHORTEST": n_("Turns is Shortest: with As Keyed its motion would change more"),
    "LINEAR_CURVED": n_(
        "all its keys were linear: TCB curves through them now, up to {:size} away; to have lines choose Linear in "
        "Set Parameters (script: key_set)"
    ),
    "CHANGED": n_("by {:size}"),
    "LOOK_CHANGED": n_("its motion changes by up to {:size}, which no parameters avoid"),
    "NOT_BEZIER": n_("Blender goes on playing its keys that are not Bezier; make them Bezier for TCB"),
    "NOTHING_BAKED": n_("nothing on it is baked"),
    "NOTHING_PLAYED": n_("none of its tracks is baked or played with handles"),
    "NO_TCB_TRACK": n_("it has no TCB track"),
    "TIMING_STAYS": n_("its frame function stays. Remove it in the Timing panel (script: remove_retiming)"),
    "TABLE_PART_REMOVED": n_("the damaged part of the TCB table was removed"),
    "TABLE_REMOVED": n_("its damaged TCB table was removed, with everything that it had kept of the keys"),
    "KEPT_IDENTIFIED_KEYS": n_(
        "its table is gone. The keys with an identity were kept and the generated ones removed; handles, interpolation "
        "and keys at other frames cannot be restored"
    ),
    "KEPT_CURVES": n_("its table is gone. The curves were kept as they play"),
    "CHANNELS_GONE": n_("its channels are gone, so there was nothing to keep"),
    "LOCKED_AGAIN": (
        n_("{:,} baked track was locked again. Free Bake unlocks it for editing"),
        n_("{:,} baked tracks were locked again. Free Bake unlocks them for editing"),
    ),
    "KEYED_WHILE_BAKED": n_("{:names}: baked tracks take no keys. Free Bake to edit"),
    "POSED_WHILE_BAKED": n_("{:names}: baked, so the new pose will not stay. Free Bake to edit"),
    "DID_NOT_MOVE": (
        n_("{:,} baked track did not move. Free Bake to edit"),
        n_("{:,} baked tracks did not move. Free Bake to edit"),
    ),
    "DID_NOT_CHANGE": (
        n_("{:,} baked track did not change. Free Bake to edit"),
        n_("{:,} baked tracks did not change. Free Bake to edit"),
    ),
    # Edits.
    "HANDLE_FIXED": n_("the keys and their parameters determine this handle, so it was put back"),
    "HANDLE_NEAREST": n_("tension, continuity and bias cannot place the handle there, so it has the closest position"),
    "PARAMETER_UNKNOWN": n_("{!r} is none of {:s}"),
    "PARAMETER_NOT_FINITE": n_("{:s} {:g} is not a finite number in float32"),
    "PARAMETER_OUT_OF_RANGE": n_("{:s} {:g} does not lie in {:g} to {:g}"),
    "VELOCITY_SIZE": n_("a velocity has {:d} numbers here, not {:d}"),
    "PASTED_NO_VELOCITIES": n_("its method goes by no velocities: pasted without"),
    "PASTED_OTHER_VELOCITIES": n_("velocities of values and of rotations are not the same: pasted without"),
    "PASTED_FIRST_COMPONENTS": n_("it has fewer components than the copied velocity: the first ones were pasted"),
    "NO_SUCH_FRAME": n_("Blender has no such frame"),
    "KEY_IN_THE_WAY": n_("another key is in the way"),
    "KEYED_APART_SHOWN": n_("its channels are keyed at different frames: shown while it is not baked"),
    "TOO_MANY_KEYS_MEASURED": n_("more than {:d} keys: not measured"),
    "NO_PARAMETERS": n_("its method has no tension, continuity and bias"),
    "NO_KEY_BESIDE": n_("it has no other key on this side"),
    "EASE_DECIDES": n_("an ease beside this key decides its tangent"),
    "PLAYED_AT_OTHER_TIMES": n_("a frame function plays its keys at other times"),
    "TWEAKED_TIMES": n_("an NLA strip in tweak mode may play its keys at other times"),
    "POINT_WITHOUT_TRACK": n_("it has no track that moves this point"),
    "POINT_WITHOUT_KEY": n_("nothing of it that moves this point has a key here"),
    "POINT_LOCKED": n_("all that has a key here is locked"),
    "LAST_KEY": n_("it is the last key; delete the channels instead"),
    "NO_TIP": n_("its scale is zero, so it has no tip"),
    # Fix Rotations.
    "FLIP": (
        n_("the rotation flips at the key of frame {:names}: opposite signs"),
        n_("the rotation flips at the keys of frames {:names}: opposite signs"),
    ),
    "FLIP_EULER": (
        n_("the rotation flips at the key of frame {:names}: the other Euler angles of the same pose"),
        n_("the rotation flips at the keys of frames {:names}: the other Euler angles of the same pose"),
    ),
    "JUMP": (
        n_("the rotation jumps by whole turns within a frame, at frame {:names}"),
        n_("the rotation jumps by whole turns within a frame, at frames {:names}"),
    ),
    "TURN": (
        n_("it turns by more than 180 degrees to the key of frame {:names}"),
        n_("it turns by more than 180 degrees to the keys of frames {:names}"),
    ),
    "GIMBAL": (
        n_("its key is near gimbal lock at frame {:names}; another rotation order avoids that"),
        n_("its keys are near gimbal lock at frames {:names}; another rotation order avoids that"),
    ),
    "REPAIRED": n_("repaired: {:s}"),
    "NOT_REPAIRED": n_("{:s} ({:s})"),
    "TURN_KEPT": n_("{:s}; the option Shortest shortens that"),
    "NOT_REPAIRED_BAKED": n_("baked; use Free Bake first"),
    "NOT_REPAIRED_MODIFIED": n_("its channels have modifiers; apply or remove them first"),
    "NOT_REPAIRED_ADDED": n_(
        "its action is added to other motion (NLA blending); only what replaces it can be repaired"
    ),
    "NOT_REPAIRED_UNUSED": n_("it is TCB, and nothing uses its action; assign the action to its object first"),
    "NOT_REPAIRED_PARTLY": n_("only some of its channels have keys; key all of them first"),
    # Timing.
    "TIMING_WHICH_TRACK": n_("say which track is to have a constant speed"),
    "TIMING_OUTSIDE": n_("the frame to hold lies outside its motion, {:g} to {:g}"),
    "NO_TIMING": n_("it has no frame function"),
    "TIMING_ONE_KEY": n_("it has keys at one frame only: there is no motion to time"),
    "TIMING_DRIVEN": n_("a driver decides its {:s}, not a curve; remove that driver first"),
    "TIMING_LOCKED": n_("its frame function is locked; unlock that channel first"),
    "TIMING_STILL": n_("it does not move: there is no speed to be made constant"),
    "TIMING_NOT_FINITE": n_("its frame function is not a finite number"),
    "TIMING_TOO_FAR": n_("its frame function leads from frame {:g} to {:g} of it: too far to follow"),
    # Tables.
    "TABLE_NOT_BEZIER": n_("not all of its keys are Bezier, which a table does not hold: where it is read they are"),
    "TABLE_SIGNS": n_("its quaternions change sign from key to key: where the table is read it turns the shorter way"),
    "COLUMN_LEFT_OUT": n_("left out: {:s}"),
    "COLUMNS_EMPTY": n_("there are no values in the columns"),
    "COLUMNS_UNKNOWN": n_("none of the columns names a float property of it"),
    "COLUMNS_TWICE": n_("the table tells it twice: in columns of its own, and by a matrix that scales"),
    "COLUMN_BEYOND": n_("it has {:d} components, and the table has number {:d}"),
    "COLUMN_WITHOUT_COMPONENT": n_("it has {:d} components: name one, as in {:s}[0]"),
    "COLUMN_UNKNOWN": n_("it has no float property of this name"),
    "COLUMN_OWNER_EMPTY": n_("its {:s} is empty, so there is no such property"),
    "COLUMN_NOT_ANIMATABLE": n_("it is not a separate property that can be animated"),
    "COLUMN_NOTHING_ROTATES": n_("there is nothing of this name that rotates"),
    "ROW": n_("line {:d}: {:s}"),
    "ROW_BEYOND": n_("frame {:g} is beyond Blender's last, {:g}"),
    "ROWS_TOO_NEAR": n_("the next row is nearer than Blender tells keys apart, {:g} frames; leave rows out"),
    "CELL_TOO_LARGE": n_("the value is more than float32 holds"),
    "MATRIX_FLAT": n_("the matrix has an axis of length 0, so it says no rotation"),
    "MATRIX_SHEARED": n_("the matrix is sheared, which location, rotation, scale are not"),
    "ROWS_NEGATED": n_("{:,} of {:,} quaternions are negated, so that it turns the shorter way from row to row"),
    "ROWS_SHORTER": n_("turns of more than half a turn are taken the shorter way in mode {:s}"),
    "COMPONENT_DRIVEN": n_("a driver decides its component {:d}, which keys would not move"),
    "HAS_KEYS": n_("it has keys already; Replace Keys (command: --replace) takes them away"),
    "PARAMETERS_GONE": n_("its TCB parameters were those of keys that are gone"),
    # Velocities as custom properties.
    "VELOCITY_TOO_LARGE": n_("its {:s} is more than float32 holds"),
    "VELOCITY_FORGOTTEN": n_(
        "a library override: Blender forgets its custom properties on loading; then write them again"
    ),
    "VELOCITY_MISSING": n_("its method has no {:s}: left out"),
    "NO_VELOCITIES": n_("it has no velocities that were written"),
    # Keys from arrays, and curves of FBX and glTF files.
    "PROPERTY_UNKNOWN": n_("it has no float property of this path"),
    "CURVES_NOT_READ": n_("{:s} can't be read: {:s}"),
    "CURVES_FAULT": n_("{:s}: {:s}"),
    "CURVES_WARNING": n_("{:s}: {:s}"),
    "CURVES_NOT_FOUND": n_("no animation of {:s} is on these objects; import the file first"),
    "LOCATION_OFF": n_("its location is {:size} off the file's keys; import the file again, or choose its own objects"),
    "ROTATION_OFF": n_("its rotation is {:size} off the file's keys; import the file again, or choose its own objects"),
    "SCALE_OFF": n_("its scale is {:size} off the file's keys; import the file again, or choose its own objects"),
    "MOVED_WITHOUT_CURVES": n_("the file animates it, but it has no F-curves; import its animation first"),
    "KEY_BEYOND": n_("a key of the file is beyond Blender's last frame, {:g}"),
    "RESTORE_TCB": n_("it is a TCB track; remove TCB first, then restore its curves"),
    "RESTORED_NEARLY": n_("handles play it within {:size}; Exact adds keys until they play it"),
    "STAYS_PLAIN": n_("it stays plain: no parameters play its curves"),
    # Reduce.
    "REDUCE_SAMPLE_LIMIT": n_(
        "its keys are so far apart that about {:,.0f} samples are needed, more than the limit of {:,}. "
        "Reduce a range of frames, or raise the sample limit"
    ),
    "REDUCE_TCB": n_("it is TCB already; apply or remove it first"),
    "REDUCE_BAKED": n_("it is baked; free or apply it first"),
    "REDUCE_MODIFIERS": n_("F-curve modifiers act on it ({:s}); bake or remove them first"),
    "REDUCE_HANDLES_FREE": n_(
        "automatic handles of keys beside the range are Free, where they are: Blender would place them by the new keys"
    ),
    "REDUCE_PLAIN": n_("made of few keys, which are not TCB: they come back plain"),
    "REDUCE_SHARED": n_('it goes on playing "{:s}", which it shares'),
    "REDUCE_KEPT": n_('its action "{:s}" is kept in the file'),
    "REDUCE_FEW_IN_RANGE": n_("it has no three keys of a track from frame {:g} to {:g}"),
    "REDUCE_NO_KEYS": n_("it has no keys to reduce"),
    "REDUCE_FEW_KEYS": n_("it has too few keys to reduce"),
    "REDUCE_CLOSE": n_("its keys are less than a frame apart"),
    "REDUCE_SHORT_RANGE": n_("the range has less than three whole frames"),
    "REDUCE_RANGE_END": n_("it has no key at frame {:g}, at an end of the range"),
    "REDUCE_TURNS": n_("its channels jump by a turn within these frames"),
    "REDUCE_TOO_FEW": n_("{:d} keys are too few: at least {:d} are needed"),
    "REDUCE_PHYSICS": n_("physics move it: {:s} is a rigid body"),
    "REDUCED": n_("{:s}"),
    "NOT_REACHED": n_("{:s}"),
    # Relax.
    "RELAX_OWN_BONE": n_("the target is the bone {!r} itself: choose another"),
    "RELAX_ITSELF": n_("the target is the object itself: choose another"),
    "RELAX_NO_OBJECT": n_('there is no object "{:s}"'),
    "RELAX_NO_TARGET": n_("choose a target first"),
    "RELAX_NO_KEY": n_("no key was chosen that may change"),
    "RELAX_SELECT_KEYS": n_("select the keys that may change, in the Dope Sheet or the timeline"),
    "RELAX_UNKNOWN": n_("{:s}: only what F-curves and parents move can be relaxed"),
    "RELAX_NOT_FINITE": n_("how far it is from what is wanted is not a finite number"),
    "RELAX_NOT_REACHED": n_(
        "these keys can't reach {:size}: {:size} is left at frame {:g}, of {:size} before. Nothing was changed. "
        "Choose more keys"
    ),
    "RELAX_ONLY_TRANSFORMS": n_("only keys of location and rotation can be relaxed"),
    "RELAX_NO_PLANE": n_("its scale is zero, so it has no plane"),
    # Checks, and what Blender moves otherwise than by F-curves.
    "NOT_CHECKED": n_("not checked: {:s}"),
    "NOT_WORLD_SPACE": n_("it does not work in world space"),
    "OTHER_CONSTRAINTS": n_("other constraints act on it too"),
    "PLACE_NOT_FINITE": n_("a place is not a finite number"),
    "TARGET_NO_BONE": n_("its target {:s} is not a bone"),
    "TOO_MANY_FRAMES": n_("{:,.0f} samples from frame {:g} to {:g} are too many: give a shorter range"),
    "NO_PARENT": n_("it has no parent"),
    "BONE_WITHOUT_PARENT": n_("its bone {!r} has no parent"),
    "JOINT_PARENT_FLAT": n_("its parent's scale is zero at frame {:g}; begin the range at another frame"),
    "JOINT_NOT_FINITE": n_("where it is is not a finite number"),
    "HAS_CONSTRAINTS": n_("{:s} has constraints"),
    "RIGID_BODY": n_("{:s} is a rigid body"),
    "PARENTED_BY": n_("{:s} is parented by {:s}"),
    "PARENTED_RELATIVE": n_("{:s} is parented relative to {:s}"),
    "HAS_IK": n_("{:s} has inverse kinematics"),
    "INHERITS_PART": n_("{:s} inherits only a part of its parent's transform"),
    "HAS_NLA": n_("{:s} has NLA tracks"),
    "HAS_DRIVERS": n_("{:s} has drivers"),
    "QUOTED": n_("{:s}"),
    # 3D Studio files.
    "FILE_DAMAGED": n_("{:s}"),
    "FILE_WARNING": n_("{:s}"),
    "OF_FILE": n_("{:s}: {:s}"),
    "FOUND": n_("Found {:s}"),
    "IN_FILE_AND_SCENE": n_("In the file {:s}; in the scene {:s}"),
    "MADE": n_("Made {:s}"),
    "MATCHED": n_("Matched {:d} by name: {:s}"),
    "LEFT_OUT": n_("Left out: {:s}"),
    "AXIS_WITHOUT_LENGTH": (
        n_("{:d} key with an axis of no length: taken as no turn"),
        n_("{:d} keys with an axis of no length: taken as no turn"),
    ),
    "NEARLY_WHOLE_TURN": (
        n_("{:d} turn of nearly 360 degrees taken as a small one the other way"),
        n_("{:d} turns of nearly 360 degrees taken as small ones the other way"),
    ),
    "KEYS_SHARE_FRAME": n_("keys share frame {:s}: the earlier ones go {:g} frames ahead, so that none is lost"),
    "KEY_NOT_FINITE": (
        n_("{:d} key without a finite value: left out"),
        n_("{:d} keys without a finite value: left out"),
    ),
    "KEYS_GO_BACK": n_("its keys go back in time: put in order"),
    "KEYS_NOT_TOLD_APART": (
        n_("{:d} key nearer than {:g} frames to the next, which Blender can't tell apart: left out"),
        n_("{:d} keys nearer than {:g} frames to the next, which Blender can't tell apart: left out"),
    ),
    "KEY_PARAMETERS_OUT_OF_RANGE": (
        n_("{:d} key with parameters out of range: taken as the nearest in range"),
        n_("{:d} keys with parameters out of range: taken as the nearest in range"),
    ),
    "LONG_TURN": (
        n_("{:d} turn over half a turn, up to {:.1f} degrees"),
        n_("{:d} turns over half a turn, up to {:.1f} degrees"),
    ),
    "TURNS_SAMPLED": n_(
        "no rotation mode says its turns by its keys: written as samples of the motion, in their place"
    ),
    "TURNS_SHORTENED": n_("{:s}: taken by the shorter way"),
    "MODE_CHOSEN": n_("its rotation mode is {:s}, which can say its turns"),
    "FRAMES_BEYOND_FILE": n_("the scene's frames go beyond the file's last, {:,}: it plays as far as that"),
    "OTHER_CONSTRUCTION": n_("the file can't say that its rotation goes between keys otherwise than most"),
    "PARENT_LOSES_SCALE_AND_ROTATION": n_(
        'hangs from "{:s}", of which the file has no scale or rotation: it goes without'
    ),
    "PARENT_LOSES_SCALE": n_('hangs from "{:s}", of which the file has no scale: it goes without'),
    "NODES_MAKE_COLOR": n_("its nodes make the color of its background: the ambient light has its viewport color"),
    "NODES_ANIMATED": n_("its nodes are animated, which is left: {:s}"),
    "LIGHT_TYPE": n_("a {:s} light, which the file has not: written as one that shines all round"),
    "TYPE_AS_DUMMY": n_("{:s}s have no place in the file: written as a dummy"),
    "COLLECTION_AS_DUMMY": n_('shows the collection "{:s}", which is left: written as a dummy'),
    "SHAPE_CHANGES": n_("its shape changes, which the file can't say: written as it is at the first frame"),
    "VALUE_NOT_IN_FILE": (
        n_("{:d} key with a value that the file has no number for: taken as the nearest, or 0"),
        n_("{:d} keys with a value that the file has no number for: taken as the nearest, or 0"),
    ),
    "FRAME_NOT_WHOLE": (
        n_("{:d} key not at a whole frame, such as {:g}: at the nearest in the file"),
        n_("{:d} keys not at a whole frame, such as {:g}: at the nearest in the file"),
    ),
    "KEYS_SHARE_FILE_FRAME": n_("keys nearer to each other than a frame: they share one in the file"),
    "SHORT_NAME": n_('is "{:s}" in the file, whose names have {:d} characters of Latin-1'),
    "IMPORT_STATE_DAMAGED": n_("what it keeps of its imported file (3ds) is damaged: it is written anew"),
    "MOTION_SAMPLED": n_("{:s}: its motion is written as samples"),
    "SHEARED": n_("it is sheared, which the file can't say: it is written without"),
    "MARKERS_CHANGED": n_("morph track: its markers were changed, so it is left out"),
    "LENS_SAMPLED": n_("its lens moves: the field of view is written as {:d} samples of it"),
    "VIEW_AS_PERSPECTIVE": n_("its view is {:s}, which the file can't say: it is written as perspective"),
    "HOTSPOT_SAMPLED": n_("its blend or size moves: the hotspot is written as {:d} samples of them"),
    "HAS_CONSTRAINT": n_('has the constraint "{:s}"'),
    "PARENT_NOT_IN_FILE": n_("hangs from what is not in the file"),
    "DRIVERS": n_("has drivers"),
    "NLA_STRIPS": n_("has NLA strips"),
    "DELTAS": n_("has delta transforms"),
    "PARENT_INVERSE_SHEARS": n_("has a parent inverse that shears"),
    "NOT_WRITTEN": n_("{:s}; let it be sampled (command: --others SAMPLE), or make it TCB"),
    "WRITTEN_UNBAKED": n_("TCB, but not baked: written as a bake would play it, not as Blender plays it now"),
    "WRITTEN_OUT_OF_DATE": n_(
        "edited since its last bake: written as a bake would play it, not as Blender plays it now"
    ),
    "WRITTEN_EDITED_OUTSIDE": n_(
        "edited outside since its bake: written as a bake would play it, not as Blender plays it now"
    ),
    "WRITTEN_OTHER_MODE": n_(
        "baked for another rotation mode: written as a bake in its own mode would play it, not as Blender plays it now"
    ),
    "FILE_KEYS_FAR_APART": n_(
        "between its first and its last key there are {:,.0f} frames, more than the limit of {:,} samples: "
        "shorten its motion, or raise the sample limit"
    ),
    "FILE_SAMPLE_LIMIT": n_(
        "with its {:,} samples the file would have more than the limit of {:,}: shorten its motion or the scene's "
        "frame range, make it TCB without constraints, or raise the sample limit"
    ),
    "WRITTEN_AS_SAMPLES": n_("{:s}: written as {:d} samples"),
    "WRITTEN_AS_SAMPLES_OUTSIDE": n_(
        "{:s}: written as {:d} samples, also of the scene's frames outside its keys, where it goes on"
    ),
    "REASON_LEFT": n_("{:s}, which is left"),
    "ENDS_NOT_IN_FILE": n_("the file can't say its ends: who plays it chooses them"),
    "IS_DRIVEN": n_("driven"),
    "IS_NOT_TCB": n_("not TCB"),
    "IN_WORLD_SPACE": n_("baked in world space"),
    "MUTED_IN_PART": n_("muted in part"),
    "RETIMED": n_("retimed by a frame function"),
    "METHOD_NOT_IN_FILE": n_("the file knows no {:s}"),
    "COMPONENTS_APART": n_("its components have keys, or splines that end, at different frames"),
    "MODIFIERS_LEFT": n_("modifiers of its F-curves are left: {:s}"),
    "GOES_ON_OUTSIDE": n_("goes on outside its keys, by its extrapolation or modifiers, where the file holds it"),
    "SEGMENT_FILLED": (
        n_("{:d} segment that is held or eased is written with {:d} keys more, and as it is at whole frames"),
        n_("{:d} segments that are held or eased are written with {:d} keys more, and as they are at whole frames"),
    ),
    "SPLINE_SAMPLED": (
        n_("{:d} spline beside such segments that keys can't end: written as {:d} samples"),
        n_("{:d} splines beside such segments that keys can't end: written as {:d} samples"),
    ),
    "DRIVER_DECIDES": n_("a driver decides its {:s}, so what the file has of it is left"),
    "SAMPLES_FOR_HANDLES": n_("baked as samples, as handles would be off by up to {:size}"),
    "HANDLES_FOR_SAMPLES": n_(
        "played with handles, as about {:,.0f} samples exceed the limit of {:,}. Raise the sample limit to bake them."
    ),
    "NODE_LEFT": n_("left: {:s}"),
    "NODE_WITHOUT_OBJECT": n_("left: no object of this name"),
    "ACTION_REPLACED": n_('its action was "{:s}", which the file keeps'),
    "WORLD_NOT_USED": n_('the ambient light is the world "{:s}", not used: the scene has one'),
    "ONE_OF_SEVERAL": n_('is "{:s}" of several objects that it could be: {:s}'),
    "IS_LINKED": n_("it is linked"),
    "IS_TWEAKED": n_("an NLA strip of it is in tweak mode"),
    "OWN_CONSTRAINTS": n_("has constraints of its own, which stay: {:s}"),
    "OTHER_PARENT": n_("hangs from {:s}, in the file from {:s}: its keys are the file's"),
    "VERTICES_APART": n_("its vertices lie up to {:size} from where the file has them around its pivot"),
    "OBJECT_LACKS_TRACK": n_("left: nothing of an object takes it"),
    "CAMERA_LACKS_TRACK": n_("left: nothing of a camera takes it"),
    "CAMERA_TARGET_LACKS_TRACK": n_("left: nothing of a camera target takes it"),
    "LIGHT_LACKS_TRACK": n_("left: nothing of a light takes it"),
    "SPOTLIGHT_LACKS_TRACK": n_("left: nothing of a spotlight takes it"),
    "LIGHT_TARGET_LACKS_TRACK": n_("left: nothing of a light target takes it"),
    "AMBIENT_LACKS_TRACK": n_("left: nothing of an ambient light takes it"),
    "NO_TARGET_NO_ROLL": n_("it has no target: it looks along -Z, without its roll"),
    "NO_TARGET": n_("it has no target: it looks along -Z"),
    "UNDER_AMBIENT": n_("hangs from the ambient light, which has no place: it is taken to have no parent"),
    "UNDER_AMBIENT_UNDER": n_('hangs from the ambient light, which has no place: it is taken to hang from "{:s}"'),
    "UNLINKED_AXES": n_(
        "it is unlinked from its parent along some axes, which is left: it takes all of the parent's motion"
    ),
    "CYCLE_LEFT": n_("its cycle is left: it ends with its last key"),
    "MORPH_AS_MARKERS": n_("{:d} keys kept as markers of its action: Blender is not told to morph"),
    "ANGLE_OUT_OF_RANGE": (
        n_("{:d} key not between {:g} and {:g} degrees: Blender shows the nearest that it can"),
        n_("{:d} keys not between {:g} and {:g} degrees: Blender shows the nearest that it can"),
    ),
    "MESH_TOO_LARGE": n_(
        "its mesh has {:d} vertices and {:d} triangles, more than the {:d} that the file can hold: "
        "left out, the object is a dummy"
    ),
    "FLAT_MESH": n_("it is flat at the first frame, so its mesh is written without the object's turn and scale"),
    "MIRRORED_MESH": n_("its scale mirrors it: other readers may show its mesh the other way round"),
    "MESH_MATRIX": n_("its mesh matrix is singular or not finite: the mesh is imported without applying it"),
    "VERTICES_NOT_FINITE": n_("{:d} of its vertices have no finite place: put at the origin"),
    "FACES_WITHOUT_VERTICES": n_("{:d} of its faces have missing vertices: left out"),
    "TEXTURE_COORDINATES": n_("its texture coordinates are not one a vertex: left out"),
    # Files of the command.
    "FILE_NOT_READ": n_("can't be read: {:s}"),
    "FILE_NOT_A_FILE": n_("not a file"),
    "FILE_NOT_BLEND": n_("not a .blend file"),
    "FILE_EMPTY": n_("not a .blend file: it is empty"),
    "FILE_NOT_OPENED": n_("Blender {:s} can't open it; it is damaged, or of a newer Blender: {:s}"),
    "FILE_OF_NEWER": n_("saved by Blender {:s}: this is {:s}, which could lose some of it when writing"),
    "FILE_NOT_3DS": n_("{:s}"),
    "FILE_GONE": n_("it is gone"),
    "FILE_CHANGED": n_("it was written to by someone else meanwhile, and is left as it is now"),
    "FILE_FAULT": n_("{:s}: {:s} (a fault of TCB Animation's; please report it)"),
    "TARGET_NOT_A_FILE": n_("{:s} is there, and is not a file"),
    "TARGET_PROTECTED": n_("{:s} is write-protected"),
    "TARGET_NOT_WRITTEN": n_("{:s} can't be written: {:s}"),
    "TARGET_IS_LIBRARY": n_("{:s} is a library that the file links from, and would be replaced"),
    "FOLDER_MISSING": n_("the folder {:s} does not exist"),
    "FOLDER_NOT_A_FOLDER": n_("{:s} is not a folder"),
    "FOLDER_PROTECTED": n_("the folder {:s} can't be written to: permission denied"),
    "BLENDER_DID_NOT_WRITE": n_("Blender could not write to {:s}{:s}: {:s}"),
    "LOG_NOT_WRITTEN": n_("the log {:s} can't be written: {:s}"),
    "TABLE_NOT_READ": n_("{:s} can't be read: {:s}"),
    "TABLE_FAULT": n_("{:s}: {:s}"),
    "OPTIONS": n_("{:s}"),
    "LIBRARY_MISSING": n_("the library {:s} is missing: what is linked from it is left as it is"),
    "SAVED_BY_NEWER": n_("saved by Blender {:s}: this is {:s}, which may not see all of it"),
    "RESULT_CONVERTED": n_("saved by Blender {:s}; the result is a file of Blender {:s}"),
    "LEFT_TO_OWN_FILE": n_("linked, so left to its own file"),
    "NOTHING_BUT_LINKED": n_("nothing to do: what there is to do is linked, and left to its own file"),
    "NO_OBJECT_MATCHES": n_('no object matches "{:s}"; there is {:names}'),
    "NO_OBJECT": n_('no object matches "{:s}"; there is none at all'),
    "NOT_WRITTEN_STRICT": n_("no result was written because --strict is set"),
    "NOT_IN_A_SCENE": n_("not checked: it is not in any scene"),
    "NO_JOINT_OBJECT": n_('no object is called "{:s}"; for a bone write OBJECT:BONE'),
    "VIOLATION": n_("{:s}, {:s}"),
    "JOINT_HOLDS": n_('its joint on "{:s}" holds exactly, {:,} samples'),
    "JOINT_APART": n_('its joint on "{:s}" is up to {:.4g} apart'),
    "NOT_ANIMATED": n_("nothing in it is animated"),
    "ONE_OBJECT_NEEDED": n_("a table is about one object, and there are {:d}: say which by --objects: {:names}"),
    "NOTHING_TO_BAKE": n_("nothing to bake: no TCB tracks (--enable makes them)"),
    "NOTHING_TO_ENABLE_AND_BAKE": n_("nothing to bake: none of it has keys on a float property"),
    "NOTHING_TO_FREE": n_("nothing to free: none of it is baked"),
    "NOTHING_TO_RESTORE": n_("nothing to restore: none of it plays TCB motion"),
    "NOTHING_TO_APPLY": n_("nothing to apply: none of it is TCB"),
    "NOTHING_TO_REMOVE": n_("nothing to remove: none of it is TCB"),
    "NOTHING_TO_ENABLE": n_("nothing to enable: it has no track with keys that is not TCB already"),
    "NOTHING_TO_REDUCE": n_("nothing to reduce: it has no track with more than two keys that is not TCB already"),
    "NOTHING_TO_REDUCE_IN_RANGE": n_("nothing to reduce: no track that is not TCB already has three keys in the range"),
    "NOTHING_TO_CURVES": n_("no curves to restore: nothing in the file has the names of these objects"),
    "NOTHING_TO_ROTATIONS": n_("nothing to repair: no rotation flips or jumps"),
    "NOTHING_TO_VELOCITIES": n_("no velocities to write: none of it is TCB"),
    "NOTHING_TO_NO_VELOCITIES": n_("no velocities to take away: none are written"),
    "WORKER_ENDED": n_("the process that worked on it ended with status {:d}: {:s}"),
    "WORKER_ENDED_BY_SIGNAL": n_("the process that worked on it was ended by signal {:d} ({:s}): {:s}"),
    "WORKER_KILLED": n_("the process that worked on it was ended by signal {:d} ({:s}); is memory short? {:s}"),
}

NOTHING_TO_DO = frozenset(
    (
        "COLUMNS_EMPTY",
        "COLUMNS_UNKNOWN",
        "CURVES_GONE",
        "NO_FLOAT_KEYS",
        "NO_FLOAT_PROPERTY",
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
"""Codes of errors only where nothing else was done: some of several objects may have nothing to work on."""

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
        "TURNED_SHORT",
    )
)
"""Codes of notes that stay valid until the track changes."""

ASK_TO_FREE = frozenset(("DID_NOT_CHANGE", "DID_NOT_MOVE", "KEYED_WHILE_BAKED", "LOCKED_AGAIN", "POSED_WHILE_BAKED"))
"""Codes of notes to which Free Bake is the answer."""
