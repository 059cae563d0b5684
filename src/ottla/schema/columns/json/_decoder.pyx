"""The compiled loop from JSON documents to the buffers of Arrow arrays; `decoder_plain` is the twin to read first.

No loop holds the GIL; only numbers whose digits do not fit a double exactly ask Python for the nearest one.
"""

from cython cimport final
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from ottla.schema.columns._number cimport is_utf8
from ottla.schema.columns._rows cimport RowDecoder
from ottla.schema.columns._slot cimport (
    NO_MEMORY, Slot, open_row, push_bit, push_bytes, push_list, push_null, push_struct, resize, truncate,
)
from ottla.schema.columns.json._text cimport (
    NOT_JSON, hex_digit, scan_number, scan_string, scan_value, scan_word, skip_space,
)

cdef enum:
    # Of `layout.JsonKind`.
    K_NULL = 0
    K_BOOLEAN = 1
    K_INTEGER = 2
    K_NUMBER = 3
    K_STRING = 4
    K_TEXT = 5
    K_OBJECT = 6
    K_LIST = 7
    K_MAP = 8
    # Of the columns' `layout.Code`.
    NOT_UTF8 = 5
    NULL_VALUE = 11
    WRONG_KIND = 17
    NUMBER_TOO_LARGE = 18
    REASON = 100
    DIGITS_MAX = 20

cdef double[23] POWERS
POWERS[:] = [10.0**exponent for exponent in range(23)]


cdef struct Property:
    const uint8_t* name
    Py_ssize_t size
    int node
    int reason
    bint is_seen


cdef struct Node:
    int kind
    int slot
    bint is_nullable
    int part
    int first
    int properties


cdef struct Reading:
    # One document while it is read.
    Node* nodes
    Property* properties
    Slot* slots
    const int32_t* children
    const uint8_t* at
    const uint8_t* end
    uint8_t* scratch
    Py_ssize_t scratch_bytes


cdef inline int _kind(uint8_t first) noexcept nogil:
    """What a value that begins so is: one of the kinds, K_NUMBER for all numbers, -1 for no value."""
    if first == 34:
        return K_STRING
    if first == 45 or 48 <= first <= 57:
        return K_NUMBER
    if first == 123:
        return K_OBJECT
    if first == 91:
        return K_LIST
    if first == 116 or first == 102:
        return K_BOOLEAN
    return -1


cdef int _unit(const uint8_t* at) noexcept nogil:
    return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 | hex_digit(at[3])


cdef inline uint8_t* _encoded(uint8_t* out, int code) noexcept nogil:
    if code < 0x80:
        out[0] = <uint8_t>code
        return out + 1
    if code < 0x800:
        out[0] = <uint8_t>(0xC0 | code >> 6)
        out[1] = <uint8_t>(0x80 | code & 0x3F)
        return out + 2
    if code < 0x10000:
        out[0] = <uint8_t>(0xE0 | code >> 12)
        out[1] = <uint8_t>(0x80 | code >> 6 & 0x3F)
        out[2] = <uint8_t>(0x80 | code & 0x3F)
        return out + 3
    out[0] = <uint8_t>(0xF0 | code >> 18)
    out[1] = <uint8_t>(0x80 | code >> 12 & 0x3F)
    out[2] = <uint8_t>(0x80 | code >> 6 & 0x3F)
    out[3] = <uint8_t>(0x80 | code & 0x3F)
    return out + 4


cdef inline uint8_t _short(uint8_t letter) noexcept nogil:
    if letter == 98:
        return 8
    if letter == 102:
        return 12
    if letter == 110:
        return 10
    if letter == 114:
        return 13
    return 9 if letter == 116 else letter


