"""A set of voters: ids, directories, endpoints, and the kraft.version levels each can run at. Immutable."""

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.protocol.control_record import Endpoint, KRaftVersionFeature, VotersRecord, VotersRecordVoter
from ottla.raft.endpoint import NO_ENDPOINTS, Address, Endpoints
from ottla.raft.identity import ALL_KRAFT_VERSIONS, KRaftVersionRange, LocalReplica, Node, ReplicaKey

_STATIC_VERSIONS = KRaftVersionRange(0, 0)


@frozen
class VoterNode:
    """One voter."""

    key: ReplicaKey
    endpoints: Endpoints
    supported_versions: KRaftVersionRange = ALL_KRAFT_VERSIONS

    @classmethod
    def of_local(cls, local: LocalReplica) -> "VoterNode":
        """Ourselves as a voter."""
        return cls(local.key, local.endpoints, local.supported_versions)


@frozen
class VoterSet:
    """Voters by id.

    Changes give a new set, or None where the change does not apply.
    """

    by_id: Mapping[int, VoterNode]

    @classmethod
    def of(cls, voters: Iterable[VoterNode]) -> "VoterSet":
        """The set of the given voters."""
        return cls({voter.key.id: voter for voter in sorted(voters, key=lambda voter: voter.key.id)})

    @classmethod
    def of_static(cls, listener: str, addresses: Mapping[int, Address]) -> "VoterSet":
        """The voters of `controller.quorum.voters`: directories unknown, kraft.version 0."""
        return cls.of(
            VoterNode(ReplicaKey(voter_id), Endpoints({listener: address}), _STATIC_VERSIONS)
            for voter_id, address in addresses.items()
        )

    @classmethod
    def of_record(cls, record: VotersRecord) -> "VoterSet":
        """The voters that a control record lists."""
        return cls.of(
            VoterNode(
                ReplicaKey(voter.voter_id, voter.voter_directory_id),
                Endpoints.of(voter.endpoints),
                KRaftVersionRange(
                    voter.kraft_version_feature.min_supported_version, voter.kraft_version_feature.max_supported_version
                ),
            )
            for voter in record.voters
        )

    def record(self) -> VotersRecord:
        """The control record that lists the voters."""
        return VotersRecord(
            version=0,
            voters=[
                VotersRecordVoter(
                    voter_id=voter.key.id,
                    voter_directory_id=voter.key.directory_id,
                    endpoints=voter.endpoints.listeners(Endpoint),
                    kraft_version_feature=KRaftVersionFeature(
                        min_supported_version=voter.supported_versions.min_supported_version,
                        max_supported_version=voter.supported_versions.max_supported_version,
                    ),
                )
                for voter in self.by_id.values()
            ],
        )

    @property
    def ids(self) -> tuple[int, ...]:
        """The voters' ids, rising."""
        return tuple(self.by_id)

    @property
    def keys(self) -> list[ReplicaKey]:
        """The voters' keys, by rising id."""
        return [voter.key for voter in self.by_id.values()]

    def __len__(self) -> int:
        return len(self.by_id)

    def is_voter(self, replica: ReplicaKey) -> bool:
        """Whether the replica is one of them."""
        voter = self.by_id.get(replica.id)
        return voter is not None and voter.key.is_met_by(replica)

    def is_only_voter(self, replica: ReplicaKey) -> bool:
        """Whether the replica is all of them."""
        return len(self.by_id) == 1 and self.is_voter(replica)

    def endpoints(self, voter_id: int) -> Endpoints:
        """The addresses of a voter; empty for no voter."""
        voter = self.by_id.get(voter_id)
        return NO_ENDPOINTS if voter is None else voter.endpoints

    def node(self, voter_id: int, listener: str) -> Node | None:
        """The node for requests to a voter."""
        address = self.endpoints(voter_id).address(listener)
        return None if address is None else Node(voter_id, address.host, address.port)

    def needs_update(self, voter: VoterNode) -> bool:
        """Whether the voter is one of ours with other endpoints, versions or directory than we have."""
        known = self.by_id.get(voter.key.id)
        return known is not None and known.key.is_met_by(voter.key) and known != voter

    def supports(self, version: int) -> bool:
        """Whether all of them can run at a kraft.version."""
        return all(voter.supported_versions.includes(version) for voter in self.by_id.values())

    def with_voter(self, voter: VoterNode) -> "VoterSet | None":
        """One more; None if the id is there already, with whatever directory."""
        return None if voter.key.id in self.by_id else self._replaced(voter)

    def without_voter(self, key: ReplicaKey) -> "VoterSet | None":
        """One less; None if there is no such voter or no other."""
        known = self.by_id.get(key.id)
        if known is None or known.key != key or len(self.by_id) == 1:
            return None
        return VoterSet.of(voter for voter in self.by_id.values() if voter.key.id != key.id)

    def with_update(self, voter: VoterNode) -> "VoterSet | None":
        """This set with other endpoints of one voter; None if it is not a member."""
        known = self.by_id.get(voter.key.id)
        return self._replaced(voter) if known is not None and known.key.is_met_by(voter.key) else None

    def with_update_of_id(self, voter: VoterNode) -> "VoterSet | None":
        """The voter of that id, whatever its directory was: at kraft.version 0 a directory is hearsay."""
        return self._replaced(voter) if voter.key.id in self.by_id else None

    def has_overlapping_majority(self, other: "VoterSet") -> bool:
        """Whether every majority of one meets every majority of the other: they differ by one voter each way."""
        ours, theirs = set(self.keys), set(other.keys)
        return len(ours - theirs) <= 1 and len(theirs - ours) <= 1

    def _replaced(self, voter: VoterNode) -> "VoterSet":
        return VoterSet.of([*(known for known in self.by_id.values() if known.key.id != voter.key.id), voter])


NO_VOTERS: Final = VoterSet({})
