"""`frames.scan` for a record section that comes in pieces, as a streaming decoder makes them.

A frame may lie in several pieces, and so may each of its numbers. What is wrong with a frame is not said here:
`frames.scan` has the words, for those who still have all the bytes.
"""

from ottla.base.buffer import Buffer
from ottla.protocol.records.frames_plain import Facts, check_count, read_frame, read_varint, wrap
from ottla.protocol.records.timestamp import NO_TIMESTAMP

_INT64_MAX = 2**63 - 1
_VARINT_BYTES_MAX = 5


class Scanner:
    """`scan` for a section that comes in pieces, none of which is kept.

    >>> scanner = Scanner(1, 0)
    >>> [scanner.feed(piece) for piece in (bytes((12, 0, 2, 0)), bytes((1, 1)), bytes((0,)))]
    [True, True, True]
    >>> scanner.facts()
    (1, 1, 1, True)
    """

    def __init__(self, count: int, base_timestamp: int) -> None:
        check_count(count)
        self._count = count
        self._base_timestamp = base_timestamp
        self._index = 0
        self._lowest, self._highest = _INT64_MAX, -_INT64_MAX - 1
        self._null_keys = 0
        self._consecutive = True
        self._is_good = True
        self._begun = bytearray()
        """Of the frame whose end has not come yet; the compiled twin keeps no more than its place in it."""
        self._needed = 1

    def feed(self, data: Buffer) -> bool:
        """Takes the next bytes. False once a frame is malformed: what follows does not matter then."""
        self._begun += data
        if self._is_good and len(self._begun) >= self._needed:
            self._take_frames(bytes(self._begun))
        return self._is_good

    def facts(self) -> Facts | None:
        """The result of `scan` over all the bytes; None if it refuses them."""
        if not self._is_good or self._begun or self._index != self._count:
            return None
        lowest = self._lowest if self._lowest != _INT64_MAX else -1
        return lowest, self._highest if self._count else -1, self._null_keys, self._consecutive

    def _take_frames(self, raw: bytes) -> None:
        at = 0
        while at < len(raw):
            try:
                size, start = read_varint(raw, at)
            except IndexError:
                # The length itself may go on in the next piece.
                self._is_good = len(raw) - at < _VARINT_BYTES_MAX and self._index < self._count
                self._needed = len(raw) - at + 1
                break
            self._is_good = size >= 1 and self._index < self._count
            self._needed = start + size - at
            if not self._is_good or start + size > len(raw):
                break
            if not self._take_frame(raw, at):
                self._is_good = False
                break
            at = start + size
            self._needed = 1
        self._begun = bytearray(raw[at:])

    def _take_frame(self, raw: bytes, at: int) -> bool:
        """A whole frame; False if it is malformed."""
        try:
            frame = read_frame(raw, at)
        except IndexError:
            frame = None
        if frame is None:
            return False
        timestamp_delta, offset_delta, key, _, _ = frame[0]
        timestamp = wrap(self._base_timestamp + timestamp_delta)
        self._highest = max(self._highest, timestamp)
        if timestamp != NO_TIMESTAMP:
            self._lowest = min(self._lowest, timestamp)
        self._null_keys += key is None
        self._consecutive &= offset_delta == self._index
        self._index += 1
        return True
