"""AddRaftVoter (key 80): an observer that has caught up becomes a voter.

The leader asks the newcomer for its versions with ApiVersions, which also proves that its endpoint works; then it
must be no further behind than a live follower, and only then its VotersRecord is written. It counts from there on:
the record itself is committed by the new majority. The answer comes with the commit, or with the append for an
automatic join, which would otherwise hold the one connection that the newcomer fetches on.
"""

from ottla.base.ids import ZERO_UUID
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.event import RequestReceived
from ottla.raft.identity import KRaftVersionRange, Node, ReplicaKey
from ottla.raft.request import is_our_cluster, leader_request_error
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.answer import answer_add, cluster_id_message, finish_add
from ottla.raft.voters.change import PendingAdd
from ottla.raft.voters.precondition import Refusal, change_refusal
from ottla.raft.voters.voter_set import VoterNode

_KRAFT_VERSION = "kraft.version"
_SOFTWARE_NAME = "ottla"


class AddVoter:
    """Runs one addition at a time."""

    def __init__(self, context: RaftContext) -> None:
        self._context = context

    def handle(self, event: RequestReceived, request: AddRaftVoterRequest, now_ms: int) -> None:
        """Begins an addition, or says why not."""
        refusal = self._refusal(request, now_ms)
        if refusal is not None:
            answer_add(self._context, event.request_id, *refusal)
            return
        leader = self._context.quorum.role
        assert isinstance(leader, Leader)
        key = ReplicaKey(request.voter_id, request.voter_directory_id)
        endpoints = Endpoints.of(request.listeners)
        address = endpoints.address(self._context.listener_name)
        assert address is not None
        node = Node(key.id, address.host, address.port)
        if not self._context.connections.is_ready(node, now_ms):
            message = f"New voter {key} is not ready to receive requests"
            answer_add(self._context, event.request_id, ErrorCode.REQUEST_TIMED_OUT, message)
            return
        probe = ApiVersionsRequest(client_software_name=_SOFTWARE_NAME, client_software_version="0")
        self._context.send(node, probe, now_ms)
        deadline_ms = now_ms + self._context.config.request_timeout_ms
        leader.changes.add = PendingAdd(event.request_id, key, endpoints, request.ack_when_committed, deadline_ms)

    def probed(self, leader: Leader, source_id: int, response: ApiVersionsResponse, now_ms: int) -> bool:
        """The newcomer answered: writes the new voters, or gives up."""
        pending = leader.changes.add
        if pending is None or pending.last_offset is not None or pending.key.id != source_id:
            return True
        if response.error_code != ErrorCode.NONE:
            self.probe_failed(leader, source_id, ErrorCode(response.error_code))
            return False
        versions = _kraft_versions(response)
        refusal = self._probe_refusal(leader, pending, versions, now_ms)
        if refusal is not None:
            finish_add(self._context, leader, *refusal)
            return True
        updated = self._context.voters.last_set.with_voter(VoterNode(pending.key, pending.endpoints, versions))
        if updated is None:
            finish_add(self._context, leader, ErrorCode.DUPLICATE_VOTER)
            return True
        pending.last_offset = leader.accumulator.append_control([updated.record()], now_ms)
        if not pending.ack_when_committed:
            answer_add(self._context, pending.request_id, ErrorCode.NONE)
            pending.request_id = None
        return True

    def probe_failed(self, leader: Leader, source_id: int, error: ErrorCode) -> None:
        """The newcomer did not answer."""
        pending = leader.changes.add
        if pending is not None and pending.last_offset is None and pending.key.id == source_id:
            message = f"Aborted add voter operation for since API_VERSIONS returned an error {error.name}"
            finish_add(self._context, leader, ErrorCode.REQUEST_TIMED_OUT, message)

    def committed(self, leader: Leader, high_watermark: int) -> None:
        """The high watermark moved; perhaps past the new voters."""
        pending = leader.changes.add
        if pending is not None and pending.last_offset is not None and pending.last_offset < high_watermark:
            finish_add(self._context, leader, ErrorCode.NONE)

    def _refusal(self, request: AddRaftVoterRequest, now_ms: int) -> Refusal | None:
        context = self._context
        if not is_our_cluster(context, request.cluster_id):
            return ErrorCode.INCONSISTENT_CLUSTER_ID, cluster_id_message(context, request.cluster_id)
        error = leader_request_error(context, context.quorum.epoch)
        leader = context.quorum.role
        if error != ErrorCode.NONE or not isinstance(leader, Leader):
            return error, ""
        key = ReplicaKey(request.voter_id, request.voter_directory_id)
        if key.id < 0 or key.directory_id == ZERO_UUID:
            return ErrorCode.INVALID_REQUEST, "Add voter request didn't include a valid voter"
        endpoints = Endpoints.of(request.listeners)
        if endpoints.address(context.listener_name) is None:
            message = f"Add voter request didn't include the endpoint ({endpoints}) for the default listener"
            return ErrorCode.INVALID_REQUEST, f"{message} ListenerName({context.listener_name})"
        refusal = change_refusal(context, leader, "adding", now_ms)
        if refusal is None and key.id in context.voters.last_set.by_id:
            keys = ", ".join(map(str, context.voters.last_set.keys))
            message = f"The voter id for {key} is already part of the set of voters [{keys}]."
            return ErrorCode.DUPLICATE_VOTER, message
        return refusal

    def _probe_refusal(
        self, leader: Leader, pending: PendingAdd, versions: KRaftVersionRange, now_ms: int
    ) -> Refusal | None:
        finalized = self._context.voters.kraft_version
        if not versions.includes(finalized):
            shown = f"(min: {versions.min_supported_version}, max: {versions.max_supported_version}"
            return (
                ErrorCode.INVALID_REQUEST,
                f"Aborted add voter operation for {pending.key} since the {_KRAFT_VERSION} range {shown} doesn't "
                f"support the finalized version {finalized}",
            )
        if not leader.is_caught_up(pending.key, now_ms):
            message = f"Aborted add voter operation for {pending.key} since it is lagging behind"
            return ErrorCode.REQUEST_TIMED_OUT, message
        return None


def _kraft_versions(response: ApiVersionsResponse) -> KRaftVersionRange:
    for feature in response.supported_features:
        if feature.name == _KRAFT_VERSION:
            return KRaftVersionRange(feature.min_version, feature.max_version)
    return KRaftVersionRange(0, 0)
