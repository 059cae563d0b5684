"""The compiled loop from Protobuf records to the buffers of Arrow arrays; `decoder_plain` is the twin to read first.

Every length is checked against the end of what it is in before it is followed. No loop holds the GIL.
"""

from cython cimport final
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy

from ottla.schema.columns._number cimport is_utf8
from ottla.schema.columns.protobuf._wire cimport (
    SIZED, VARINT, WIRE_FIXED32, WIRE_FIXED64, ENDS_EARLY, sized, skip, tag_of, varint,
)
from ottla.schema.columns._rows cimport RowDecoder
from ottla.schema.columns._slot cimport (
    NO_MEMORY, Slot, open_row, push_bit, push_bytes, push_list, push_null, push_struct, truncate,
)

cdef enum:
    # Of `layout.Value`.
    V_BOOL = 0
    V_VARINT32 = 1
    V_VARINT64 = 2
    V_ZIGZAG32 = 3
    V_ZIGZAG64 = 4
    V_ENUM = 5
    V_FIXED32 = 6
    V_FIXED64 = 7
    V_STRING = 8
    V_BYTES = 9
    V_MESSAGE = 10
    # Of `layout.Absent`.
    A_NULL = 0
    A_DEFAULT = 1
    A_LIST = 2
    A_REQUIRED = 3
    # Of the columns' `layout.Code`.
    NOT_UTF8 = 5
    REASON = 100

cdef struct Field:
    uint32_t number
    int value
    int absent
    int slot
    int item
    int oneof
    int part
    int reason
    const uint8_t* missing
    Py_ssize_t missing_bytes
    # While one message is read: how often it was met, and where first.
    int count
    const uint8_t* first


cdef struct Plan:
    int slot
    int first
    int fields
    int first_oneof
    int oneofs


cdef struct Enum:
    const int32_t* numbers
    const int32_t* ends
    const uint8_t* names
    int count


cdef struct Reading:
    # One record while it is read.
    Plan* plans
    Field* fields
    int* oneofs
    Enum* enums
    Slot* slots
    const int32_t* children
    const uint8_t* at


cdef inline int _wire(int value) noexcept nogil:
    if value == V_FIXED32:
        return WIRE_FIXED32
    if value == V_FIXED64:
        return WIRE_FIXED64
    return VARINT if value < V_FIXED32 else SIZED


cdef inline bint _is_packed(const Field* field, uint32_t tag) noexcept nogil:
    return field.absent == A_LIST and field.value < V_STRING and tag & 7 == SIZED


cdef inline int _find(Reading* reading, const Plan* plan, uint32_t tag, int hint) noexcept nogil:
    """Which field a tag means, looked for at the hint first; -1 for one that is not known, or in another wire type."""
    cdef const Field* fields = reading.fields + plan.first
    cdef uint32_t number = tag >> 3
    cdef int low = 0, high = plan.fields, middle
    if hint < plan.fields and fields[hint].number == number:
        low = hint
    else:
        while low < high:
            middle = (low + high) >> 1
            if fields[middle].number < number:
                low = middle + 1
            else:
                high = middle
        if low == plan.fields or fields[low].number != number:
            return -1
    if <int>(tag & 7) == _wire(fields[low].value) or _is_packed(&fields[low], tag):
        return low
    return -1


cdef int _enum(const Enum* plan, Slot* slot, int32_t number) noexcept nogil:
    cdef int low = 0, high = plan.count, middle
    cdef char digits[16]
    while low < high:
        middle = (low + high) >> 1
        if plan.numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low < plan.count and plan.numbers[low] == number:
        return push_bytes(slot, plan.names + plan.ends[low], plan.ends[low + 1] - plan.ends[low])
    low = snprintf(digits, 16, "%d", number)
    return push_bytes(slot, <const uint8_t*>digits, low)


cdef int _number(Reading* reading, const Field* field, const uint8_t* end) noexcept nogil:
    """A value that is written as a varint."""
    cdef Slot* slot = &reading.slots[field.item]
    cdef uint64_t raw = 0
    cdef uint32_t low
    cdef int value = field.value
    cdef int reason = varint(&reading.at, end, &raw)
    if reason:
        return reason
    if value == V_BOOL:
        return push_bit(slot, raw != 0)
    low = <uint32_t>raw
    if value == V_ENUM:
        return _enum(&reading.enums[field.part], slot, <int32_t>low)
    reason = open_row(slot)
    if reason:
        return reason
    if value == V_VARINT32:
        (<uint32_t*>slot.data)[slot.rows] = low
    elif value == V_ZIGZAG32:
        (<uint32_t*>slot.data)[slot.rows] = (low >> 1) ^ (0 - (low & 1))
    elif value == V_VARINT64:
        (<uint64_t*>slot.data)[slot.rows] = raw
    else:
        (<uint64_t*>slot.data)[slot.rows] = (raw >> 1) ^ (0 - (raw & 1))
    slot.rows += 1
    return 0


