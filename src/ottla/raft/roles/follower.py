"""Follower: fetches from a known leader.

A voter that cannot fetch for the fetch timeout becomes prospective; an observer asks the bootstrap servers.
Leaves to: prospective, unattached in a later epoch, follower in a later epoch or with more endpoints of the leader.
"""

from typing import ClassVar

from ottla.base.frozen import frozen
from ottla.raft.endpoint import Endpoints
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import Node, OffsetAndEpoch
from ottla.raft.ports import SnapshotPartWriter
from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.role import Ballot, Role, RoleKind


@frozen
class SnapshotDownload:
    """A snapshot that is being fetched instead of the log."""

    snapshot_id: OffsetAndEpoch
    writer: SnapshotPartWriter


class Follower(Role):
    """Keeps the fetch timer and what it knows of the high watermark."""

    kind: ClassVar[RoleKind] = RoleKind.FOLLOWER

    def __init__(
        self, election: ElectionState, high_watermark: int | None, leader_endpoints: Endpoints, fetch_timeout_ms: int
    ) -> None:
        super().__init__(election, high_watermark)
        self._leader_endpoints = leader_endpoints
        self._fetch_timeout_ms = fetch_timeout_ms
        self.fetch_deadline_ms = 0
        self.update_voter_deadline_ms = 0
        self.has_fetched_from_leader = False
        self.has_updated_leader = False
        self.download: SnapshotDownload | None = None

    def start(self, now_ms: int) -> None:
        """Starts both timers."""
        self.fetch_deadline_ms = self.update_voter_deadline_ms = now_ms + self._fetch_timeout_ms

    @property
    def leader_endpoints(self) -> Endpoints:
        return self._leader_endpoints

    def leader_node(self, listener: str) -> Node:
        """The node to fetch from."""
        address = self._leader_endpoints.address(listener)
        if self.leader_id is None or address is None:
            raise RaftInvariantError(f"no address of leader {self.leader_id} for listener {listener}")
        return Node(self.leader_id, address.host, address.port)

    def fetched(self, now_ms: int) -> None:
        """The leader answered: it lives, and its other followers need not change it."""
        self.fetch_deadline_ms = now_ms + self._fetch_timeout_ms
        self.has_fetched_from_leader = True

    def delay_voter_update(self, now_ms: int) -> None:
        """The next look at whether our voter entry is right comes a fetch timeout later."""
        self.update_voter_deadline_ms = now_ms + self._fetch_timeout_ms

    def advance_high_watermark(self, offset: int) -> bool:
        """Takes the leader's high watermark; whether it is news.

        It never falls, because what is committed stays so: an answer that says less was given earlier and came late.
        """
        if self.high_watermark is not None and offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        return True

    def set_download(self, download: SnapshotDownload | None) -> None:
        """Starts, replaces or ends a download."""
        if self.download is not None and download is not self.download:
            self.download.writer.discard()
        self.download = download

    def can_grant_vote(self, ballot: Ballot) -> bool:
        # A follower that fetched has proof that the leader lives: an unneeded election would only disturb it.
        return ballot.pre_vote and not self.has_fetched_from_leader and ballot.log_is_up_to_date
