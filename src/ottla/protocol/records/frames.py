"""The loops over record frames, by whichever twin is installed.

`frames_plain` documents each function; the compiled `_frames` behaves the same, errors included.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.protocol.records import frames_plain as _twin
else:
    _twin = load("ottla.protocol.records._frames", "ottla.protocol.records.frames_plain")

scan = _twin.scan
find_invalid = _twin.find_invalid
decode = _twin.decode
iterate = _twin.iterate
encode = _twin.encode
record_size = _twin.record_size