cdef int _value(Reading* reading, const Field* field, const uint8_t* end) noexcept nogil:
    cdef Slot* slot
    cdef const uint8_t* stop = NULL
    cdef Py_ssize_t size
    cdef int reason, value = field.value
    if value < V_FIXED32:
        return _number(reading, field, end)
    slot = &reading.slots[field.item]
    if value < V_STRING:
        size = 4 if value == V_FIXED32 else 8
        if end - reading.at < size:
            return ENDS_EARLY
        reason = open_row(slot)
        if reason:
            return reason
        memcpy(slot.data + slot.rows * size, reading.at, size)
        slot.rows += 1
        reading.at += size
        return 0
    reason = sized(&reading.at, end, &stop)
    if reason:
        return reason
    if value == V_MESSAGE:
        return _message(reading, field.part, stop)
    size = stop - reading.at
    if value == V_STRING and not is_utf8(reading.at, size):
        return NOT_UTF8
    reason = push_bytes(slot, reading.at, size)
    reading.at = stop
    return reason


cdef int _repeated(Reading* reading, const Field* field, uint32_t tag, const uint8_t* end) noexcept nogil:
    cdef const uint8_t* stop = NULL
    cdef int reason
    if not _is_packed(field, tag):
        return _value(reading, field, end)
    reason = sized(&reading.at, end, &stop)
    while reason == 0 and reading.at < stop:
        reason = _value(reading, field, stop)
    return reason


cdef int _single(
    Reading* reading, const Plan* plan, int index, Py_ssize_t row, const uint8_t* start, uint32_t tag,
    const uint8_t* end,
) noexcept nogil:
    cdef Field* field = &reading.fields[plan.first + index]
    cdef Field* other
    cdef int* last
    if field.oneof >= 0:
        last = &reading.oneofs[plan.first_oneof + field.oneof]
        if last[0] >= 0 and last[0] != index:
            other = &reading.fields[plan.first + last[0]]
            truncate(reading.slots, reading.children, other.slot, row)
            other.count = 0
        last[0] = index
    if field.count == 0:
        field.first = start
    if field.count < 2:
        field.count += 1
    if field.value == V_MESSAGE:
        return skip(&reading.at, tag, end, 0)
    if field.count == 2:
        truncate(reading.slots, reading.children, field.slot, row)
    return _value(reading, field, end)


cdef int _merged(Reading* reading, const Plan* plan, int index, const uint8_t* end) noexcept nogil:
    """All of one message that came in several parts: their bytes one behind the other."""
    cdef Field* field = &reading.fields[plan.first + index]
    cdef const uint8_t* start = reading.at
    cdef const uint8_t* stop = NULL
    cdef uint8_t* joined
    cdef Py_ssize_t size = 0
    cdef uint32_t tag = 0
    cdef int found, reason = 0
    joined = <uint8_t*>malloc(end - start)
    if joined == NULL:
        return NO_MEMORY
    while reading.at < end:
        reason = tag_of(&reading.at, end, &tag)
        if reason:
            break
        found = _find(reading, plan, tag, index)
        if found == index:
            reason = sized(&reading.at, end, &stop)
            if reason:
                break
            memcpy(joined + size, reading.at, stop - reading.at)
            size += stop - reading.at
            reading.at = stop
            continue
        if found >= 0 and field.oneof >= 0 and reading.fields[plan.first + found].oneof == field.oneof:
            break
        reason = skip(&reading.at, tag, end, 0)
        if reason:
            break
    if reason == 0:
        reading.at = joined
        reason = _message(reading, field.part, joined + size)
        reading.at = start
    free(joined)
    return reason


cdef int _complete(Reading* reading, const Plan* plan, int index, const uint8_t* end) noexcept nogil:
    """What a field becomes when all of its message was read."""
    cdef Field* field = &reading.fields[plan.first + index]
    cdef const uint8_t* at
    cdef uint32_t tag = 0
    cdef int reason
    if field.absent == A_LIST:
        return push_list(&reading.slots[field.slot], reading.slots[field.item].rows)
    if field.count == 0:
        if field.absent == A_REQUIRED:
            return REASON + field.reason
        if field.absent == A_NULL:
            return push_null(reading.slots, reading.children, field.slot)
        at = reading.at
        reading.at = field.missing
        reason = _value(reading, field, field.missing + field.missing_bytes)
        reading.at = at
        return reason
    if field.value != V_MESSAGE:
        return 0
    reading.at = field.first
    if field.count == 1:
        reason = tag_of(&reading.at, end, &tag)
        return reason or _value(reading, field, end)
    return _merged(reading, plan, index, end)


cdef int _message(Reading* reading, int number, const uint8_t* end) noexcept nogil:
    """From where reading is up to the end, as a row of the plan's slot; 0, or why it can't be read."""
    cdef const Plan* plan = &reading.plans[number]
    cdef Py_ssize_t row = reading.slots[plan.slot].rows
    cdef const uint8_t* start
    cdef uint32_t tag = 0
    cdef int index, found, reason, hint = 0
    for index in range(plan.fields):
        reading.fields[plan.first + index].count = 0
    for index in range(plan.oneofs):
        reading.oneofs[plan.first_oneof + index] = -1
    while reading.at < end:
        start = reading.at
        reason = tag_of(&reading.at, end, &tag)
        if reason:
            return reason
        found = _find(reading, plan, tag, hint)
        if found < 0:
            reason = skip(&reading.at, tag, end, 0)
        elif reading.fields[plan.first + found].absent == A_LIST:
            reason = _repeated(reading, &reading.fields[plan.first + found], tag, end)
            hint = found
        else:
            reason = _single(reading, plan, found, row, start, tag, end)
            hint = found + 1
        if reason:
            return reason
    for index in range(plan.fields):
        reason = _complete(reading, plan, index, end)
        if reason:
            return reason
    reading.at = end
    return push_struct(&reading.slots[plan.slot])


