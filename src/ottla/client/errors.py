"""Errors of the clients themselves. Refusals of brokers are the `ApiError`s of `ottla.protocol.errors`.

`retriable` says whether the same call may succeed later, unchanged. Each text says what was tried, and what to do next.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from ottla.base.errors import OttlaError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import NetworkError


class ClientError(OttlaError):
    """Something that a client noticed by itself."""

    retriable: ClassVar[bool] = False


class ConnectFailedError(NetworkError):
    """One node could not be reached: `node` is who was meant, `reason` is why, with what to do about it."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"{node}: {reason}")
        self.node = node
        self.reason = reason


class ControllerPortError(ConnectFailedError):
    """The node is a controller: it speaks Kafka's protocol, and serves no clients of brokers."""

    def __init__(self, node: str) -> None:
        super().__init__(
            node, "this is a controller's port, which answers nodes and administrators; connect to a broker's port"
        )


class FailedAttempt(NamedTuple):
    """An address that was tried, and why it did not help."""

    address: str
    reason: str
    error: OttlaError | None = None
    """The exception; its `__cause__` is the system's."""


class NoBrokersAvailableError(ClientError):
    """None of the addresses leads to a broker; `attempts` has them all."""

    retriable = True

    def __init__(self, attempts: Sequence[FailedAttempt]) -> None:
        tried = "".join(f"\n  {attempt.address}: {attempt.reason}" for attempt in attempts)
        super().__init__(f"no broker could be reached; tried{tried or ' nothing'}")
        self.attempts = tuple(attempts)


class AuthenticationFailedError(ClientError):
    """The broker does not accept who we say we are, or we don't accept who it says it is. Trying again won't help."""


class TlsFailedError(AuthenticationFailedError):
    """TLS could not be agreed on: a certificate or its host name, a version, or a missing client certificate."""


class KafkaTimeoutError(ClientError, TimeoutError):
    """Something took longer than it was allowed to; `__cause__` is the last thing that went wrong, if any."""

    retriable = True


class WakeupError(ClientError):
    """`wakeup()` was called, from another thread, to end a call that waits."""


class BufferExhaustedError(KafkaTimeoutError):
    """`buffer.memory` was used up for longer than `max.block.ms`: records come faster than they can be sent."""


class InvalidStateError(ClientError):
    """A call that does not fit what was called before."""


class ClosedError(InvalidStateError):
    """The client has been closed."""


class ForkedError(InvalidStateError):
    """The client was made in another process: its threads and connections did not come along."""


class SerializationError(ClientError):
    """A key or a value cannot be turned into bytes, or back."""


class RecordTooLargeError(ClientError):
    """A record that is larger than `max.request.size` or `buffer.memory` allow."""


class InterceptorError(ClientError):
    """An interceptor, partitioner or listener of the user's raised an exception, which is the `__cause__`."""


class CommitFailedError(ClientError):
    """Offsets can't be committed any more: the group has given the partitions to others in the meantime."""


class RetriableCommitFailedError(ClientError):
    """An asynchronous commit failed in a way that a later commit may not."""

    retriable = True


class OffsetResetNeededError(ClientError):
    """Partitions without a valid position, and `auto.offset.reset=none` forbids choosing one."""

    def __init__(self, partitions: Iterable[TopicPartition], message: str) -> None:
        super().__init__(message)
        self.partitions = tuple(partitions)


class NoOffsetForPartitionError(OffsetResetNeededError):
    """No offset was committed for these partitions."""

    def __init__(self, partitions: Iterable[TopicPartition]) -> None:
        named = tuple(partitions)
        listed = ", ".join(map(str, named))
        advice = "seek() to a position, commit one, or set auto.offset.reset to earliest or latest"
        super().__init__(named, f"no committed offset for {listed} and auto.offset.reset=none: {advice}")


class OffsetOutOfRangeError(OffsetResetNeededError):
    """The position lies outside of what the partition holds; `positions` says where it was."""

    def __init__(self, positions: dict[TopicPartition, int]) -> None:
        listed = ", ".join(f"{partition} at {offset}" for partition, offset in positions.items())
        advice = "seek() to a position that exists, or set auto.offset.reset to earliest or latest"
        super().__init__(positions, f"out of range: {listed}, and auto.offset.reset=none: {advice}")
        self.positions = dict(positions)


class LogTruncationError(OffsetResetNeededError):
    """Records that were read are gone: the new leader's log diverges before the position (KIP-320)."""

    def __init__(self, divergent: dict[TopicPartition, int | None]) -> None:
        listed = ", ".join(
            f"{partition} {'from an unknown offset on' if offset is None else f'from offset {offset} on'}"
            for partition, offset in divergent.items()
        )
        super().__init__(divergent, f"the log was truncated: {listed}; seek() to where reading shall go on")
        self.divergent = dict(divergent)
