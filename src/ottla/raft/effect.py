"""The effects of a quorum member: the outputs of `core.RaftCore.handle`, to be carried out in order.

What must be durable before an answer leaves (quorum-state, truncations) went through the ports before the effect was
made. Flushing the log is an effect so that it can run beside the network; counting replicas waits for it.
"""

from ottla.base.frozen import frozen
from ottla.protocol.definition import Request, Response
from ottla.raft.identity import LeaderAndEpoch, Node, OffsetAndEpoch


@frozen
class SendRequest:
    """Ask a node; its answer comes back as `ResponseReceived` or `RequestFailed` with this correlation id."""

    destination: Node
    correlation_id: int
    request: Request


@frozen
class SendResponse:
    """Answer the `RequestReceived` of that id."""

    request_id: int
    response: Response


@frozen
class FlushLog:
    """Make everything appended so far durable, then say `LogFlushed`."""


@frozen
class ApplyCommitted:
    """Whole committed batches for the state machine on top, in order; say `CommitsApplied` to get more.

    Control batches are among them: the state machine skips what is not its own, but has to count the offsets.
    """

    base_offset: int
    last_offset: int
    batches: bytes


@frozen
class LoadSnapshot:
    """Replace the state machine's state by that of the snapshot; say `CommitsApplied` when done."""

    snapshot_id: OffsetAndEpoch


@frozen
class LeaderChanged:
    """There is a new epoch or a new leader in it.

    Our own leadership is told only once everything committed before it was applied, so that a controller which
    hears of it acts on the newest state.
    """

    leader: LeaderAndEpoch


@frozen
class ShutdownCompleted:
    """The node may end; `graceful` says whether that was before the time was up."""

    graceful: bool


Effect = SendRequest | SendResponse | FlushLog | ApplyCommitted | LoadSnapshot | LeaderChanged | ShutdownCompleted
