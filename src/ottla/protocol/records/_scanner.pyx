"""The compiled twin of `scanner_plain`: it keeps its place in a frame, and none of the bytes. Runs without the GIL."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from ottla.protocol.records._frame cimport Frame, add, parse

from ottla.protocol.records.frames_plain import check_count


cdef enum Awaited:
    LENGTH
    ATTRIBUTES
    TIMESTAMP
    OFFSET
    KEY_SIZE
    KEY
    VALUE_SIZE
    VALUE
    HEADER_COUNT
    NAME_SIZE
    NAME
    HEADER_VALUE_SIZE
    HEADER_VALUE
    NOTHING


cdef struct Place:
    # Where in a frame that lies in more than one piece the last piece ended.
    int64_t left  # bytes of the frame that are still to come, once its length is known
    int64_t skipped  # bytes of a key, value or name that are still to come
    uint64_t number  # the bits so far of the number that is being read
    int32_t headers
    int shift
    Awaited awaited


cdef inline bint take_size(Place* place, int32_t size, Awaited field, Awaited following) noexcept nogil:
    """A length was read: its bytes come next, or what follows them."""
    if size > place.left:
        return False
    place.skipped = size
    place.awaited = field if size > 0 else following
    return True


cdef inline void next_header(Place* place) noexcept nogil:
    place.awaited = NAME_SIZE if place.headers > 0 else NOTHING


cdef bint take_number(Place* place, Frame* frame) noexcept nogil:
    """The number that was awaited is complete; False if the frame is malformed."""
    cdef int64_t wide = <int64_t>((place.number >> 1) ^ (0 - (place.number & 1)))
    cdef uint32_t low = <uint32_t>place.number
    cdef int32_t value = <int32_t>((low >> 1) ^ (0 - (low & 1)))
    cdef Awaited awaited = place.awaited
    place.number, place.shift = 0, 0
    if awaited == LENGTH:
        place.left, place.awaited = value, ATTRIBUTES
        return value >= 1
    if awaited == TIMESTAMP:
        frame.timestamp_delta, place.awaited = wide, OFFSET
    elif awaited == OFFSET:
        frame.offset_delta, place.awaited = value, KEY_SIZE
    elif awaited == KEY_SIZE:
        frame.key_size = value
        return take_size(place, value, KEY, VALUE_SIZE)
    elif awaited == VALUE_SIZE:
        return take_size(place, value, VALUE, HEADER_COUNT)
    elif awaited == HEADER_COUNT:
        place.headers = value
        next_header(place)
        return value >= 0
    elif awaited == NAME_SIZE:
        return value >= 0 and take_size(place, value, NAME, HEADER_VALUE_SIZE)
    else:
        place.headers -= 1
        if not take_size(place, value, HEADER_VALUE, NOTHING):
            return False
        if value <= 0:
            next_header(place)
    return True


cdef const uint8_t* go_on(const uint8_t* at, const uint8_t* end, Place* place, Frame* frame) noexcept nogil:
    """Reads on in a frame, up to its last byte or the piece's; NULL if it is malformed."""
    cdef int64_t step
    while place.awaited != NOTHING and (at < end or (place.left == 0 and place.awaited != LENGTH)):
        if place.awaited != LENGTH and place.left == 0:
            return NULL
        if place.awaited in (KEY, VALUE, NAME, HEADER_VALUE):
            step = min(place.skipped, <int64_t>(end - at))
            at += step
            place.left -= step
            place.skipped -= step
            if place.skipped > 0:
                continue
            if place.awaited == HEADER_VALUE:
                next_header(place)
            else:
                place.awaited = <Awaited>(<int>place.awaited + 1)
            continue
        if place.awaited == ATTRIBUTES:
            place.awaited = TIMESTAMP
        else:
            if place.shift > (63 if place.awaited == TIMESTAMP else 28):
                return NULL
            place.number |= <uint64_t>(at[0] & 0x7F) << place.shift
            place.shift += 7
        place.left -= place.awaited != LENGTH
        at += 1
        if place.shift > 0 and at[-1] < 0x80 and not take_number(place, frame):
            return NULL
    return at


cdef class Scanner:
    """See `scanner_plain.Scanner`."""
    cdef Place place
    cdef Frame frame
    cdef int64_t base_timestamp, lowest, highest
    cdef int32_t count, index, null_keys
    cdef bint consecutive, is_good

    def __init__(self, int64_t count, int64_t base_timestamp):
        check_count(count)
        self.count, self.base_timestamp = <int32_t>count, base_timestamp
        self.lowest, self.highest = INT64_MAX, INT64_MIN
        self.consecutive = self.is_good = True

    def feed(self, data):
        cdef Py_buffer view
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            with nogil:
                self.is_good = self.is_good and self.take(<const uint8_t*>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)
        return self.is_good

    def facts(self):
        cdef int64_t lowest = self.lowest
        if not self.is_good or self.index != self.count or self.place.awaited != LENGTH or self.place.shift > 0:
            return None
        return (
            lowest if lowest != INT64_MAX else -1,
            self.highest if self.count > 0 else -1,
            self.null_keys,
            self.consecutive,
        )

    cdef bint take(self, const uint8_t* at, Py_ssize_t size) noexcept nogil:
        cdef const uint8_t* end = at + size
        cdef const uint8_t* following
        while at < end:
            if self.index == self.count:
                return False
            following = NULL
            if self.place.awaited == LENGTH and self.place.shift == 0:
                # Nearly every frame lies within one piece.
                following = parse(at, end, &self.frame)
            if following == NULL:
                following = go_on(at, end, &self.place, &self.frame)
                if following == NULL or (self.place.awaited == NOTHING and self.place.left != 0):
                    return False
                if self.place.awaited != NOTHING:
                    return following == end
                self.place.awaited = LENGTH
            at = following
            self.note()
        return True

    cdef void note(self) noexcept nogil:
        """A frame is complete."""
        cdef int64_t timestamp = add(self.base_timestamp, self.frame.timestamp_delta)
        if timestamp > self.highest:
            self.highest = timestamp
        if timestamp < self.lowest and timestamp != -1:
            self.lowest = timestamp
        self.null_keys += self.frame.key_size < 0
        self.consecutive &= self.frame.offset_delta == self.index
        self.index += 1