cdef int _unescape(Reading* reading, const uint8_t* at, const uint8_t* end, Py_ssize_t* size) noexcept nogil:
    """A string's value into the scratch; surrogates have to be pairs."""
    cdef uint8_t* out
    cdef int code, low
    if end - at > reading.scratch_bytes:
        if resize(<void**>&reading.scratch, end - at):
            return NO_MEMORY
        reading.scratch_bytes = end - at
    out = reading.scratch
    while at < end:
        if at[0] != 92:
            out[0] = at[0]
            out += 1
            at += 1
            continue
        if at[1] != 117:
            out[0] = _short(at[1])
            out += 1
            at += 2
            continue
        code = _unit(at + 2)
        at += 6
        if 0xDC00 <= code < 0xE000:
            return NOT_UTF8
        if 0xD800 <= code < 0xDC00:
            if end - at < 6 or at[0] != 92 or at[1] != 117:
                return NOT_UTF8
            low = _unit(at + 2)
            if not 0xDC00 <= low < 0xE000:
                return NOT_UTF8
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            at += 6
        out = _encoded(out, code)
    size[0] = out - reading.scratch
    return 0


cdef int _string(Reading* reading, const uint8_t** text, Py_ssize_t* size) noexcept nogil:
    """Past a string; its value is in the document, or in the scratch until the next one."""
    cdef const uint8_t* start = reading.at
    cdef bint is_escaped = False
    cdef int reason = scan_string(&reading.at, reading.end, &is_escaped)
    if reason:
        return reason
    text[0] = start + 1
    size[0] = reading.at - start - 2
    if is_escaped:
        reason = _unescape(reading, start + 1, reading.at - 1, size)
        text[0] = reading.scratch
        if reason:
            reading.at = start
    return reason


cdef double _double_slow(const uint8_t* at, Py_ssize_t size) noexcept with gil:
    text = at[:size]
    return float(text)