@final
cdef class _Plans:
    """A layout as C sees it."""

    cdef Plan* plans
    cdef Field* fields
    cdef int* oneofs
    cdef Enum* enums
    cdef object kept

    def __cinit__(self, layout, int slots):
        cdef int index, at = 0, first_oneof = 0
        self.kept = (layout, [])
        self.plans = <Plan*>calloc(max(len(layout.plans), 1), sizeof(Plan))
        self.fields = <Field*>calloc(max(sum(len(plan.fields) for plan in layout.plans), 1), sizeof(Field))
        self.oneofs = <int*>calloc(max(sum(plan.oneofs for plan in layout.plans), 1), sizeof(int))
        self.enums = <Enum*>calloc(max(len(layout.enums), 1), sizeof(Enum))
        if self.plans == NULL or self.fields == NULL or self.oneofs == NULL or self.enums == NULL:
            raise MemoryError
        for index, plan in enumerate(layout.plans):
            if not 0 <= plan.slot < slots:
                raise ValueError("a plan has no slot")
            self.plans[index] = Plan(plan.slot, at, len(plan.fields), first_oneof, plan.oneofs)
            first_oneof += plan.oneofs
            for field in plan.fields:
                self._add(&self.fields[at], field, index, slots, layout)
                at += 1
        for index, enum in enumerate(layout.enums):
            self._name(&self.enums[index], enum)

    cdef int _add(self, Field* out, field, int plan, int slots, layout) except -1:
        cdef const uint8_t* missing = field.default
        if not (0 <= field.slot < slots and 0 <= field.item < slots):
            raise ValueError("a field has no slot")
        if field.value == V_MESSAGE and not plan < field.part < len(layout.plans):
            raise ValueError("a field has no such plan")
        if field.value == V_ENUM and not 0 <= field.part < len(layout.enums):
            raise ValueError("a field has no such enum")
        if not -1 <= field.oneof < layout.plans[plan].oneofs:
            raise ValueError("a field has no such oneof")
        out.number, out.value, out.absent, out.slot = field.number, field.value, field.absent, field.slot
        out.item, out.oneof, out.part, out.reason = field.item, field.oneof, field.part, field.reason
        out.missing, out.missing_bytes = missing, len(field.default)
        return 0

    cdef int _name(self, Enum* out, enum) except -1:
        cdef int32_t end = 0
        numbers = bytearray()
        ends = bytearray(end.to_bytes(4, "little"))
        for number, name in zip(enum.numbers, enum.names, strict=True):
            end += len(name)
            numbers += number.to_bytes(4, "little", signed=True)
            ends += end.to_bytes(4, "little")
        texts = (bytes(numbers), bytes(ends), b"".join(enum.names))
        self.kept[1].append(texts)
        out.numbers = <const int32_t*><const uint8_t*>texts[0]
        out.ends = <const int32_t*><const uint8_t*>texts[1]
        out.names = <const uint8_t*>texts[2]
        out.count = len(enum.numbers)
        return 0

    def __dealloc__(self):
        free(self.plans)
        free(self.fields)
        free(self.oneofs)
        free(self.enums)


@final
cdef class MessageDecoder(RowDecoder):
    """Reads Protobuf records."""

    cdef _Plans plans
    cdef Reading reading
    cdef bytes place
    cdef const uint8_t* place_at
    cdef Py_ssize_t place_bytes

    def __cinit__(self, slots, layout):
        self.plans = _Plans(layout, self.count)
        self.reading = Reading(
            self.plans.plans, self.plans.fields, self.plans.oneofs, self.plans.enums, self.slots, self.children, NULL
        )
        self.place = b""

    def add(self, program):
        """The number of a program, for `run`."""
        self.programs.append(program.place)
        return len(self.programs) - 1

    cdef int choose(self, int number) except -1:
        self.place = self.programs[number]
        self.place_at = <const uint8_t*>self.place
        self.place_bytes = len(self.place)
        return 0

    cdef int read(self, const uint8_t* end) noexcept nogil:
        cdef Py_ssize_t size = end - self.at, place_bytes = self.place_bytes
        cdef int reason
        if place_bytes == 1 and size >= 2 and self.place_at[0] == 0 and self.at[0] == 2 and self.at[1] == 0:
            # The other way to write the place of the first message.
            place_bytes = 2
        elif place_bytes == 0 or size < place_bytes or memcmp(self.at, self.place_at, place_bytes):
            return REASON
        self.reading.at = self.at + place_bytes
        reason = _message(&self.reading, 0, end)
        self.at = self.reading.at
        return reason
