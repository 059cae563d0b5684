"""A client of a classic group that follows the protocol, one request at a time, and may die at any point."""

from collections.abc import Callable
from enum import Enum

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group import SyncGroupResponse
from tests.unit.coordinator.group.member import join_request, protocols, sync_request
from tests.unit.coordinator.group.rig import Rig
from tests.unit.coordinator.runtime.fake import Answers


class Stage(Enum):
    """What the client does next, or waits for."""

    OUT = "out"
    JOINING = "joining"
    JOINED = "joined"
    SYNCING = "syncing"
    STABLE = "stable"
    GONE = "gone"


class Client:
    """`assign` makes the shares when it leads; `synced` hears of every share that it gets."""

    def __init__(
        self,
        rig: Rig,
        instance_id: str | None,
        assign: Callable[["Client", list[str]], dict[str, bytes]],
        synced: Callable[[int, bytes], None],
    ) -> None:
        self.rig, self.instance_id = rig, instance_id
        self._assign, self._synced = assign, synced
        self.id, self.generation, self.share = "", -1, b""
        self.stage = Stage.OUT
        self.metadata = b"1"
        self.sent: list[Answers] = []
        self._members: list[str] = []
        self._is_assigning = False

    def step(self) -> None:
        """Hears the answer to its last request, then sends the next."""
        if self.stage in (Stage.JOINING, Stage.SYNCING) and self.sent[-1].given:
            self._hear(self.sent[-1].only)
        if self.stage is Stage.OUT:
            self._send_join()
        elif self.stage is Stage.JOINED:
            self._send_sync()

    def heartbeat(self) -> int | None:
        """Sends a heartbeat if it is in a generation; the code, if it was answered at once."""
        if self.stage not in (Stage.JOINED, Stage.STABLE):
            return None
        request = HeartbeatRequest(
            group_id="g", generation_id=self.generation, member_id=self.id, group_instance_id=self.instance_id
        )
        answers = self.rig.send(request, 4)
        self.sent.append(answers)
        if not answers.given:
            return None
        code: int = answers.only.error_code
        self._obey(code)
        return code

    def leave(self) -> None:
        """Leaves for good."""
        if self.id:
            identity = MemberIdentity(member_id=self.id, group_instance_id=self.instance_id)
            self.sent.append(self.rig.send(LeaveGroupRequest(group_id="g", members=[identity])))
        self.stage = Stage.GONE

    def die(self) -> None:
        """Is not heard of again."""
        self.stage = Stage.GONE

    def _send_join(self) -> None:
        request = join_request(
            member_id=self.id,
            group_instance_id=self.instance_id,
            rebalance_timeout_ms=20_000,
            protocols=protocols("range", metadata=self.metadata),
        )
        self.stage = Stage.JOINING
        self.sent.append(self.rig.send(request, 9))

    def _send_sync(self) -> None:
        shares = self._assign(self, self._members) if self._is_assigning else {}
        request = sync_request("g", self.generation, self.id, shares)
        request.group_instance_id = self.instance_id
        self.stage = Stage.SYNCING
        self.sent.append(self.rig.send(request, 4))

    def _hear(self, answer: JoinGroupResponse | SyncGroupResponse) -> None:
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED and isinstance(answer, JoinGroupResponse):
            self.id, self.stage = answer.member_id, Stage.OUT
        elif answer.error_code:
            self.stage = Stage.OUT
            self._obey(answer.error_code)
        elif isinstance(answer, JoinGroupResponse):
            self.id, self.generation, self.stage = answer.member_id, answer.generation_id, Stage.JOINED
            self._members = [member.member_id for member in answer.members]
            self._is_assigning = answer.leader == self.id and not answer.skip_assignment
        else:
            self.share, self.stage = answer.assignment, Stage.STABLE
            self._synced(self.generation, self.share)

    def _obey(self, code: int) -> None:
        if code == ErrorCode.FENCED_INSTANCE_ID:
            self.stage = Stage.GONE
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self.id, self.stage = "", Stage.OUT
        elif code == ErrorCode.REBALANCE_IN_PROGRESS:
            self.stage = Stage.OUT
