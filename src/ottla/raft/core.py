"""The state machine of one quorum member: an event and the time in, effects out.

`handle` deals with the event, then lets the present role do what is due. Time is milliseconds since 1970 that never
run backwards; `deadline_ms` says when to come back with `TimeElapsed` if nothing else happens. Requests that need an
answer get it as a `SendResponse`, now or later. The rules themselves are next door: `election`, `announcement`,
`replication`, `snapshot`, `voters`, `roles`.
"""

from collections.abc import Sequence

from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode, NotLeaderOrFollowerError
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from ottla.protocol.messages.api_versions import ApiVersionsResponse
from ottla.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest
from ottla.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from ottla.protocol.messages.fetch import FetchRequest, FetchResponse
from ottla.protocol.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ottla.protocol.messages.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from ottla.protocol.messages.vote import VoteRequest, VoteResponse
from ottla.raft.announcement import Announcement
from ottla.raft.config import NEVER_MS
from ottla.raft.context import RaftContext, RaftPorts, RaftSetup
from ottla.raft.description import describe_quorum
from ottla.raft.effect import Effect, ShutdownCompleted
from ottla.raft.election import Election
from ottla.raft.event import (
    CommitsApplied,
    Event,
    LogFlushed,
    RequestFailed,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    ShutdownRequested,
    TimeElapsed,
)
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch
from ottla.raft.leadership import Leadership
from ottla.raft.replication.commit import Commit
from ottla.raft.replication.divergence import FetchKind, validate_position
from ottla.raft.replication.fetch_service import FetchService
from ottla.raft.replication.fetcher import Fetcher
from ottla.raft.roles.candidate import Candidate
from ottla.raft.roles.follower import Follower
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.prospective import Prospective
from ottla.raft.roles.resigned import Resigned
from ottla.raft.roles.role import Role
from ottla.raft.roles.unattached import Unattached
from ottla.raft.snapshot.downloader import Downloader
from ottla.raft.snapshot.service import SnapshotService
from ottla.raft.snapshot.writer import SnapshotWriter
from ottla.raft.voters.add_voter import AddVoter
from ottla.raft.voters.answer import expire_changes
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.kraft_version import upgrade_records
from ottla.raft.voters.membership import Membership
from ottla.raft.voters.remove_voter import RemoveVoter
from ottla.raft.voters.update_voter import UpdateVoter
from ottla.raft.voters.voter_set import VoterSet


