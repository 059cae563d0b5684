"""The ports of replication to the rest of the broker, which implements them in `ottla.broker.adapters`."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.protocol.errors import ApiError


class IsrMember(NamedTuple):
    """A broker that is to be in the ISR, in its present incarnation; -1 if that is not to be checked."""

    broker_id: int
    broker_epoch: int


@frozen
class LeaderAndIsr:
    """A leader's proposals to the controller, and the answers."""

    leader_id: int
    leader_epoch: int
    isr: tuple[IsrMember, ...]
    leader_recovery_state: int
    partition_epoch: int


AlterPartitionDone: TypeAlias = Callable[[LeaderAndIsr | ApiError], None]
"""Called on the loop's thread: with the partition as the controller has it now, or with why it refused."""


class AlterPartitionPort(Protocol):
    """The way to the controller for ISR changes (AlterPartition)."""

    def alter(self, topic_id: Uuid, partition: int, proposed: LeaderAndIsr, done: AlterPartitionDone) -> None:
        """Proposes an ISR. `done` is called exactly once, never before this returns.

        Proposals of several partitions may travel in one request. An error of the whole request (no controller, stale
        broker epoch) is retried by the implementation; `done` hears what the controller says of the partition.
        """
        ...


class DirectoryEventPort(Protocol):
    """The way to the controller for what happens to log directories."""

    def assign(self, topic_id: Uuid, partition: int, directory_id: Uuid) -> None:
        """The replica lives in that directory now (AssignReplicasToDirs); retried until the controller knows."""
        ...

    def failed(self, directory_id: Uuid | None, path: str) -> None:
        """A directory went offline: named in the next heartbeats; said once for each."""
        ...

    def all_failed(self) -> None:
        """No directory is left: the broker has to stop."""
        ...


class TimerHandle(Protocol):
    """Something that was scheduled."""

    def cancel(self) -> None:
        """It is not to happen any more."""
        ...


class EventLoop(Protocol):
    """The part of an asyncio loop that replication uses, so that a simulation can bring its own."""

    def time(self) -> float:
        """Seconds on the loop's own clock."""
        ...

    def call_soon(self, callback: Callable[[], object]) -> object:
        """Calls once the loop gets round to it."""
        ...

    def call_soon_threadsafe(self, callback: Callable[[], object]) -> object:
        """Like `call_soon`, callable from any thread."""
        ...

    def call_at(self, when: float, callback: Callable[[], object]) -> TimerHandle:
        """Calls at a time on the loop's own clock."""
        ...


class Worker(Protocol):
    """A thread for work that blocks."""

    def submit(self, job: Callable[[], None]) -> None:
        """Runs the job some time; jobs run one after the other."""
        ...

    def close(self) -> None:
        """Waits for what was submitted, and ends."""
        ...
