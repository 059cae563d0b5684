"""The answer to a Produce request for one partition that went well: nearly all of them, ready but for three numbers.

What comes before and after the offsets is the same for a partition every time, so it is encoded once, with the same
codec as every other answer, and cut around the place where the offsets stand.
"""

import struct
from typing import TYPE_CHECKING, Final

from ottla.base.ids import Uuid
from ottla.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

if TYPE_CHECKING:
    from ottla.broker.route import Route

KEPT_MAX: Final = 10_000
"""Partitions whose answers are kept ready, for each version; beyond it all are made afresh."""
_LOG_START_SINCE: Final = 5
_MARK: Final = 0x5A5A5A5A5A5A5A5A
_MARKED: Final = _MARK.to_bytes(8, "big")


class ProduceAnswers:
    """The ready answers in one version."""

    __slots__ = ("_has_log_start", "_ready", "_route")

    def __init__(self, route: "Route") -> None:
        self._route = route
        self._has_log_start = route.version >= _LOG_START_SINCE
        self._ready: dict[tuple[str | Uuid, int], tuple[struct.Struct, int, bytes, bytes]] = {}

    def frame(self, topic: str | Uuid, index: int, offsets: tuple[int, int, int, int]) -> bytes:
        """The whole frame for a topic by its name or its id, as the version has it.

        `offsets` are correlation id, base offset, log append time and log start offset.
        """
        ready = self._ready.get((topic, index))
        if ready is None:
            ready = self._prepare(topic, index)
        layout, size, before, after = ready
        correlation_id, base_offset, append_time, log_start = offsets
        if self._has_log_start:
            return layout.pack(size, correlation_id, before, base_offset, append_time, log_start, after)
        return layout.pack(size, correlation_id, before, base_offset, append_time, after)

    def _prepare(self, topic: str | Uuid, index: int) -> tuple[struct.Struct, int, bytes, bytes]:
        marked = PartitionProduceResponse(index=index, base_offset=_MARK, log_append_time_ms=_MARK)
        count = 2
        if self._has_log_start:
            marked.log_start_offset = _MARK
            count = 3
        named = TopicProduceResponse(partition_responses=[marked])
        if isinstance(topic, Uuid):
            named.topic_id = topic
        else:
            named.name = topic
        [encoded] = self._route.encode(0, ProduceResponse(responses=[named]))
        assert isinstance(encoded, bytes)
        before, after = encoded[8:].split(_MARKED * count)
        layout = struct.Struct(f">ii{len(before)}s{count}q{len(after)}s")
        if len(self._ready) >= KEPT_MAX:
            self._ready.clear()
        ready = self._ready[(topic, index)] = (layout, layout.size - 4, before, after)
        return ready
