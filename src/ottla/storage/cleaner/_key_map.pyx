"""The dedupe map and the loops over records that feed it and ask it, compiled; `key_map_plain` documents them.

The map is one block of 24-byte slots, open addressing with linear probing: 16 bytes of SipHash-2-4 and the offset plus
one, so that zeroed memory is an empty map and untouched pages cost nothing. What is malformed is left to the plain
twin of the record frames to put into words. The loops run without the GIL.
"""

from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from ottla.protocol.records._varint cimport (
    load_int16,
    load_int32,
    load_int64,
    varint_size,
    varlong_size,
    write_varint,
    write_varlong,
)
from ottla.storage.cleaner._key_hash cimport Slot, sip_hash
from ottla.storage.cleaner._stored_frame cimport (
    ATTRIBUTES_AT,
    BASE_TIMESTAMP_AT,
    COUNT_AT,
    CRC_AT,
    HEADER_BYTES,
    LAST_DELTA_AT,
    LOG_OVERHEAD,
    MAGIC_AT,
    PRODUCER_AT,
    Frame,
    parse,
)

from ottla.protocol.checksum import crc32c

from ottla.protocol.records import frames_plain
from ottla.storage.cleaner.key_map_plain import Run, Selection

cdef extern from *:
    """
    #define OTTLA_PREFETCH(at) __builtin_prefetch(at)
    static inline unsigned long long ottla_scale(unsigned long long hash, unsigned long long slots) {
        return (unsigned long long)(((unsigned __int128)hash * slots) >> 64);
    }
    """
    uint64_t ottla_scale(uint64_t, uint64_t) noexcept nogil
    void OTTLA_PREFETCH(const void*) noexcept nogil

cdef enum:
    # Codec, transactional, control.
    NOT_PLAIN = 0x37
    DELETE_HORIZON = 0x40
    # Keys hashed before the first of their slots is read, so that the memory fetches overlap.
    BLOCK = 16
    MASK_BYTES = 4096
    SLOTS_MIN = 4096


cdef struct Work:
    int64_t count
    int64_t base_offset
    int64_t base_timestamp
    int64_t limit
    bint drop_tombstones


cdef struct Chosen:
    int64_t kept
    int64_t first_timestamp
    int64_t max_timestamp
    bint tombstones


