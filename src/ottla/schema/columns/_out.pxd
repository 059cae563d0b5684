"""Inline C for one binary slot that records are written to: bytes, varints, decimals, JSON's strings.

Functions return 0, or why they can't.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memmove

from ottla.protocol.records._varint cimport uvarint_size, write_uvarint, write_varlong
from ottla.schema.columns._number cimport is_utf8
from ottla.schema.columns._slot cimport BYTES_MAX, COLUMN_FULL, NO_MEMORY, Slot, resize
from ottla.schema.columns.json._text cimport scan_value, short_escape, skip_space

cdef enum:
    DECIMAL_TOO_LARGE = 7
    NUMBER_BYTES = 10


cdef inline int room(Slot* out, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t capacity
    if out.bytes + size <= out.bytes_max:
        return 0
    if out.bytes + size > BYTES_MAX:
        return COLUMN_FULL
    capacity = max(2 * out.bytes_max, out.bytes + size + 1024)
    if resize(<void**>&out.data, capacity):
        return NO_MEMORY
    out.bytes_max = capacity
    return 0


cdef inline int put(Slot* out, const uint8_t* data, Py_ssize_t size) noexcept nogil:
    cdef int reason = room(out, size)
    if reason == 0 and size:
        memcpy(out.data + out.bytes, data, size)
        out.bytes += size
    return reason


cdef inline int put_number(Slot* out, int64_t value) noexcept nogil:
    cdef int reason = room(out, NUMBER_BYTES)
    if reason == 0:
        out.bytes = write_varlong(out.data + out.bytes, value) - out.data
    return reason


cdef inline int put_unsigned(Slot* out, uint64_t value) noexcept nogil:
    cdef int reason = room(out, NUMBER_BYTES)
    if reason == 0:
        out.bytes = write_uvarint(out.data + out.bytes, value) - out.data
    return reason


cdef inline int put_byte(Slot* out, uint8_t byte) noexcept nogil:
    return put(out, &byte, 1)


cdef inline int put_json_string(Slot* out, const uint8_t* text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t index, start = 0
    cdef uint8_t character, short
    cdef uint8_t escape[6]
    cdef int reason = put_byte(out, 34)
    for index in range(size):
        character = text[index]
        if character >= 32 and character != 34 and character != 92:
            continue
        reason = reason or put(out, text + start, index - start)
        start = index + 1
        escape[0] = 92
        short = short_escape(character)
        if short:
            escape[1] = short
        else:
            escape[1], escape[2], escape[3] = 117, 48, 48
            escape[4] = 48 + (character >> 4)
            escape[5] = 48 + (character & 15) if character & 15 < 10 else 87 + (character & 15)
        reason = reason or put(out, escape, 2 if short else 6)
    return reason or put(out, text + start, size - start) or put_byte(out, 34)


cdef inline bint is_json(const uint8_t* text, Py_ssize_t size) noexcept nogil:
    cdef const uint8_t* at = text
    if not is_utf8(text, size) or scan_value(&at, text + size, 0):
        return False
    skip_space(&at, text + size)
    return at == text + size


cdef inline int put_size(Slot* out, Py_ssize_t start) noexcept nogil:
    """Writes before what was written from there on how many bytes it has."""
    cdef Py_ssize_t size = out.bytes - start
    cdef int width = uvarint_size(<uint64_t>size)
    cdef int reason = room(out, width)
    if reason:
        return reason
    memmove(out.data + start + width, out.data + start, size)
    write_uvarint(out.data + start, <uint64_t>size)
    out.bytes += width
    return 0


cdef inline int put_decimal(Slot* out, const uint8_t* cell, Py_ssize_t width, int64_t size) noexcept nogil:
    cdef uint8_t sign = 0xFF if cell[width - 1] & 0x80 else 0
    cdef Py_ssize_t needed = width, index
    cdef int reason
    while needed > 1 and cell[needed - 1] == sign and (cell[needed - 2] ^ sign) & 0x80 == 0:
        needed -= 1
    if size >= 0 and needed > size:
        return DECIMAL_TOO_LARGE
    if size < 0:
        size = needed
        reason = put_number(out, size)
        if reason:
            return reason
    reason = room(out, size)
    if reason:
        return reason
    for index in range(size):
        out.data[out.bytes + size - 1 - index] = cell[index] if index < needed else sign
    out.bytes += size
    return 0


cdef inline int put_brackets(Slot* out, Py_ssize_t start, uint8_t bracket) noexcept nogil:
    """The opening bracket takes the place of the first comma."""
    cdef int reason = 0
    if out.bytes == start:
        reason = put_byte(out, bracket)
    else:
        out.data[start] = bracket
    return reason or put_byte(out, bracket + 2)
