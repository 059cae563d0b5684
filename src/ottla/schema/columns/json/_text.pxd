"""Inline C for JSON's text: what is skipped, and where strings, numbers and values end.

Each function returns 0, or why the text is not JSON, and then leaves the place at the value or character that is wrong.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

cdef enum:
    TOO_DEEP = 9
    NOT_JSON = 16
    DEPTH_MAX = 200


cdef inline void skip_space(const uint8_t** place, const uint8_t* end) noexcept nogil:
    cdef const uint8_t* at = place[0]
    while at < end and (at[0] == 32 or at[0] == 10 or at[0] == 13 or at[0] == 9):
        at += 1
    place[0] = at


cdef inline int hex_digit(uint8_t character) noexcept nogil:
    if 48 <= character <= 57:
        return character - 48
    character |= 32
    return character - 87 if 97 <= character <= 102 else -1


cdef inline int scan_string(const uint8_t** place, const uint8_t* end, bint* is_escaped) noexcept nogil:
    """Past a string that begins here."""
    cdef const uint8_t* at = place[0] + 1
    cdef int index
    cdef uint8_t character
    if place[0] >= end or place[0][0] != 34:
        return NOT_JSON
    is_escaped[0] = False
    while at < end:
        character = at[0]
        if character == 34:
            place[0] = at + 1
            return 0
        if character < 32:
            return NOT_JSON
        at += 1
        if character != 92:
            continue
        is_escaped[0] = True
        if at >= end:
            return NOT_JSON
        character = at[0]
        at += 1
        if character == 117:
            if end - at < 4:
                return NOT_JSON
            for index in range(4):
                if hex_digit(at[index]) < 0:
                    return NOT_JSON
            at += 4
        elif not (
            character == 34 or character == 92 or character == 47 or character == 98 or character == 102
            or character == 110 or character == 114 or character == 116
        ):
            return NOT_JSON
    return NOT_JSON


cdef inline const uint8_t* digits(const uint8_t* at, const uint8_t* end) noexcept nogil:
    while at < end and 48 <= at[0] <= 57:
        at += 1
    return at


cdef inline int scan_number(const uint8_t** place, const uint8_t* end, bint* is_integer) noexcept nogil:
    """Past a number that begins here."""
    cdef const uint8_t* at = place[0]
    cdef const uint8_t* after
    is_integer[0] = True
    if at < end and at[0] == 45:
        at += 1
    if at >= end or not 48 <= at[0] <= 57:
        return NOT_JSON
    at = at + 1 if at[0] == 48 else digits(at, end)
    if at < end and at[0] == 46:
        after = digits(at + 1, end)
        if after > at + 1:
            is_integer[0] = False
            at = after
    if at < end and at[0] | 32 == 101:
        after = at + 1
        if after < end and (after[0] == 43 or after[0] == 45):
            after += 1
        if after < end and 48 <= after[0] <= 57:
            is_integer[0] = False
            at = digits(after, end)
    place[0] = at
    return 0


cdef inline int scan_word(const uint8_t** place, const uint8_t* end, const char* word, int size) noexcept nogil:
    if end - place[0] < size or memcmp(place[0], word, size):
        return NOT_JSON
    place[0] += size
    return 0


cdef inline int scan_value(const uint8_t** place, const uint8_t* end, int depth) noexcept nogil:
    """Past any value; the place is at it, or at the spaces before it."""
    cdef bint ignored = False
    cdef uint8_t first
    skip_space(place, end)
    if place[0] >= end:
        return NOT_JSON
    first = place[0][0]
    if first == 34:
        return scan_string(place, end, &ignored)
    if first == 123 or first == 91:
        return scan_items(place, end, depth)
    if first == 116:
        return scan_word(place, end, "true", 4)
    if first == 102:
        return scan_word(place, end, "false", 5)
    if first == 110:
        return scan_word(place, end, "null", 4)
    return scan_number(place, end, &ignored)


cdef inline int scan_items(const uint8_t** place, const uint8_t* end, int depth) noexcept nogil:
    """Past an object or a list that begins here."""
    cdef bint ignored = False, is_object = place[0][0] == 123
    cdef uint8_t close = 125 if is_object else 93
    cdef int reason
    if depth >= DEPTH_MAX:
        return TOO_DEEP
    place[0] += 1
    skip_space(place, end)
    if place[0] < end and place[0][0] == close:
        place[0] += 1
        return 0
    while True:
        if is_object:
            skip_space(place, end)
            reason = scan_string(place, end, &ignored)
            if reason:
                return reason
            skip_space(place, end)
            if place[0] >= end or place[0][0] != 58:
                return NOT_JSON
            place[0] += 1
        reason = scan_value(place, end, depth + 1)
        if reason:
            return reason
        skip_space(place, end)
        if place[0] >= end:
            return NOT_JSON
        place[0] += 1
        if (place[0] - 1)[0] == close:
            return 0
        if (place[0] - 1)[0] != 44:
            place[0] -= 1
            return NOT_JSON



cdef inline uint8_t short_escape(uint8_t character) noexcept nogil:
    """The letter behind the backslash, or 0 where there is none."""
    if character == 34 or character == 92:
        return character
    if character == 8:
        return 98
    if character == 12:
        return 102
    if character == 10:
        return 110
    if character == 13:
        return 114
    return 116 if character == 9 else 0
