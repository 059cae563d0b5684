"""The short way through OffsetCommit for nearly every request, compiled: partitions that exist, in a group that takes
them.

It reads the frame itself, makes the records of `__consumer_offsets` and the answer right from its bytes, and hands both
to the group coordinator, who decides; no request, response or record object is made. Whatever is not just like that
(an unknown topic, a group that is not there yet or says no, long metadata, tagged fields, bytes that look odd) it leaves
alone, before anything was done, and the handler takes it. What it writes and answers is what the handler would have
written and answered: tests ask both.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from ottla.base._named_tuple cimport named
from ottla.broker.request._request_input cimport CLIENT_ID_AT, REFUSED, Input, has, read_uvarint
from ottla.protocol.records._varint cimport (
    load_int16,
    load_int32,
    load_int64,
    store_int16,
    store_int32,
    store_int64,
    write_uvarint,
)

from immutables import Map

from ottla.base.ids import Uuid
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.offsets.offset_rules import CommitClaim
from ottla.coordinator.group.offsets.offsets_state import NO_EXPIRY, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import PRESENT_VERSION
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.codec import engine
from ottla.protocol.group_log.offset import OffsetCommitKey

cdef enum:
    LEADER_EPOCH_SINCE = 6
    INSTANCE_ID_SINCE = 7
    FLEXIBLE_SINCE = 8
    TOPIC_IDS_SINCE = 10
    UUID_BYTES = 16
    STRING_BYTES_MAX = 0x7FFF
    METADATA_BYTES_MAX = 126  # as in the codec of records: its length is one byte
    RECORD_OVERHEAD_BYTES_MAX = 32  # as in `journal`
    VALUE_BYTES = 42  # of a record without metadata, with the topic's id
    FRAME_BYTES_MAX = 60000
    KEPT_MAX = 10000
    NULL_LENGTH = -1

cdef int16_t KEY_TYPE = OffsetCommitKey.type_id
cdef int16_t VALUE_VERSION = PRESENT_VERSION
cdef object EMPTY_MAP = Map()
cdef object OFFSET_COMMIT = ApiKey.OFFSET_COMMIT
cdef object READ = AclOperation.READ
cdef object GROUP = AclResourceType.GROUP
cdef object TOPIC = AclResourceType.TOPIC

cdef uint8_t scratch[FRAME_BYTES_MAX + 64]
"""Where answers are put together: one thread uses lanes, and nothing waits in between. An answer has a part of every
part of its request and is shorter, but for a few bytes at its beginning."""


cdef inline Py_ssize_t read_string_size(Input *source) noexcept nogil:
    """How many bytes of a string come next, all of which are there; NULL_LENGTH for null."""
    cdef Py_ssize_t size
    if source.flexible:
        size = read_uvarint(source)
        if size == REFUSED:
            return REFUSED
        size -= 1
    else:
        if not has(source, 2):
            return REFUSED
        size = load_int16(source.data + source.position)
        source.position += 2
    if size < NULL_LENGTH or size > source.limit - source.position or size > STRING_BYTES_MAX:
        return REFUSED
    return size


cdef inline Py_ssize_t read_count(Input *source) noexcept nogil:
    """How many elements an array has; REFUSED also if there are none."""
    cdef Py_ssize_t count
    if source.flexible:
        count = read_uvarint(source) - 1
    else:
        if not has(source, 4):
            return REFUSED
        count = load_int32(source.data + source.position)
        source.position += 4
    return count if count > 0 else REFUSED


cdef inline bint no_tags(Input *source) noexcept nogil:
    """Passes over the tagged fields of a flexible version; False if there are some."""
    if not source.flexible:
        return True
    if not has(source, 1) or source.data[source.position] != 0:
        return False
    source.position += 1
    return True


cdef inline object text(Input *source, Py_ssize_t size):
    """The next bytes as a string; None if they are none."""
    source.position += size
    try:
        return PyUnicode_DecodeUTF8(<const char *>source.data + source.position - size, size, NULL)
    except UnicodeDecodeError:
        return None


cdef class Topic:
    """A topic as requests name it."""
    cdef object name
    cdef bytes name_bytes
    cdef object id
    cdef Py_ssize_t partitions


cdef class Group:
    """A group as requests name it, and the partition that it belongs to."""
    cdef object id
    cdef bytes id_bytes
    cdef object partition


cdef class Commit:
    """One request that was handed over (`PlainCommit`); the coordinator calls it with what became of it."""
    cdef CommitLane lane
    cdef object exchange
    cdef object started
    cdef bytes frame
    cdef list offsets
    cdef readonly object group_id
    cdef readonly object claim
    cdef readonly object now_ms
    cdef readonly list records
    cdef readonly Py_ssize_t size_bytes

    def replay(self, state, offset):
        """The state after the records: `GroupsState` with what `_offsets_after` made of its offsets."""
        cdef tuple before = <tuple>state
        return named(GroupsState, (before[0], self.offsets_after(<tuple>before[1], offset)))

    cdef object offsets_after(self, tuple before, int64_t record_offset):
        """The `OffsetsState` after the records, of which the first is at `record_offset`; the group is there."""
        committed = before[0]
        count = before[3]
        topics = committed.get(self.group_id, EMPTY_MAP)
        for topic, partition, offset, leader_epoch, metadata, topic_id in self.offsets:
            partitions = topics.get(topic, EMPTY_MAP)
            if partition not in partitions:
                count += 1
            fields = (offset, leader_epoch, metadata, self.now_ms, NO_EXPIRY, topic_id, record_offset)
            topics = topics.set(topic, partitions.set(partition, named(OffsetAndMetadata, fields)))
            record_offset += 1
        return named(OffsetsState, (committed.set(self.group_id, topics), before[1], before[2], count))

    def __call__(self, outcome):
        if outcome is None:
            self.exchange.answer((self.frame,))
        else:
            self.lane.refuse(self, outcome.code)
        if self.started is not None:
            self.lane.route.measure(self.started)


cdef class CommitLane:
    """The short way for one version of OffsetCommit."""
    cdef object coordinators
    cdef object take_plain_commit
    cdef object partition_for
    cdef object clock
    cdef object metadata
    cdef object admission
    cdef readonly object route
    cdef object requests
    cdef object topics_image  # what `topics` and `groups` were learnt from
    cdef dict topics
    cdef dict groups
    cdef int version
    cdef object api_version
    cdef Py_ssize_t metadata_bytes_max
    cdef int sampled_every
    cdef int until_sample

    def __init__(self, parts, route):
        self.coordinators = parts.coordinators
        self.take_plain_commit = parts.coordinators.groups.take_plain_commit
        self.partition_for = parts.coordinators.groups.partition_for
        self.metadata, self.route, self.requests = parts.metadata, route, route.requests
        self.version = self.api_version = route.version
        self.admission = route.admission
        # Java counts characters, of which there are never more than bytes.
        self.metadata_bytes_max = min(METADATA_BYTES_MAX, parts.coordinators.groups.offset_metadata_max_bytes)
        self.sampled_every = self.until_sample = route.sampled_every
        self.topics, self.groups = {}, {}

    def take(self, frame, int32_t correlation_id, Py_ssize_t client_id_bytes, exchange):
        """Serves the request and answers True, or leaves it as it is and answers False."""
        cdef Py_buffer view
        cdef Input source
        cdef Commit commit
        cdef Group group
        cdef Py_ssize_t size
        if len(frame) > FRAME_BYTES_MAX:
            return False
        if self.topics_image is not self.metadata.image.topics:
            # Names may mean something else now, and groups belong elsewhere if their topic was made anew.
            self.topics_image = self.metadata.image.topics
            self.topics.clear()
            self.groups.clear()
        commit = Commit.__new__(Commit)
        PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
        try:
            source.data, source.position, source.limit = <const uint8_t *>view.buf, CLIENT_ID_AT, view.len
            source.flexible = self.version >= FLEXIBLE_SINCE
            group = self.read_head(&source, client_id_bytes, commit)
            if group is None:
                return False
            commit.exchange = exchange
            if self.admission is not None and not self.lets_through(exchange, (READ, GROUP, group.id)):
                return False
            commit.now_ms = self.coordinators.round_ms
            size = self.read_topics(&source, group, commit, correlation_id)
            if size == REFUSED:
                return False
        finally:
            PyBuffer_Release(&view)
        commit.lane, commit.group_id = self, group.id
        commit.frame = PyBytes_FromStringAndSize(<const char *>scratch, size)
        if self.until_sample == 1:
            commit.started = self.route.time()
        if not self.take_plain_commit(group.partition, commit):
            return False
        self.requests.value += 1
        self.until_sample -= 1
        if self.until_sample == 0:
            self.until_sample = self.sampled_every
        return True

    cdef bint lets_through(self, object exchange, tuple asked) except -1:
        """Whether the client may do that; the handler refuses those who may not."""
        return self.admission.lets_through(exchange.connection, OFFSET_COMMIT, asked)

    cdef Group read_head(self, Input *source, Py_ssize_t client_id_bytes, Commit commit):
        """All that comes before the topics: the rest of the header, the group, and who wants to commit."""
        cdef Group group
        cdef Py_ssize_t size
        cdef object generation, member_id, instance_id = None
        if client_id_bytes > 0:
            if not has(source, client_id_bytes):
                return None
            source.position += client_id_bytes
        if not no_tags(source):
            return None
        size = read_string_size(source)
        if size <= 0:
            return None
        id_bytes = PyBytes_FromStringAndSize(<const char *>source.data + source.position, size)
        source.position += size
        found = self.groups.get(id_bytes)
        group = self.learn_group(id_bytes) if found is None else <Group>found
        if group is None or not has(source, 4):
            return None
        generation = load_int32(source.data + source.position)
        source.position += 4
        size = read_string_size(source)
        if size < 0:
            return None
        member_id = text(source, size) if size else ""
        if member_id is None:
            return None
        if self.version >= INSTANCE_ID_SINCE:
            size = read_string_size(source)
            if size == REFUSED:
                return None
            if size != NULL_LENGTH:
                instance_id = text(source, size)
                if instance_id is None:
                    return None
        commit.claim = named(CommitClaim, (member_id, instance_id, generation, False, self.api_version))
        return group

    cdef Py_ssize_t read_topics(self, Input *source, Group group, Commit commit, int32_t correlation_id):
        """Makes the records and, in `scratch`, the answer, whose size is returned; REFUSED if anything is odd."""
        cdef Topic topic
        cdef Py_ssize_t count, partitions, size = read_count(source)
        cdef uint8_t *at = scratch + 4
        store_int32(at, correlation_id)
        at += 4
        if source.flexible:
            at[0] = 0  # the header's tagged fields
            at += 1
        store_int32(at, 0)  # nobody is throttled
        at += 4
        if size == REFUSED:
            return REFUSED
        at = self.put_count(at, size)
        commit.records, commit.offsets = [], []
        for count in range(size):
            topic = self.read_topic(source)
            if topic is None:
                return REFUSED
            if self.admission is not None and not self.lets_through(commit.exchange, (READ, TOPIC, topic.name)):
                return REFUSED
            at = self.put_topic(at, topic)
            partitions = read_count(source)
            if partitions == REFUSED:
                return REFUSED
            at = self.put_count(at, partitions)
            at = self.read_partitions(source, group, topic, commit, partitions, at)
            if at == NULL or not no_tags(source):
                return REFUSED
            if source.flexible:
                at[0] = 0
                at += 1
        if not no_tags(source) or source.position != source.limit:
            return REFUSED
        if source.flexible:
            at[0] = 0
            at += 1
        size = at - scratch
        store_int32(scratch, <int32_t>(size - 4))
        return size

    cdef uint8_t *read_partitions(
        self, Input *source, Group group, Topic topic, Commit commit, Py_ssize_t count, uint8_t *at
    ) except? NULL:
        """The partitions of a topic; where the answer goes on, NULL if anything is odd."""
        cdef int32_t index, leader_epoch = -1
        cdef int64_t offset
        cdef Py_ssize_t fixed = 16 if self.version >= LEADER_EPOCH_SINCE else 12
        cdef Py_ssize_t size
        cdef const uint8_t *metadata_at
        cdef object metadata
        while count:
            count -= 1
            if not has(source, fixed):
                return NULL
            index = load_int32(source.data + source.position)
            offset = load_int64(source.data + source.position + 4)
            if fixed == 16:
                leader_epoch = load_int32(source.data + source.position + 12)
            source.position += fixed
            if not 0 <= index < topic.partitions:
                return NULL
            size = read_string_size(source)
            if size > self.metadata_bytes_max or size == REFUSED:
                return NULL
            metadata_at = source.data + source.position
            metadata = text(source, size) if size > 0 else ""
            if metadata is None or not no_tags(source):
                return NULL
            size = max(size, 0)
            key = self.key(group.id_bytes, topic.name_bytes, index)
            value = self.value(topic, offset, leader_epoch, metadata_at, size, commit.now_ms)
            commit.records.append((key, value))
            commit.offsets.append((topic.name, index, offset, leader_epoch, metadata, topic.id))
            commit.size_bytes += RECORD_OVERHEAD_BYTES_MAX + len(key) + len(value)
            store_int32(at, index)
            store_int16(at + 4, 0)
            at += 6
            if source.flexible:
                at[0] = 0
                at += 1
        return at

    cdef Topic read_topic(self, Input *source):
        """The next topic; None if it is not known."""
        cdef Py_ssize_t size
        if self.version >= TOPIC_IDS_SINCE:
            size = UUID_BYTES
            if not has(source, size):
                return None
        else:
            size = read_string_size(source)
            if size <= 0:
                return None
        named = PyBytes_FromStringAndSize(<const char *>source.data + source.position, size)
        source.position += size
        found = self.topics.get(named)
        return self.learn_topic(named) if found is None else <Topic>found

    cdef Topic learn_topic(self, bytes named):
        """A topic that is seen for the first time since the metadata changed."""
        cdef Topic topic = Topic.__new__(Topic)
        try:
            name = self.metadata.topic_name(Uuid(named)) if self.version >= TOPIC_IDS_SINCE else named.decode()
        except UnicodeDecodeError:
            return None
        image = self.metadata.topic(name) if name else None
        if image is None:
            return None
        topic.name, topic.name_bytes, topic.id = name, name.encode(), image.id
        topic.partitions = len(image.partitions)
        if len(self.topics) >= KEPT_MAX:
            self.topics.clear()
        self.topics[named] = topic
        return topic

    cdef Group learn_group(self, bytes id_bytes):
        """A group that is seen for the first time since the metadata changed."""
        cdef Group group = Group.__new__(Group)
        try:
            group.id = id_bytes.decode()
        except UnicodeDecodeError:
            return None
        group.id_bytes, group.partition = id_bytes, self.partition_for(group.id)
        if len(self.groups) >= KEPT_MAX:
            self.groups.clear()
        self.groups[id_bytes] = group
        return group

    cdef bytes key(self, bytes group_id, bytes topic, int32_t index):
        """The key of an offset's record."""
        cdef Py_ssize_t group_size = PyBytes_GET_SIZE(group_id), topic_size = PyBytes_GET_SIZE(topic)
        cdef bytes made = PyBytes_FromStringAndSize(NULL, 10 + group_size + topic_size)
        cdef uint8_t *at = <uint8_t *>PyBytes_AS_STRING(made)
        store_int16(at, KEY_TYPE)
        store_int16(at + 2, <int16_t>group_size)
        memcpy(at + 4, PyBytes_AS_STRING(group_id), group_size)
        at += 4 + group_size
        store_int16(at, <int16_t>topic_size)
        memcpy(at + 2, PyBytes_AS_STRING(topic), topic_size)
        store_int32(at + 2 + topic_size, index)
        return made

    cdef bytes value(
        self, Topic topic, int64_t offset, int32_t leader_epoch, const uint8_t *metadata, Py_ssize_t size, int64_t now_ms
    ):
        """The value of an offset's record."""
        cdef bytes made = PyBytes_FromStringAndSize(NULL, VALUE_BYTES + size)
        cdef uint8_t *at = <uint8_t *>PyBytes_AS_STRING(made)
        store_int16(at, VALUE_VERSION)
        store_int64(at + 2, offset)
        store_int32(at + 10, leader_epoch)
        at[14] = <uint8_t>(size + 1)
        memcpy(at + 15, metadata, size)
        at += 15 + size
        store_int64(at, now_ms)
        at[8], at[9], at[10] = 1, 0, UUID_BYTES  # one tagged field, its number, its length
        memcpy(at + 11, PyBytes_AS_STRING(topic.id), UUID_BYTES)
        return made

    cdef uint8_t *put_count(self, uint8_t *at, Py_ssize_t count) noexcept:
        if self.version >= FLEXIBLE_SINCE:
            return write_uvarint(at, <uint64_t>count + 1)
        store_int32(at, <int32_t>count)
        return at + 4

    cdef uint8_t *put_topic(self, uint8_t *at, Topic topic) noexcept:
        cdef Py_ssize_t size = PyBytes_GET_SIZE(topic.name_bytes)
        if self.version >= TOPIC_IDS_SINCE:
            memcpy(at, PyBytes_AS_STRING(topic.id), UUID_BYTES)
            return at + UUID_BYTES
        if self.version >= FLEXIBLE_SINCE:
            at = write_uvarint(at, <uint64_t>size + 1)
        else:
            store_int16(at, <int16_t>size)
            at += 2
        memcpy(at, PyBytes_AS_STRING(topic.name_bytes), size)
        return at + size

    cdef int refuse(self, Commit commit, object code) except -1:
        """The answer to a commit that could not be written: the one that was made ready, with an error everywhere."""
        body_at = 9 if self.version >= FLEXIBLE_SINCE else 8
        response = engine.decode(self.route.response_plan, commit.frame, body_at)[0]
        for topic in response.topics:
            for partition in topic.partitions:
                partition.error_code = int(code)
        correlation_id = load_int32(<const uint8_t *>PyBytes_AS_STRING(commit.frame) + 4)
        commit.exchange.answer(self.route.encode(correlation_id, response))
        return 0