cdef double _double(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The nearest double to a number. Up to 2^53 and 10^22, one operation on exact operands gives it."""
    cdef const uint8_t* start = at
    cdef uint64_t mantissa = 0
    cdef int digits = 0, exponent = 0, given = 0
    cdef bint is_negative = at[0] == 45, is_fraction = False, is_small = False
    cdef double value
    if is_negative:
        at += 1
    while at < end and at[0] | 32 != 101:
        if at[0] == 46:
            is_fraction = True
        else:
            if digits or at[0] != 48:
                digits += 1
            if digits > 18:
                return _double_slow(start, end - start)
            mantissa = mantissa * 10 + at[0] - 48
            exponent -= is_fraction
        at += 1
    if at < end:
        at += 1
        is_small = at[0] == 45
        if at[0] == 45 or at[0] == 43:
            at += 1
        while at < end:
            given = given * 10 + at[0] - 48
            if given > 100_000:
                return _double_slow(start, end - start)
            at += 1
    exponent += -given if is_small else given
    if mantissa > (<uint64_t>1 << 53) or not -22 <= exponent <= 22:
        return _double_slow(start, end - start)
    value = <double>mantissa
    value = value / POWERS[-exponent] if exponent < 0 else value * POWERS[exponent]
    return -value if is_negative else value


cdef bint _whole(const uint8_t* at, const uint8_t* end, int64_t* out) noexcept nogil:
    """An integer's digits; False where they do not fit."""
    cdef bint is_negative = at[0] == 45
    cdef uint64_t value = 0, limit
    if end - at > DIGITS_MAX:
        return False
    at += is_negative
    limit = <uint64_t>1 << 63
    if not is_negative:
        limit -= 1
    while at < end:
        if value > limit // 10 or value * 10 > limit - (at[0] - 48):
            return False
        value = value * 10 + at[0] - 48
        at += 1
    out[0] = <int64_t>(0 - value) if is_negative else <int64_t>value
    return True


cdef int _number(Reading* reading, const Node* node) noexcept nogil:
    cdef Slot* slot = &reading.slots[node.slot]
    cdef const uint8_t* start = reading.at
    cdef bint is_integer = False
    cdef double value
    cdef int64_t whole = 0
    cdef int reason = scan_number(&reading.at, reading.end, &is_integer)
    if reason:
        return reason
    if node.kind == K_NUMBER:
        value = _double(start, reading.at)
        reason = open_row(slot)
        if reason == 0:
            (<double*>slot.data)[slot.rows] = value
            slot.rows += 1
        return reason
    if not is_integer:
        value = _double(start, reading.at)
        if not -9223372036854775808.0 < value < 9223372036854775808.0 or value != <double><int64_t>value:
            reading.at = start
            return WRONG_KIND
        whole = <int64_t>value
    elif not _whole(start, reading.at, &whole):
        reading.at = start
        return NUMBER_TOO_LARGE
    reason = open_row(slot)
    if reason == 0:
        (<int64_t*>slot.data)[slot.rows] = whole
        slot.rows += 1
    return reason


cdef inline int _open(Reading* reading, uint8_t close, bint* is_closed) noexcept nogil:
    """Past an opening bracket, and the closing one if it follows."""
    reading.at += 1
    skip_space(&reading.at, reading.end)
    is_closed[0] = reading.at < reading.end and reading.at[0] == close
    reading.at += is_closed[0]
    return 0


cdef inline int _next(Reading* reading, uint8_t close, bint* is_closed) noexcept nogil:
    """Past the closing bracket, or past a comma."""
    skip_space(&reading.at, reading.end)
    if reading.at >= reading.end or (reading.at[0] != close and reading.at[0] != 44):
        return NOT_JSON
    is_closed[0] = reading.at[0] == close
    reading.at += 1
    return 0


cdef inline int _name(Reading* reading, const uint8_t** text, Py_ssize_t* size) noexcept nogil:
    """Past a property's name and its colon."""
    cdef int reason
    skip_space(&reading.at, reading.end)
    reason = _string(reading, text, size)
    if reason:
        return reason
    skip_space(&reading.at, reading.end)
    if reading.at >= reading.end or reading.at[0] != 58:
        return NOT_JSON
    reading.at += 1
    return 0


cdef int _find(Reading* reading, const Node* node, const uint8_t* text, Py_ssize_t size, int hint) noexcept nogil:
    """Which property has that name, looked for from the hint on; -1 for none."""
    cdef const Property* each
    cdef int at, index
    for index in range(node.properties):
        at = hint + index
        if at >= node.properties:
            at -= node.properties
        each = &reading.properties[node.first + at]
        if each.size == size and memcmp(each.name, text, size) == 0:
            return at
    return -1


cdef int _object(Reading* reading, const Node* node) noexcept nogil:
    cdef Py_ssize_t row = reading.slots[node.slot].rows, size = 0
    cdef const uint8_t* text = NULL
    cdef Property* found
    cdef bint is_closed = False
    cdef int index, at, hint = 0, reason
    for index in range(node.properties):
        reading.properties[node.first + index].is_seen = False
    reason = _open(reading, 125, &is_closed)
    while not is_closed:
        reason = _name(reading, &text, &size)
        if reason:
            return reason
        at = _find(reading, node, text, size, hint)
        if at < 0:
            reason = scan_value(&reading.at, reading.end, 0)
        else:
            found = &reading.properties[node.first + at]
            if found.is_seen:
                truncate(reading.slots, reading.children, reading.nodes[found.node].slot, row)
            found.is_seen = True
            hint = at + 1 if at + 1 < node.properties else 0
            reason = _value(reading, found.node)
        reason = reason or _next(reading, 125, &is_closed)
        if reason:
            return reason
    for index in range(node.properties):
        found = &reading.properties[node.first + index]
        if found.is_seen:
            continue
        if found.reason:
            return REASON + found.reason
        reason = push_null(reading.slots, reading.children, reading.nodes[found.node].slot)
        if reason:
            return reason
    return push_struct(&reading.slots[node.slot])


cdef int _items(Reading* reading, const Node* node) noexcept nogil:
    """A list's items or a map's entries."""
    cdef Slot* slot = &reading.slots[node.slot]
    cdef Slot* items = &reading.slots[reading.children[slot.first_child]]
    cdef bint is_map = node.kind == K_MAP, is_closed = False
    cdef uint8_t close = 125 if is_map else 93
    cdef const uint8_t* text = NULL
    cdef Py_ssize_t size = 0
    cdef int reason = _open(reading, close, &is_closed)
    while not is_closed:
        if is_map:
            reason = _name(reading, &text, &size)
            reason = reason or push_bytes(&reading.slots[reading.children[items.first_child]], text, size)
        reason = reason or _value(reading, node.part)
        if is_map:
            reason = reason or push_struct(items)
        reason = reason or _next(reading, close, &is_closed)
        if reason:
            return reason
    return push_list(slot, items.rows)


cdef int _value(Reading* reading, int number) noexcept nogil:
    """A value as a row of its plan's slot; 0, or why it can't be read."""
    cdef const Node* node = &reading.nodes[number]
    cdef const uint8_t* start
    cdef Py_ssize_t size = 0
    cdef int reason, found, kind = node.kind
    skip_space(&reading.at, reading.end)
    if reading.at >= reading.end:
        return NOT_JSON
    start = reading.at
    if start[0] == 110:
        if not node.is_nullable:
            return NULL_VALUE
        reason = scan_word(&reading.at, reading.end, "null", 4)
        return reason or push_null(reading.slots, reading.children, node.slot)
    if kind == K_TEXT:
        reason = scan_value(&reading.at, reading.end, 0)
        return reason or push_bytes(&reading.slots[node.slot], start, reading.at - start)
    found = _kind(start[0])
    if found != (K_NUMBER if kind == K_INTEGER else K_OBJECT if kind == K_MAP else kind):
        return NOT_JSON if found < 0 else WRONG_KIND
    if kind == K_OBJECT:
        return _object(reading, node)
    if kind == K_LIST or kind == K_MAP:
        return _items(reading, node)
    if kind == K_STRING:
        reason = _string(reading, &start, &size)
        return reason or push_bytes(&reading.slots[node.slot], start, size)
    if kind == K_BOOLEAN:
        found = start[0] == 116
        reason = scan_word(&reading.at, reading.end, "true" if found else "false", 4 if found else 5)
        return reason or push_bit(&reading.slots[node.slot], found)
    return _number(reading, node)


@final
cdef class DocumentDecoder(RowDecoder):
    """Reads JSON documents."""

    cdef Reading reading
    cdef object layout

    def __cinit__(self, slots, layout):
        cdef int index, at = 0
        self.layout = layout
        self.reading.nodes = <Node*>calloc(max(len(layout.nodes), 1), sizeof(Node))
        self.reading.properties = <Property*>calloc(
            max(sum(len(node.properties) for node in layout.nodes), 1), sizeof(Property)
        )
        if self.reading.nodes == NULL or self.reading.properties == NULL:
            raise MemoryError
        self.reading.slots = self.slots
        self.reading.children = self.children
        for index, node in enumerate(layout.nodes):
            is_nested = node.kind in (K_LIST, K_MAP)
            if not 0 <= node.slot < self.count or (is_nested and not index < node.part < len(layout.nodes)):
                raise ValueError("a plan has no slot or no part")
            self.reading.nodes[index] = Node(
                node.kind, node.slot, node.is_nullable, node.part, at, len(node.properties)
            )
            for each in node.properties:
                if not index < each.node < len(layout.nodes):
                    raise ValueError("a property has no plan")
                self.reading.properties[at] = Property(
                    <const uint8_t*>each.name, len(each.name), each.node, each.reason, False
                )
                at += 1

    def __dealloc__(self):
        free(self.reading.nodes)
        free(self.reading.properties)
        free(self.reading.scratch)

    def add(self, program):
        """The number of a program, for `run`; all documents follow one."""
        self.programs.append(program)
        return len(self.programs) - 1

    cdef int choose(self, int number) except -1:
        return 0

    cdef int read(self, const uint8_t* end) noexcept nogil:
        cdef int reason
        if not is_utf8(self.at, end - self.at):
            return NOT_UTF8
        self.reading.at = self.at
        self.reading.end = end
        reason = _value(&self.reading, 0)
        if reason == 0:
            skip_space(&self.reading.at, end)
            if self.reading.at != end:
                reason = NOT_JSON
        self.at = self.reading.at
        return reason
