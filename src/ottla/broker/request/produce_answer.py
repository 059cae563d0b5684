"""The answer to a Produce request for one partition that went well: nearly all of them, ready but for three numbers.

What comes before and after the offsets is the same for a partition every time, so it is encoded once, with the same
codec as every other answer, and cut around the place where the offsets stand: base offset, log append time and, from
v5 on, the log start offset, in a row.
"""

from typing import TYPE_CHECKING, Final

from ottla.base.ids import Uuid
from ottla.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

if TYPE_CHECKING:
    from ottla.broker.request.route import Route

_LOG_START_SINCE: Final = 5
_SIZE_AND_CORRELATION_ID_BYTES: Final = 8
_MARK: Final = 0x7FA1B2C3D4E5F697
"""Stands for each offset while the answer is encoded; no topic's name contains such bytes."""
_MARKED: Final = _MARK.to_bytes(8, "big")


class ProduceAnswers:
    """Makes the ready pieces in one version."""

    __slots__ = ("_route",)

    def __init__(self, route: "Route") -> None:
        self._route = route

    def pieces(self, topic: str | Uuid, index: int) -> tuple[bytes, bytes]:
        """The bytes between the correlation id and the offsets, and those behind them.

        The topic is named by its name or its id, as the version has it.
        """
        marked = PartitionProduceResponse(index=index, base_offset=_MARK, log_append_time_ms=_MARK)
        count = 2
        if self._route.version >= _LOG_START_SINCE:
            marked.log_start_offset = _MARK
            count = 3
        named = TopicProduceResponse(partition_responses=[marked])
        if isinstance(topic, Uuid):
            named.topic_id = topic
        else:
            named.name = topic
        [encoded] = self._route.encode(0, ProduceResponse(responses=[named]))
        assert isinstance(encoded, bytes)
        before, after = encoded[_SIZE_AND_CORRELATION_ID_BYTES:].split(_MARKED * count)
        return before, after
