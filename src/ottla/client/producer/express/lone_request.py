"""The bytes of a Produce with one batch for one partition: made once, then filled in for each batch.

No field's place is written down here: the request is cut from an ordinary one around its records, and where an answer
has its offsets is found by encoding an answer with numbers that stand out. What does not look like that answer byte by
byte is for the ordinary way to read.
"""

import struct
from typing import Final, NamedTuple

from ottla.base.buffer import Buffer
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.cluster.request_frame import encode_request_around
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.send.produce_request import IDS_FROM, SentBatches, topic_id
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response
from ottla.protocol.frame import decode_response, encode_response
from ottla.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

_ID_AT: Final = 8
"""Where a request has its correlation id: behind its size, its API key and its version."""
_ANSWERED_ID_AT: Final = 4
_LENGTHS_MAX: Final = 256
_id: Final = struct.Struct(">i")
_long: Final = struct.Struct(">q")
_BASE_OFFSET, _APPEND_TIME, _START_OFFSET = 0x0B5E0FF5E7_0001, 0x0A99E4D71E_0002, 0x057A470FF5_0003


class Written(NamedTuple):
    """The fields of a successful answer."""

    base_offset: int
    log_append_time_ms: int


class LoneRequest:
    """Requests to one partition, as long as the view of the cluster is the same."""

    def __init__(self, batch: ProducerBatch, version: int, view: ClusterView, options: ProducerOptions) -> None:
        self.view: Final = view
        queue = batch.queue
        self.version: Final = SentBatches([batch], version, view).version
        self._options: Final = options
        self._around: Final[dict[int, tuple[bytes, bytes]]] = {}
        answered = PartitionProduceResponse(
            index=queue.partition,
            base_offset=_BASE_OFFSET,
            log_append_time_ms=_APPEND_TIME,
            log_start_offset=_START_OFFSET,
        )
        topic = TopicProduceResponse(partition_responses=[answered])
        if self.version >= IDS_FROM:
            topic.topic_id = topic_id(view, queue.topic)
        else:
            topic.name = queue.topic
        self._read_good(encode_response(ProduceResponse(responses=[topic]), self.version, correlation_id=0))

    def _read_good(self, good: bytes) -> None:
        self._good_size = len(good)
        self._base_at = good.index(_long.pack(_BASE_OFFSET))
        self._time_at = good.index(_long.pack(_APPEND_TIME))
        start_at = good.find(_long.pack(_START_OFFSET))
        self._end_at = self._time_at + 8 if start_at < 0 else start_at + 8
        self._good_start = good[_ANSWERED_ID_AT + 4 : self._base_at]
        self._good_end = good[self._end_at :]

    def pieces(self, batch: ProducerBatch, correlation_id: int, client_id: str | None) -> list[Buffer]:
        """The whole frame."""
        records = batch.records
        assert records is not None
        found = self._around.get(len(records))
        if found is None:
            found = self._cut(batch, client_id)
        start = bytearray(found[0])
        _id.pack_into(start, _ID_AT, correlation_id)
        return [start, records, found[1]]

    def _cut(self, batch: ProducerBatch, client_id: str | None) -> tuple[bytes, bytes]:
        options = self._options
        sent = SentBatches([batch], self.version, self.view)
        request = sent.request(options.acks, options.request_timeout_ms, None)
        pieces = encode_request_around(request, self.version, correlation_id=0, client_id=client_id)
        start, _, *rest = pieces
        assert isinstance(start, bytes)
        if len(self._around) >= _LENGTHS_MAX:
            self._around.clear()
        found = self._around[len(batch.records or b"")] = start, b"".join(bytes(piece) for piece in rest)  # type: ignore[arg-type]
        return found

    def written(self, answer: Buffer, correlation_id: int) -> Written | None:
        """The fields of a successful answer; None for any other, which needs the full decoder."""
        view = bytes(answer)
        if (
            len(view) != self._good_size
            or _id.unpack_from(view, _ANSWERED_ID_AT)[0] != correlation_id
            or view[_ANSWERED_ID_AT + 4 : self._base_at] != self._good_start
            or view[self._end_at :] != self._good_end
        ):
            return None
        return Written(_long.unpack_from(view, self._base_at)[0], _long.unpack_from(view, self._time_at)[0])

    def response(self, answer: Buffer) -> Response:
        """Any answer, decoded. Raises `DecodeError`."""
        return decode_response(memoryview(answer)[4:], ApiKey.PRODUCE, self.version)[1]