class RaftCore:
    """One member of the quorum."""

    def __init__(self, setup: RaftSetup, ports: RaftPorts) -> None:
        self._context = context = RaftContext(setup, ports)
        self._leadership = Leadership(context)
        self._election = Election(context, self._leadership)
        self._announcement = Announcement(context, self._leadership)
        self._add_voter = AddVoter(context)
        self._remove_voter = RemoveVoter(context)
        self._update_voter = UpdateVoter(context)
        self._membership = Membership(context, self._leadership)
        self._commit = Commit(context, self._add_voter, self._remove_voter)
        self._fetch_service = FetchService(context, self._commit)
        self._snapshot_service = SnapshotService(context)
        self._downloader = Downloader(context, self._leadership)
        self._fetcher = Fetcher(context, self._leadership, self._downloader)
        self._deadline_ms = 0

    def start(self, now_ms: int) -> list[Effect]:
        """Takes up what the last run left; a sole voter leads at once."""
        context = self._context
        latest = context.snapshots.latest_id
        if latest is not None and latest > context.log_end:
            # The last run ended between a snapshot's arrival and the log's restart behind it.
            context.snapshots.restart_log_at(latest)
        context.voters.update()
        context.quorum.start(context.log_end, now_ms)
        # Who led before the restart leads no more: the listener must not take the old epoch for its own.
        resigned = isinstance(context.quorum.role, Resigned)
        context.listener.tell_leader(LeaderAndEpoch(None, self.leader.epoch) if resigned else self.leader)
        if context.quorum.is_only_voter:
            self._leadership.to_prospective(now_ms)
        return self._settle(now_ms)

    def handle(self, event: Event, now_ms: int) -> list[Effect]:
        """Deals with an event; what is to be done about it, in order."""
        match event:
            case RequestReceived():
                self._handle_request(event, now_ms)
            case ResponseReceived():
                self._handle_response(event, now_ms)
            case RequestFailed():
                self._handle_failure(event, now_ms)
            case LogFlushed():
                self._context.flushed()
                if isinstance(self.role, Leader):
                    self._commit.log_changed(self.role)
            case CommitsApplied():
                self._context.listener.applied()
            case ResignRequested():
                if isinstance(self.role, Leader) and self.role.epoch == event.epoch:
                    self.role.resign_requested = True
            case ShutdownRequested():
                self._context.shutdown_deadline_ms = now_ms + event.timeout_ms
            case TimeElapsed():
                pass
        return self._settle(now_ms)

    def append(self, epoch: int, values: Sequence[bytes], now_ms: int) -> int:
        """Takes record values to be written as one unit by the leader of `epoch`; the offset of the last.

        They are committed when an `ApplyCommitted` contains that offset, and lost if a `LeaderChanged` with a later
        epoch comes first and they never do. Call `handle` once `deadline_ms` has come. Raises
        NOT_LEADER_OR_FOLLOWER, RECORD_LIST_TOO_LARGE or `AppendBufferFullError`.
        """
        leader = self.role
        if not isinstance(leader, Leader):
            raise NotLeaderOrFollowerError("this replica is not the leader")
        return leader.accumulator.append(epoch, values, now_ms)

    def upgrade_kraft_version(self, epoch: int, version: int, now_ms: int, *, validate_only: bool = False) -> None:
        """Raises kraft.version; from 1 on voters come and go. Raises INVALID_UPDATE_VERSION if it can't be."""
        leader = self.role
        if not isinstance(leader, Leader):
            raise NotLeaderOrFollowerError("this replica is not the leader")
        records = upgrade_records(leader, self._context.voters, epoch, version)
        if records and not validate_only:
            leader.changes.requested_version = version
            leader.changes.volatile_voters = None
            leader.accumulator.append_control(records, now_ms)

    def begin_snapshot(
        self, snapshot_id: OffsetAndEpoch, last_contained_timestamp_ms: int, now_ms: int
    ) -> SnapshotWriter | None:
        """A writer for the state up to a committed offset; None if there is such a snapshot or a later one already.

        The id must name the end of a batch that the log has: `ValueError` otherwise.
        """
        context = self._context
        latest = context.snapshots.latest_id
        if snapshot_id.offset < context.log.start_offset or (latest is not None and snapshot_id <= latest):
            return None
        if snapshot_id.offset > context.listener.committed_offset:
            raise ValueError(f"a snapshot at {snapshot_id} is past what is committed")
        if validate_position(context.log, context.snapshots, snapshot_id).kind is not FetchKind.VALID:
            raise ValueError(f"the log has no position {snapshot_id}")
        writer = SnapshotWriter(snapshot_id, last_contained_timestamp_ms, now_ms)
        last_offset = snapshot_id.offset - 1
        writer.begin(context.voters.kraft_version_at(last_offset), context.voters.set_at(last_offset))
        return writer

    def store_snapshot(self, writer: SnapshotWriter) -> None:
        """Keeps a finished snapshot; deleting what it replaces is for `delete_before_snapshot`."""
        self._context.snapshots.store(writer.snapshot_id, writer.finish())

    def delete_before_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops the log and the snapshots before one."""
        context = self._context
        if context.snapshots.size(snapshot_id) is not None and snapshot_id.offset > context.log.start_offset:
            context.snapshots.delete_before(snapshot_id)
            context.voters.truncate_before(snapshot_id.offset)

    @property
    def deadline_ms(self) -> int:
        """The latest time for the next `TimeElapsed`."""
        role = self._context.quorum.role
        if isinstance(role, Leader):
            return min(self._deadline_ms, role.accumulator.drain_deadline_ms)
        return self._deadline_ms

    @property
    def role(self) -> Role:
        """The present role."""
        return self._context.quorum.role

    @property
    def leader(self) -> LeaderAndEpoch:
        """The leader and the epoch, as far as known."""
        return self._context.quorum.leader

    @property
    def high_watermark(self) -> int | None:
        """The offset up to which the log is known to be committed."""
        return self._context.quorum.high_watermark

    @property
    def voters(self) -> VoterSet:
        """The voters that count now, committed or not."""
        return self._context.voters.last_set

    @property
    def voter_history(self) -> VoterHistory:
        """Which voters held at which offset, as far as the log goes back."""
        return self._context.voters

    @property
    def kraft_version(self) -> int:
        """The kraft.version that counts now, committed or not; what a leader has begun to write counts as well."""
        leader = self.role
        requested = leader.changes.requested_version if isinstance(leader, Leader) else None
        return self._context.voters.kraft_version if requested is None else requested

    @property
    def next_offset(self) -> int:
        """The offset that the next record appended here gets."""
        leader = self.role
        return leader.accumulator.next_offset if isinstance(leader, Leader) else self._context.log.end_offset

    def _settle(self, now_ms: int) -> list[Effect]:
        """Does what is due until the role stays the same, and hands out the effects."""
        quorum = self._context.quorum
        while True:
            role = quorum.role
            deadline_ms = min(self._poll_role(role, now_ms), self._fetch_service.poll(now_ms))
            self._tell_listener()
            if quorum.role is role and not (isinstance(role, Leader) and role.resign_requested):
                break
        self._maybe_finish_shutdown(now_ms)
        self._deadline_ms = max(deadline_ms, now_ms + 1)
        effects = list(self._context.effects)
        self._context.effects.clear()
        return effects

    def _poll_role(self, role: Role, now_ms: int) -> int:
        match role:
            case Leader():
                return self._poll_leader(role, now_ms)
            case Follower():
                return self._poll_follower(role, now_ms)
            case Prospective() | Candidate():
                return self._election.poll(role, now_ms)
            case Resigned():
                return self._announcement.poll_resigned(role, now_ms)
            case Unattached():
                return self._poll_unattached(role, now_ms)
        return NEVER_MS

    def _poll_leader(self, leader: Leader, now_ms: int) -> int:
        has_lost_quorum = now_ms >= leader.check_quorum_deadline_ms
        if self._context.is_shutting_down or leader.resign_requested or has_lost_quorum:
            self._leadership.to_resigned(now_ms)
            return now_ms
        expire_changes(self._context, leader, now_ms)
        self._commit.write_pending(leader, now_ms)
        return min(
            self._announcement.poll_leader(leader, now_ms),
            leader.check_quorum_deadline_ms,
            leader.changes.deadline_ms,
            leader.accumulator.drain_deadline_ms,
        )

    def _poll_follower(self, follower: Follower, now_ms: int) -> int:
        context = self._context
        if context.is_shutting_down:
            return NEVER_MS
        if not context.quorum.is_voter:
            self._membership.poll(follower, now_ms)
            return self._fetcher.poll_follower(follower, now_ms)
        if now_ms >= follower.fetch_deadline_ms:
            self._leadership.to_prospective(now_ms)
            return now_ms
        self._membership.poll(follower, now_ms)
        return min(self._fetcher.poll_follower(follower, now_ms), follower.fetch_deadline_ms)

    def _poll_unattached(self, unattached: Unattached, now_ms: int) -> int:
        context = self._context
        if context.quorum.is_voter:
            if context.shutdown_deadline_ms is not None:
                return context.shutdown_deadline_ms
            if now_ms >= unattached.election_deadline_ms:
                self._leadership.to_prospective(now_ms)
                return now_ms
        return min(self._fetcher.poll_bootstrap(now_ms), unattached.election_deadline_ms)

    def _tell_listener(self) -> None:
        role, listener = self._context.quorum.role, self._context.listener
        if role.high_watermark is not None:
            listener.advance(role.high_watermark)
        if role.epoch == listener.last_told.epoch and role.leader_id == listener.last_told.leader_id:
            return
        if isinstance(role, Leader):
            listener.tell_own_leadership(self.leader, role.epoch_start_offset)
        elif not isinstance(role, Resigned):
            listener.tell_leader(self.leader)

    def _maybe_finish_shutdown(self, now_ms: int) -> None:
        context = self._context
        if context.shutdown_deadline_ms is None:
            return
        is_free = not context.quorum.is_voter or context.quorum.is_only_voter or context.quorum.has_remote_leader
        if is_free or now_ms >= context.shutdown_deadline_ms:
            context.effects.append(ShutdownCompleted(graceful=is_free))

    def _handle_request(self, event: RequestReceived, now_ms: int) -> None:
        match event.request:
            case FetchRequest() as request:
                self._fetch_service.handle(event, request, now_ms)
            case VoteRequest() as request:
                self._election.handle_request(event, request, now_ms)
            case BeginQuorumEpochRequest() as request:
                self._announcement.handle_begin(event, request, now_ms)
            case EndQuorumEpochRequest() as request:
                self._announcement.handle_end(event, request, now_ms)
            case FetchSnapshotRequest() as request:
                self._snapshot_service.handle(event, request, now_ms)
            case DescribeQuorumRequest() as request:
                self._context.respond(event.request_id, describe_quorum(self._context, event, request, now_ms))
            case AddRaftVoterRequest() as request:
                self._add_voter.handle(event, request, now_ms)
            case RemoveRaftVoterRequest() as request:
                self._remove_voter.handle(event, request, now_ms)
            case UpdateRaftVoterRequest() as request:
                self._update_voter.handle(event, request, now_ms)
            case _:
                raise ValueError(f"{type(event.request).__name__} is not for the quorum")

    def _handle_response(self, event: ResponseReceived, now_ms: int) -> None:
        connections = self._context.connections
        if connections.is_expected(event.source_id, event.correlation_id):
            is_success = self._dispatch_response(event.source_id, event.response, now_ms)
            connections.answered(event.source_id, event.correlation_id, now_ms, is_success=is_success)

    def _dispatch_response(self, source_id: int, response: Response, now_ms: int) -> bool:
        match response:
            case FetchResponse():
                return self._fetcher.handle_response(response, now_ms)
            case VoteResponse():
                return self._election.handle_response(source_id, response, now_ms)
            case BeginQuorumEpochResponse():
                return self._announcement.handle_begin_response(response, now_ms)
            case EndQuorumEpochResponse():
                return self._announcement.handle_end_response(source_id, response, now_ms)
            case FetchSnapshotResponse():
                return self._downloader.handle_response(response, now_ms)
            case UpdateRaftVoterResponse():
                return self._membership.handle_update(response, now_ms)
            case AddRaftVoterResponse():
                return self._membership.handle_add(response, now_ms)
            case RemoveRaftVoterResponse():
                return self._membership.handle_remove(response, now_ms)
            case ApiVersionsResponse():
                leader = self.role
                return not isinstance(leader, Leader) or self._add_voter.probed(leader, source_id, response, now_ms)
        raise ValueError(f"{type(response).__name__} is not for the quorum")

    def _handle_failure(self, event: RequestFailed, now_ms: int) -> None:
        connections = self._context.connections
        if not connections.is_expected(event.source_id, event.correlation_id):
            return
        is_success = False
        if event.error == ErrorCode.UNSUPPORTED_VERSION:
            is_success = self._election.handle_failure(event.error, now_ms)
        if isinstance(self.role, Leader):
            self._add_voter.probe_failed(self.role, event.source_id, event.error)
        connections.answered(event.source_id, event.correlation_id, now_ms, is_success=is_success)