cdef inline const uint8_t* plain_end(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The byte after the batch at `at`; NULL unless all of one is there, of magic 2, uncompressed and of no transaction."""
    cdef int64_t size
    if end - at < HEADER_BYTES or at[MAGIC_AT] != 2 or load_int16(at + ATTRIBUTES_AT) & NOT_PLAIN:
        return NULL
    size = <int64_t>load_int32(at + 8) + LOG_OVERHEAD
    if size < HEADER_BYTES or size > end - at or load_int32(at + COUNT_AT) < 0:
        return NULL
    return at + size


cdef inline bint crc_matches(const uint8_t* at, const uint8_t* end):
    covered = PyMemoryView_FromMemory(<char*>at + ATTRIBUTES_AT, end - at - ATTRIBUTES_AT, PyBUF_READ)
    return <uint32_t>crc32c(covered) == <uint32_t>load_int32(at + CRC_AT)


cdef class Section:
    """A record section held in place while its frames are walked."""

    cdef Py_buffer view
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef bint held

    def __cinit__(self, records):
        PyObject_GetBuffer(records, &self.view, PyBUF_SIMPLE)
        self.held = True
        self.at = <const uint8_t*>self.view.buf
        self.end = self.at + self.view.len

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef object refused(object records, int64_t count):
    """The plain scanner's error for a section that `parse` could not read."""
    frames_plain.scan(records, count, 0)
    return ValueError("the records changed while they were read")


cdef class KeyMap:
    """See `key_map_plain.KeyMap`."""

    cdef Slot* table
    cdef uint64_t slots
    cdef uint64_t[2] seed
    cdef int64_t used
    cdef int64_t grow_at
    cdef readonly int64_t capacity

    def __cinit__(self, int64_t capacity, bytes seed):
        if len(seed) != 16:
            raise ValueError("a seed has 16 bytes")
        memcpy(self.seed, PyBytes_AS_STRING(seed), 16)
        self.capacity = capacity
        self.allocate(SLOTS_MIN)

    def __dealloc__(self):
        free(self.table)

    def __len__(self):
        return self.used

    cdef int allocate(self, uint64_t slots) except -1:
        """A new, empty table; a tenth of it at least stays empty, or a search could not end."""
        cdef uint64_t most = <uint64_t>(self.capacity + self.capacity // 9 + 8)
        cdef Slot* table
        slots = min(slots, most)
        table = <Slot*>calloc(slots, sizeof(Slot))
        if table == NULL:
            raise MemoryError()
        self.table = table
        self.slots = slots
        self.grow_at = self.capacity if slots == most else <int64_t>(slots - slots // 4)
        return 0

    cdef int make_room(self, int64_t count) except -1:
        """Doubles the table until it takes `count` more keys well: a small one stays in the processor's cache."""
        cdef Slot* old
        cdef Slot* slot
        cdef uint64_t old_slots, index
        while self.used + count > self.grow_at and self.grow_at < self.capacity:
            old, old_slots = self.table, self.slots
            self.allocate(old_slots * 4)
            for index in range(old_slots):
                if old[index].offset_plus_one:
                    slot = self.find(old + index)
                    slot[0] = old[index]
            free(old)
        return 0

    cdef inline Slot* find(self, Slot* wanted) noexcept nogil:
        """The slot with this hash, or the empty one where it would go."""
        cdef Slot* slot = self.table + ottla_scale(wanted.low, self.slots)
        cdef Slot* last = self.table + self.slots
        while slot.offset_plus_one and (slot.low != wanted.low or slot.high != wanted.high):
            slot += 1
            if slot == last:
                slot = self.table
        return slot

    cdef inline void note(self, Slot* wanted, int64_t offset) noexcept nogil:
        cdef Slot* slot = self.find(wanted)
        self.used += slot.offset_plus_one == 0
        slot.low = wanted.low
        slot.high = wanted.high
        slot.offset_plus_one = offset + 1

    def put(self, bytes key, int64_t offset):
        cdef Slot wanted
        self.make_room(1)
        sip_hash(<const uint8_t*>PyBytes_AS_STRING(key), <int32_t>len(key), self.seed, &wanted)
        if self.used >= self.capacity and self.find(&wanted).offset_plus_one == 0:
            raise MemoryError("the map is full")
        self.note(&wanted, offset)

    def get(self, bytes key):
        cdef Slot wanted
        sip_hash(<const uint8_t*>PyBytes_AS_STRING(key), <int32_t>len(key), self.seed, &wanted)
        return self.find(&wanted).offset_plus_one - 1

    cdef int64_t index_frames(self, const uint8_t** start, const uint8_t* end, Work work) noexcept nogil:
        """Notes the keys of up to `work.count` frames; how many it read, less if one is malformed or the map full."""
        cdef const uint8_t* at = start[0]
        cdef const uint8_t* following
        cdef Slot[BLOCK] hashes
        cdef int64_t[BLOCK] offsets
        cdef int64_t done = 0
        cdef int waiting = 0, index
        cdef Frame frame
        while done < work.count:
            following = parse(at, end, &frame)
            if following == NULL:
                break
            if frame.key_size >= 0 and work.base_offset + frame.offset_delta >= work.limit:
                if self.used + waiting >= self.capacity:
                    # Of the keys that wait some may be known; only then is there room for one more.
                    for index in range(waiting):
                        self.note(&hashes[index], offsets[index])
                    waiting = 0
                    if self.used >= self.capacity:
                        break
                sip_hash(frame.key, frame.key_size, self.seed, &hashes[waiting])
                offsets[waiting] = work.base_offset + frame.offset_delta
                OTTLA_PREFETCH(self.table + ottla_scale(hashes[waiting].low, self.slots))
                waiting += 1
                if waiting == BLOCK:
                    for index in range(BLOCK):
                        self.note(&hashes[index], offsets[index])
                    waiting = 0
            at = following
            done += 1
        for index in range(waiting):
            self.note(&hashes[index], offsets[index])
        start[0] = at
        return done

    def index(self, records, int64_t count, int64_t base_offset, int64_t start_offset):
        cdef Section section = Section(records)
        cdef const uint8_t* at = section.at
        cdef Work work = Work(count, base_offset, 0, start_offset, False)
        cdef int64_t done
        if not 0 <= count <= section.view.len:
            raise refused(records, count)
        self.make_room(count)
        with nogil:
            done = self.index_frames(&at, section.end, work)
        if done < count and self.used >= self.capacity:
            return False
        if done != count or at != section.end:
            raise refused(records, count)
        return True

    cdef int64_t select_frames(
        self, const uint8_t** start, const uint8_t* end, Work work, uint8_t* mask, Chosen* chosen
    ) noexcept nogil:
        """Fills the mask of up to `work.count` frames; how many it read, less if one is malformed."""
        cdef const uint8_t* at = start[0]
        cdef Frame[BLOCK] frames
        cdef Slot[BLOCK] hashes
        cdef int64_t done = 0, offset, timestamp
        cdef int size, index
        cdef bint stays
        memset(chosen, 0, sizeof(Chosen))
        chosen.first_timestamp = -1
        chosen.max_timestamp = -1
        while done < work.count:
            size = 0
            while size < BLOCK and done + size < work.count:
                at = parse(at, end, &frames[size])
                if at == NULL:
                    return done + size
                if frames[size].key_size >= 0:
                    sip_hash(frames[size].key, frames[size].key_size, self.seed, &hashes[size])
                    OTTLA_PREFETCH(self.table + ottla_scale(hashes[size].low, self.slots))
                size += 1
            for index in range(size):
                offset = work.base_offset + frames[index].offset_delta
                stays = offset > work.limit or (
                    frames[index].key_size >= 0
                    and (frames[index].has_value or not work.drop_tombstones)
                    and offset >= self.find(&hashes[index]).offset_plus_one - 1
                )
                mask[done + index] = stays
                if stays:
                    timestamp = <int64_t>(<uint64_t>work.base_timestamp + <uint64_t>frames[index].timestamp_delta)
                    if chosen.kept == 0:
                        chosen.first_timestamp = timestamp
                    chosen.max_timestamp = max(chosen.max_timestamp, timestamp)
                    chosen.tombstones |= not frames[index].has_value
                    chosen.kept += 1
            done += size
        start[0] = at
        return done

    def select(self, records, int64_t count, bases, int64_t latest, *, bint drop_tombstones):
        cdef Section section = Section(records)
        if not 0 <= count <= section.view.len:
            raise refused(records, count)
        cdef const uint8_t* at = section.at
        cdef bytes mask = PyBytes_FromStringAndSize(NULL, count)
        cdef uint8_t* bits = <uint8_t*>PyBytes_AS_STRING(mask)
        cdef Work work = Work(count, bases[0], bases[1], latest, drop_tombstones)
        cdef Chosen chosen
        cdef int64_t done
        with nogil:
            done = self.select_frames(&at, section.end, work, bits, &chosen)
        if done != count or at != section.end:
            raise refused(records, count)
        return Selection(mask, chosen.kept, chosen.tombstones, chosen.first_timestamp, chosen.max_timestamp)

    def index_run(self, buffer, Py_ssize_t position, int64_t start_offset):
        cdef Section section = Section(buffer)
        cdef const uint8_t* base = section.at
        cdef const uint8_t* at = base + position
        cdef const uint8_t* frames
        cdef const uint8_t* end
        cdef Work work
        while True:
            end = plain_end(at, section.end)
            if end == NULL or not crc_matches(at, end):
                break
            work = Work(load_int32(at + COUNT_AT), load_int64(at), 0, start_offset, False)
            if self.used + work.count > self.capacity:
                break
            self.make_room(work.count)
            frames = at + HEADER_BYTES
            if self.index_frames(&frames, end, work) != work.count or frames != end:
                break
            at = end
        return at - base

    def select_run(self, buffer, Py_ssize_t position, rules):
        cdef Section section = Section(buffer)
        cdef const uint8_t* base = section.at
        cdef const uint8_t* at = base + position
        cdef const uint8_t* end
        cdef const uint8_t* frames
        cdef int64_t latest = rules.latest_offset, end_offset = rules.end_offset, now_ms = rules.now_ms
        cdef dict producers = rules.producers
        cdef uint8_t[MASK_BYTES] mask
        cdef int64_t count, read = 0, kept = 0
        cdef bint has_horizon
        cdef Work work
        cdef Chosen chosen
        cdef list ranges = []
        cdef Py_ssize_t range_start = position
        while True:
            end = plain_end(at, section.end)
            if end == NULL:
                break
            count = load_int32(at + COUNT_AT)
            if count > MASK_BYTES or not crc_matches(at, end):
                break
            has_horizon = load_int16(at + ATTRIBUTES_AT) & DELETE_HORIZON != 0
            work = Work(count, load_int64(at), load_int64(at + BASE_TIMESTAMP_AT), latest, False)
            work.drop_tombstones = has_horizon and work.base_timestamp <= now_ms
            frames = at + HEADER_BYTES
            if self.select_frames(&frames, end, work, mask, &chosen) != count or frames != end:
                break
            if chosen.kept != count or count == 0:
                if chosen.kept or work.base_offset + load_int32(at + LAST_DELTA_AT) + 1 == end_offset:
                    break
                if load_int64(at + PRODUCER_AT) >= 0 and load_int64(at + PRODUCER_AT) in producers:
                    break
                if range_start < at - base:
                    ranges.append((range_start, at - base))
                range_start = end - base
            elif chosen.tombstones and not has_horizon:
                break
            read += count
            kept += chosen.kept
            at = end
        if range_start < at - base:
            ranges.append((range_start, at - base))
        return Run(at - base, ranges, read, kept)


def rewrite(records, mask, bases, timestamp):
    """See `key_map_plain.rewrite`."""
    cdef int64_t old_base = bases[0], new_base = bases[1]
    cdef bint same_timestamp = timestamp is not None
    cdef int64_t same_delta = timestamp - new_base if same_timestamp else 0
    cdef Section section = Section(records)
    cdef Section wanted = Section(mask)
    cdef int64_t count = wanted.view.len, done = 0, delta
    cdef const uint8_t* at = section.at
    cdef Py_ssize_t tail_size
    cdef int32_t body
    # A frame grows by at most 9 bytes of timestamp and 1 of length; most do not grow at all.
    cdef bytes out = PyBytes_FromStringAndSize(NULL, section.view.len + 11 * count)
    cdef uint8_t* start = <uint8_t*>PyBytes_AS_STRING(out)
    cdef uint8_t* into = start
    cdef Frame frame
    with nogil:
        while done < count:
            at = parse(at, section.end, &frame)
            if at == NULL:
                break
            if wanted.at[done]:
                delta = same_delta
                if not same_timestamp:
                    delta = <int64_t>(<uint64_t>old_base + <uint64_t>frame.timestamp_delta - <uint64_t>new_base)
                tail_size = at - frame.tail
                body = <int32_t>(1 + varlong_size(delta) + varint_size(frame.offset_delta) + tail_size)
                into = write_varint(into, body)
                into[0] = 0
                into = write_varint(write_varlong(into + 1, delta), frame.offset_delta)
                memcpy(into, frame.tail, tail_size)
                into += tail_size
            done += 1
    if done != count or at != section.end:
        raise refused(records, count)
    return out[: into - start]
