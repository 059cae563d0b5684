"""The short way through Produce for nearly every request, compiled: one plain batch for one partition.

It reads the frame itself, hands the records to replication, and answers from `ProduceAnswers`' ready pieces; no request,
response or context is made. Whatever is not just like that (several partitions, transactions, internal topics, bytes
that look odd) it leaves alone, before anything was done, and the handler takes it. What it answers is what the
handler would have answered: tests ask both.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy

from ottla.base._named_tuple cimport named
from ottla.broker.request._request_input cimport CLIENT_ID_AT, REFUSED, Input, expect, has, read_uvarint
from ottla.protocol.records._layout cimport (
    CODEC_BITS,
    CONTROL,
    FLAGS_AT,
    HEADER_BYTES,
    LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC_AT,
    TRANSACTIONAL,
)
from ottla.protocol.records._varint cimport load_int16, load_int32, store_int32, store_int64

from ottla.base.ids import Uuid
from ottla.broker.handlers.data.produce import finish_single
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.compression import CompressionType, is_costly
from ottla.replication.internal_topic import is_open_to_clients
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.log.append_info import FROM_CLIENT

cdef enum:
    FLEXIBLE_SINCE = 9
    LOG_START_SINCE = 5
    ALL_CODECS_SINCE = 7
    TOPIC_IDS_SINCE = 13
    MAGIC = 2
    ZSTD = 4
    KEPT_MAX = 10000

cdef object from_id = CompressionType.from_id
cdef object PRODUCE = ApiKey.PRODUCE
cdef object WRITE = AclOperation.WRITE
cdef object TOPIC = AclResourceType.TOPIC


cdef class Topic:
    """A topic as requests name it, and the answers for its partitions."""
    cdef object name
    cdef object named  # the name, or the id in versions that name topics by id
    cdef object counts
    cdef dict answers  # index to (before, after)


cdef class Work:
    """One request that was handed over; replication calls it with the results."""
    cdef ProduceLane lane
    cdef Topic topic
    cdef object exchange
    cdef object started
    cdef int32_t correlation_id
    cdef int32_t index
    cdef int16_t acks
    cdef bint is_done

    def __call__(self, results):
        cdef tuple result = <tuple>results[0]
        self.is_done = True
        if result[2] != 0:
            self.lane.refuse(self, results)
        else:
            self.lane.answer(self, result[3], result[8], result[9], result[4], result[5])


cdef class ProduceLane:
    """The short way for one version of Produce."""
    cdef object parts
    cdef object route
    cdef object append
    cdef object append_alone
    cdef object metadata
    cdef object ready  # ProduceAnswers
    cdef object requests
    cdef object admission
    cdef object topics_image  # what `topics` was learnt from
    cdef dict topics
    cdef int version
    cdef int sampled_every
    cdef int until_sample

    def __init__(self, parts, route, ready):
        self.parts, self.route, self.ready = parts, route, ready
        self.append, self.append_alone = parts.replicas.append, parts.replicas.append_alone
        self.metadata, self.requests = parts.metadata, route.requests
        self.version = route.version
        self.admission = route.admission
        self.sampled_every = self.until_sample = route.sampled_every
        self.topics = {}

    def take(self, frame, int32_t correlation_id, Py_ssize_t client_id_bytes, exchange):
        """Serves the request and answers True, or leaves it as it is and answers False."""
        cdef Py_buffer view
        cdef Input source
        cdef Work work
        cdef Topic topic
        cdef int32_t timeout_ms
        cdef Py_ssize_t size
        cdef int codec
        PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
        try:
            source.data, source.position, source.limit = <const uint8_t *>view.buf, CLIENT_ID_AT, view.len
            work = Work.__new__(Work)
            if not self.read_head(&source, client_id_bytes, work, &timeout_ms):
                return False
            topic = self.read_topic(&source)
            if topic is None:
                return False
            if self.admission is not None and not self.lets_through(exchange, topic):
                return False
            size = self.read_partition(&source, work)
            if size == REFUSED:
                return False
            codec = source.data[source.position + FLAGS_AT] & CODEC_BITS
        finally:
            PyBuffer_Release(&view)
        if codec != 0 and self.takes_long(frame, codec, source.position, size):
            return False
        work.lane, work.topic, work.exchange, work.correlation_id = self, topic, exchange, correlation_id
        self.requests.value += 1
        self.until_sample -= 1
        if self.until_sample == 0:
            self.until_sample = self.sampled_every
            work.started = self.route.time()
        records = frame[source.position : source.position + size]
        outcome = self.append_alone(topic.name, work.index, records, work.acks)
        if outcome is not None:
            self.finish(work, outcome)
            return True
        entry = named(AppendEntry, (topic.name, work.index, records, FROM_CLIENT))
        self.append((entry,), acks=work.acks, timeout_ms=timeout_ms, done=work)
        if not work.is_done:
            exchange.proceed()
        return True

    cdef bint lets_through(self, object exchange, Topic topic) except -1:
        """Whether the client may write to the topic; the handler refuses those who may not."""
        return self.admission.lets_through(exchange.connection, PRODUCE, (WRITE, TOPIC, topic.name))

    cdef bint takes_long(self, object frame, int codec, Py_ssize_t position, Py_ssize_t size) except -1:
        """Whether a compressed batch may be one to check on a thread, which the handler sees to."""
        return codec > ZSTD or is_costly(from_id(codec), frame[position + HEADER_BYTES : position + size])

    cdef int finish(self, Work work, object outcome) except -1:
        """An append that waited for nothing: an `AppendInfo`, or the `AppendResult` of a refusal."""
        cdef tuple info
        if type(outcome) is AppendResult:
            return self.refuse(work, (outcome,))
        # As a tuple, whose items are at hand: a named one is asked for each by a call.
        info = <tuple>outcome
        return self.answer(work, info[0], info[1], info[5], info[3], info[4])

    cdef int answer(
        self, Work work, int64_t base_offset, int64_t last_offset, int64_t size, int64_t append_time, int64_t start
    ) except -1:
        """Counts what was appended, and answers."""
        counts = work.topic.counts
        counts.produce_requests += 1
        if size:
            counts.messages_in += last_offset - base_offset + 1
            counts.bytes_in += size
        if work.acks == 0:
            work.exchange.no_answer()
        else:
            work.exchange.answer(
                (self.frame(work.topic, work.index, work.correlation_id, base_offset, append_time, start),)
            )
        if work.started is not None:
            self.route.measure(work.started)
        return 0

    cdef bint read_head(self, Input *source, Py_ssize_t client_id_bytes, Work work, int32_t *timeout_ms):
        """All that comes before the topic: the rest of the header, no transactional id, acks, the time limit."""
        if client_id_bytes > 0:
            if not has(source, client_id_bytes):
                return False
            source.position += client_id_bytes
        if self.version >= FLEXIBLE_SINCE:
            if not expect(source, b"\0\0", 2):
                return False
        elif not expect(source, b"\xff\xff", 2):
            return False
        if not has(source, 6):
            return False
        work.acks = load_int16(source.data + source.position)
        timeout_ms[0] = load_int32(source.data + source.position + 2)
        source.position += 6
        return -1 <= work.acks <= 1

    cdef Topic read_topic(self, Input *source):
        """The only topic; None if there are more or none, or if it is not known."""
        cdef Py_ssize_t size
        if self.version >= FLEXIBLE_SINCE:
            if not expect(source, b"\x02", 1):
                return None
            size = 16 if self.version >= TOPIC_IDS_SINCE else read_uvarint(source) - 1
        else:
            if not expect(source, b"\0\0\0\x01", 4) or not has(source, 2):
                return None
            size = load_int16(source.data + source.position)
            source.position += 2
        if size <= 0 or size > source.limit - source.position:
            return None
        named = PyBytes_FromStringAndSize(<const char *>source.data + source.position, size)
        source.position += size
        if self.topics_image is not self.metadata.image.topics:
            # Ids may mean something else now, and deleted topics are counted no more.
            self.topics_image = self.metadata.image.topics
            self.topics.clear()
        found = self.topics.get(named)
        return self.learn(named) if found is None else <Topic>found

    cdef Topic learn(self, bytes named):
        """A topic that is seen for the first time since the metadata changed."""
        cdef Topic topic = Topic.__new__(Topic)
        if self.version >= TOPIC_IDS_SINCE:
            topic.named = Uuid(named)
            topic.name = self.metadata.topic_name(topic.named)
        else:
            topic.name = topic.named = named.decode("utf-8", "replace")
        if topic.name is None or topic.name not in self.topics_image.ids or not is_open_to_clients(topic.name):
            return None
        topic.counts = self.parts.topic_metrics.of(topic.name)
        topic.answers = {}
        self.topics[named] = topic
        return topic

    cdef Py_ssize_t read_partition(self, Input *source, Work work):
        """The only partition: leaves the position at its records, and says how many bytes they have."""
        cdef const uint8_t *batch
        cdef Py_ssize_t size, limit = source.limit
        cdef bint flexible = self.version >= FLEXIBLE_SINCE
        if not (expect(source, b"\x02", 1) if flexible else expect(source, b"\0\0\0\x01", 4)):
            return REFUSED
        if limit - source.position < 8:
            return REFUSED
        work.index = load_int32(source.data + source.position)
        source.position += 4
        if flexible:
            size = read_uvarint(source) - 1
            limit -= 3  # the tagged fields of partition, topic and request: none
        else:
            size = load_int32(source.data + source.position)
            source.position += 4
        if size < HEADER_BYTES or size > limit - source.position:
            return REFUSED
        batch = source.data + source.position
        if flexible and memcmp(batch + size, b"\0\0\0", 3) != 0:
            return REFUSED
        if load_int32(batch + LENGTH_AT) != size - LOG_OVERHEAD or batch[MAGIC_AT] != MAGIC:
            return REFUSED
        if batch[FLAGS_AT] & (TRANSACTIONAL | CONTROL):
            return REFUSED
        if self.version < ALL_CODECS_SINCE and batch[FLAGS_AT] & CODEC_BITS == ZSTD:
            return REFUSED
        return size

    cdef bytes frame(
        self, Topic topic, object index, int32_t correlation_id, int64_t base_offset, int64_t append_time, int64_t start
    ):
        """The whole answer: size, correlation id, and the ready pieces around the offsets."""
        cdef tuple pieces = topic.answers.get(index)
        cdef bytes before, after, frame
        cdef Py_ssize_t count = 3 if self.version >= LOG_START_SINCE else 2
        cdef Py_ssize_t size
        cdef uint8_t *at
        if pieces is None:
            if len(topic.answers) >= KEPT_MAX:
                topic.answers.clear()
            pieces = topic.answers[index] = self.ready.pieces(topic.named, index)
        before, after = pieces
        size = 8 + PyBytes_GET_SIZE(before) + 8 * count + PyBytes_GET_SIZE(after)
        frame = PyBytes_FromStringAndSize(NULL, size)
        at = <uint8_t *>PyBytes_AS_STRING(frame)
        store_int32(at, <int32_t>(size - 4))
        store_int32(at + 4, correlation_id)
        memcpy(at + 8, PyBytes_AS_STRING(before), PyBytes_GET_SIZE(before))
        at += 8 + PyBytes_GET_SIZE(before)
        store_int64(at, base_offset)
        store_int64(at + 8, append_time)
        if count == 3:
            store_int64(at + 16, start)
        memcpy(at + 8 * count, PyBytes_AS_STRING(after), PyBytes_GET_SIZE(after))
        return frame

    cdef int refuse(self, Work work, results) except -1:
        """The long way to an answer that is not as usual; nothing in it asks for the client id."""
        context = RequestContext(self.route, work.correlation_id, "", work.exchange)
        context.started = work.started
        topic_id = work.topic.named if self.version >= TOPIC_IDS_SINCE else None
        finish_single(self.parts, context, work.acks, topic_id, results)
        return 0
