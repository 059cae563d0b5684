"""kraft.version in the log: carried over by each new leader where needed, and raised from 0 to 1 on request."""

from ottla.base.ids import ZERO_UUID
from ottla.protocol.control_record import KRaftVersionRecord
from ottla.protocol.errors import InvalidUpdateVersionError, NotLeaderOrFollowerError
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import LocalReplica
from ottla.raft.log.control_batch import ControlMessage
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import VoterNode, VoterSet

_BOOTSTRAP_OFFSET = -1
"""Where the history has what only the bootstrap snapshot says."""


def start_of_epoch_records(voters: VoterHistory, local: LocalReplica) -> list[ControlMessage]:
    """The records of a new leader beside its LeaderChangeMessage.

    Voters known only from the bootstrap snapshot go into the log, since that snapshot is never replicated; so do our
    own endpoints if the voter set has old ones.
    """
    if not voters.supports_reconfiguration:
        return []
    us = VoterNode.of_local(local)
    if voters.last_set_offset != _BOOTSTRAP_OFFSET and not voters.last_set.needs_update(us):
        return []
    updated = voters.last_set.with_update(us)
    if updated is None:
        raise RaftInvariantError(f"leader {local.key} is not among the voters {voters.last_set.keys}")
    return [KRaftVersionRecord(version=0, kraft_version=voters.kraft_version), updated.record()]


def volatile_voters_at_start(voters: VoterHistory, local: LocalReplica) -> VoterSet | None:
    """At kraft.version 0, the voters that the leader collects directories and versions of; we know our own."""
    if voters.supports_reconfiguration:
        return None
    return voters.last_set.with_update_of_id(VoterNode.of_local(local))


def upgrade_records(leader: Leader, voters: VoterHistory, epoch: int, version: int) -> list[ControlMessage]:
    """The records that raise kraft.version; none if it is that already.

    Raises INVALID_UPDATE_VERSION for a downgrade, a second upgrade under way, or voters that cannot follow.
    """
    if epoch != leader.epoch:
        raise NotLeaderOrFollowerError(f"epoch {epoch} is not the current leader epoch {leader.epoch}")
    requested = leader.changes.requested_version
    if version in (requested, voters.kraft_version if requested is None else None):
        return []
    _check_upgrade(leader, voters, version)
    updated = leader.changes.volatile_voters
    if updated is None:
        raise InvalidUpdateVersionError(f"Invalid upgrade of kraft.version from {voters.kraft_version} to {version}")
    if any(key.directory_id == ZERO_UUID for key in updated.keys):
        raise InvalidUpdateVersionError("Directory id must be known for all of the voters")
    records: list[ControlMessage] = [KRaftVersionRecord(version=0, kraft_version=version)]
    return records if updated == voters.last_set else [*records, updated.record()]


def _check_upgrade(leader: Leader, voters: VoterHistory, version: int) -> None:
    requested = leader.changes.requested_version
    if requested is not None:
        raise InvalidUpdateVersionError(
            f"Invalid concurrent upgrade of kraft.version from version {requested} to {version}"
        )
    if version < voters.kraft_version:
        raise InvalidUpdateVersionError(
            f"Invalid upgrade of kraft.version from version {voters.kraft_version} to {version} because the new "
            "version is a downgrade"
        )
    volatile = leader.changes.volatile_voters
    if volatile is not None and not volatile.supports(version):
        raise InvalidUpdateVersionError(
            f"Invalid upgrade of kraft.version to {version} because not all of the voters support it"
        )
