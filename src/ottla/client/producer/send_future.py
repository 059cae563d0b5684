"""The behaviour of `SendFuture`, the outcome of a record, which both of its twins share.

A future has no state of its own: its batch is done or not, and a batch that was split points to the parts that took its
records over. Waiting threads each bring a lock for the batch to release; a future that is never asked costs nothing.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeVar

from ottla.client import other_client
from ottla.client.record import RecordMetadata

OnDelivery = Callable[[RecordMetadata | None, Exception | None], object]


class RecordFuture(Protocol):
    """The fields of both twins of `SendFuture`."""

    batch: Any
    index: int
    timestamp: int
    key_size: int
    value_size: int


class SentBatch(Protocol):
    """A batch as the futures of its records know it: `ottla.client.producer.batch.ProducerBatch`."""

    is_done: bool
    base_offset: int
    log_append_time_ms: int
    parts: Any
    """First index and batch of each part that took records over."""
    queue: Any

    def error_of(self, index: int) -> Exception | None:
        """The error of one record."""
        ...

    def wait(self, timeout: float | None) -> bool:
        """Waits until it is done or split; False if that took longer than `timeout` seconds."""
        ...

    def add_callback(self, future: Any, callback: OnDelivery) -> None:
        """Tells `callback` of a record when it is done, or at once."""
        ...


F = TypeVar("F", bound=RecordFuture)

_log = logging.getLogger(__name__)


def place(future: RecordFuture) -> tuple[SentBatch, int]:
    """The batch that has the record now, and the record's index in it."""
    batch, index = future.batch, future.index
    while batch.parts:
        first, batch = next((first, part) for first, part in reversed(batch.parts) if first <= index)
        index -= first
    return batch, index


def is_done(future: RecordFuture) -> bool:
    """Whether the record was acknowledged, or has failed."""
    return place(future)[0].is_done


def result(future: RecordFuture, timeout: float | None) -> RecordMetadata:
    """The record's metadata, waited for; raises what it failed with."""
    error = exception(future, timeout)
    if error is not None:
        raise error
    return metadata(future)


def exception(future: RecordFuture, timeout: float | None) -> Exception | None:
    """The record's error, waited for."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        batch, index = place(future)
        if batch.is_done:
            return batch.error_of(index)
        if not batch.wait(None if deadline is None else deadline - time.monotonic()):
            raise TimeoutError(f"no answer about {shown(future)} within {timeout} s")


def metadata(future: RecordFuture) -> RecordMetadata:
    """The record's place; its batch must be done."""
    batch, index = place(future)
    timestamp = future.timestamp if batch.log_append_time_ms < 0 else batch.log_append_time_ms
    offset = -1 if batch.base_offset < 0 else batch.base_offset + index
    queue = batch.queue
    return RecordMetadata(queue.topic, queue.partition, offset, timestamp, future.key_size, future.value_size)


def add_done_callback(future: F, callback: Callable[[F], object]) -> None:
    """Calls `callback` with the future when it is done, or at once."""
    place(future)[0].add_callback(future, lambda _metadata, _error: callback(future))


def awaited(future: RecordFuture) -> Generator[Any, None, RecordMetadata]:
    """Waits in an event loop, the producer's own or any other."""
    if not is_done(future):
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()

        def wake(_metadata: RecordMetadata | None, _error: Exception | None) -> None:
            if asyncio._get_running_loop() is loop:
                _set(waiter)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(_set, waiter)

        place(future)[0].add_callback(future, wake)
        yield from waiter.__await__()
    return result(future, 0)


def call(future: RecordFuture, callback: OnDelivery) -> None:
    """Tells about a record that is done; what the user's code raises is logged, the other records count as well."""
    batch, index = place(future)
    error = batch.error_of(index)
    try:
        callback(metadata(future) if error is None else None, error)
    except Exception:  # noqa: BLE001 - the user's code; nothing else would report it
        _log.exception("a delivery callback failed for %s", shown(future))


def shown(future: RecordFuture) -> str:
    """The future as text."""
    batch, index = place(future)
    queue = batch.queue
    if not batch.is_done:
        state = "pending"
    elif (error := batch.error_of(index)) is not None:
        state = f"failed: {error!r}"
    else:
        state = f"offset {metadata(future).offset}"
    return f"<SendFuture {queue.topic}-{queue.partition} {state}>"


def _set(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


callback_lock = threading.Lock()
"""Held while a batch becomes done and while a callback is added; never while callbacks run."""


def missing(future: RecordFuture, name: str) -> AttributeError:
    """The error for a name that a future has not: other clients' futures have some of their own."""
    return other_client.missing(future, name, other_client.FUTURE)
