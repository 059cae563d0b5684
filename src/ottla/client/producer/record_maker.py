"""Makes a record ready for its batch: interceptors, serializers, checks, and the partitioner of the user's.

Works in the thread that sends, so the caller of `send` gets what the user's code raises.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import InterceptorError, RecordTooLargeError, SerializationError
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.append import OnDelivery
from ottla.client.producer.interceptor import Interceptors, ProducerRecord
from ottla.client.producer.new_record import NewRecord
from ottla.client.producer.partitioner.partitioner import KNOWN, Partitioner
from ottla.client.record import Header
from ottla.client.serde.serializer import Serialize, known, serialize_of

_INT64_MAX: Final = 2**63 - 1


class RecordMaker:
    """Turns users' records into `NewRecord`s."""

    def __init__(self, settings: ClientSettings, accumulator: Accumulator, view: Callable[[], ClusterView]) -> None:
        self.interceptors: Final = Interceptors(settings.plugins("interceptor.classes"))
        self._serialize_key: Final = _serialize(settings, "key.serializer")
        self._serialize_value: Final = _serialize(settings, "value.serializer")
        self._partitioner: Final[Partitioner | None] = _partitioner(settings)
        self._ignores_keys: Final = settings.boolean("partitioner.ignore.keys")
        self._request_bytes_max: Final = settings.integer("max.request.size")
        self._accumulator: Final = accumulator
        self._view: Final = view

    @property
    def is_plain(self) -> bool:
        """Whether bytes can be appended as they come: no interceptor or serializer wants to see or change them."""
        return not (self.interceptors or self._serialize_key or self._serialize_value or self._partitioner)

    def add_topic(self, topic: str, partition_count: int) -> None:
        """The topic is known, and its records can be appended."""
        self._accumulator.add_topic(topic, partition_count, uses_keys=not self._ignores_keys)

    def make(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> NewRecord:
        """The record as it is appended; its topic must be known.

        Raises `SerializationError`, `RecordTooLargeError`, `InterceptorError` for a partitioner that fails, `TypeError`
        and `ValueError` for what makes no sense.
        """
        headers = _headers(record.headers)
        if not headers and (self._serialize_key or self._serialize_value):
            # A serializer may add headers: a schema's GUID travels in one.
            headers = []
        key = _serialized(self._serialize_key, record, headers, "key")
        value = _serialized(self._serialize_value, record, headers, "value")
        partition = self._partition(record, key, value)
        timestamp_ms = time.time_ns() // 1_000_000 if record.timestamp_ms is None else record.timestamp_ms
        if not isinstance(timestamp_ms, int) or not 0 <= timestamp_ms <= _INT64_MAX:
            raise ValueError(f"{timestamp_ms!r} is no time in milliseconds since 1970")
        made = NewRecord(
            record.topic, value, key, partition, timestamp_ms, headers, self.interceptors.around(on_delivery)
        )
        self._check_size(made)
        return made

    def _partition(self, record: ProducerRecord, key: bytes | None, value: bytes | None) -> int | None:
        if record.partition is not None:
            if not isinstance(record.partition, int) or record.partition < 0:
                raise ValueError(f"{record.partition!r} is no partition")
            return record.partition
        if self._partitioner is None:
            return None
        view = self._view()
        count = len(view.topics[record.topic].partitions)
        try:
            chosen = self._partitioner.partition(record.topic, record.key, key, record.value, value, view)
        except Exception as error:
            raise InterceptorError(f"the partitioner failed for a record of {record.topic}: {error}") from error
        if not isinstance(chosen, int) or not 0 <= chosen < count:
            raise InterceptorError(
                f"the partitioner chose {chosen!r}, and {record.topic} has partitions 0 to {count - 1}"
            )
        return chosen

    def _check_size(self, record: NewRecord) -> None:
        size = record.bytes_max
        if size > self._request_bytes_max:
            raise RecordTooLargeError(
                f"the record has up to {size} bytes, and max.request.size allows {self._request_bytes_max}: raise it, "
                "and max.message.bytes of the topic"
            )
        if size > self._accumulator.memory_bytes:
            raise RecordTooLargeError(
                f"the record has up to {size} bytes, and buffer.memory has {self._accumulator.memory_bytes}"
            )


def _serialize(settings: ClientSettings, name: str) -> Serialize | None:
    plugin = settings.plugin(name, known("Serializer"))
    return None if plugin is None else serialize_of(plugin)


def _partitioner(settings: ClientSettings) -> Partitioner | None:
    plugin = settings.plugin("partitioner.class", KNOWN)
    if plugin is not None and not callable(getattr(plugin, "partition", None)):
        raise TypeError(f"partitioner.class: {plugin!r} has no method partition")
    return plugin  # type: ignore[return-value]


def _serialized(
    serialize: Serialize | None, record: ProducerRecord, headers: Sequence[Header], field: str
) -> bytes | None:
    given = record.key if field == "key" else record.value
    if serialize is not None:
        try:
            given = serialize(record.topic, headers, given)
        except (TypeError, ValueError) as error:
            raise SerializationError(f"the {field} of a record of {record.topic}: {error}") from error
    return _bytes(given, field, is_serialized=serialize is not None)


def _bytes(given: object, field: str, *, is_serialized: bool) -> bytes | None:
    """Bytes pass, and text in UTF-8."""
    if given is None or type(given) is bytes:
        return given
    if isinstance(given, str) and not is_serialized:
        try:
            return given.encode()
        except UnicodeEncodeError as error:
            raise SerializationError(f"the {field} is no text in UTF-8: {error.reason}") from None
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    whose = f"the {field}'s serializer gave" if is_serialized else f"the {field} is"
    # Headers have no serializers.
    hint = f": set {field}_serializer to turn it into bytes" if field in ("key", "value") else ""
    raise SerializationError(f"{whose} {type(given).__name__}, not bytes{hint}")


def _headers(given: object) -> Sequence[Header]:
    if not given:
        return ()
    pairs = given.items() if isinstance(given, dict) else given
    headers: list[Header] = []
    for pair in pairs:  # type: ignore[attr-defined]
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise SerializationError(f"a header is a tuple of name and bytes, not {pair!r}")
        _bytes(pair[0], "name of a header", is_serialized=False)
        headers.append((pair[0], _bytes(pair[1], f"header {pair[0]}", is_serialized=False)))
    return headers
