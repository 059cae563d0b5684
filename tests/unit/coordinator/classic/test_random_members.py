"""Random members, time-outs, restarts and a log that fails now and then: what must hold in spite of it.

- All who got a share in a generation got it from one assignment of one leader.
- A coordinator's generations only rise, and a new coordinator never goes back behind one that was handed out.
- Once left in peace the group settles: every client has a share of the same generation.
- Every request is answered once, and when all are gone no timer and no soft state is left.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ottla.coordinator.group.classic.state import ClassicState
from ottla.protocol.errors import NotEnoughReplicasError
from ottla.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from tests.unit.coordinator.classic.client import Client, Stage
from tests.unit.coordinator.group.rig import Rig

ROUNDS_MAX = 200
INDEX = st.integers(0, 5)


class RandomMembers(RuleBasedStateMachine):
    """One group, and up to six clients at a time."""

    @initialize()
    def start(self) -> None:
        self.rig = Rig(offsets_retention_check_interval_ms=10**12)
        self.clients: list[Client] = []
        self.everybody: list[Client] = []
        self.assignments: dict[int, set[bytes]] = {}
        self.highest_given = self.last_generation = 0
        self.assignment_count = 0

    def _pick(self, index: int) -> list[Client]:
        alive = self.alive
        return [alive[index % len(alive)]] if alive else []

    @property
    def alive(self) -> list[Client]:
        """Clients that still take part."""
        return [client for client in self.clients if client.stage is not Stage.GONE]

    @rule(instance_id=st.sampled_from([None, "i", None, "j"]))
    def come(self, instance_id: str | None) -> None:
        if len(self.alive) < 6:
            client = Client(self.rig, instance_id, self._assign, self._given)
            self.clients.append(client)
            self.everybody.append(client)
            client.step()

    @rule(index=INDEX)
    def step(self, index: int) -> None:
        for client in self._pick(index):
            client.step()

    @rule(seconds=st.integers(1, 12))
    def live_on(self, seconds: int) -> None:
        """Everybody does as they should for a while."""
        for _ in range(seconds):
            for client in self.alive:
                client.step()
                client.heartbeat()
            self.rig.advance(1_000)

    @rule(index=INDEX)
    def heartbeat(self, index: int) -> None:
        for client in self._pick(index):
            client.heartbeat()

    @rule(index=INDEX)
    def change_metadata(self, index: int) -> None:
        for client in self._pick(index):
            client.metadata += b"1"
            if client.stage is Stage.STABLE:
                client.stage = Stage.OUT

    @rule(index=INDEX)
    def ask_again(self, index: int) -> None:
        """The connection broke while it waited."""
        for client in self._pick(index):
            if client.stage is Stage.JOINING:
                client.stage = Stage.OUT
            elif client.stage is Stage.SYNCING:
                client.stage = Stage.JOINED

    @rule(index=INDEX)
    def leave(self, index: int) -> None:
        for client in self._pick(index):
            client.leave()

    @rule(index=INDEX)
    def die(self, index: int) -> None:
        for client in self._pick(index):
            client.die()

    @rule(ms=st.sampled_from([1, 2_999, 3_000, 10_000]))
    def wait(self, ms: int) -> None:
        self.rig.advance(ms)

    @rule()
    def restart(self) -> None:
        self.rig.restart()
        self.last_generation = self.highest_given

    @rule(seconds=st.integers(0, 6), index=INDEX)
    def stall_replication(self, seconds: int, index: int) -> None:
        """Nothing is committed for a while, and somebody gets impatient."""
        self.rig.is_replicating = False
        self.live_on(seconds)
        self.ask_again(index)
        self.step(index)
        self.rig.is_replicating = True
        self.rig.settle()

    @rule(seconds=st.integers(0, 6))
    def break_log(self, seconds: int) -> None:
        """Nothing can be written for a while."""
        self.rig.logs[0].fail_with = NotEnoughReplicasError()
        self.live_on(seconds)
        self.rig.logs[0].fail_with = None

    @invariant()
    def one_assignment_per_generation(self) -> None:
        assert all(len(given) == 1 for given in self.assignments.values()), self.assignments

    @invariant()
    def generations_only_rise(self) -> None:
        for group in self.rig.classic.groups:
            assert group.generation >= self.last_generation
            self.last_generation = group.generation

    @invariant()
    def soft_state_is_consistent(self) -> None:
        for group in self.rig.classic.groups:
            ids = set(group.members)
            assert group.leader in ids if ids else group.leader is None
            assert set(group.joining) | set(group.syncing) | group.unsynced | group.new_members <= ids
            assert set(group.static_members.values()) <= ids
            assert not group.pending_members & ids
            assert bool(ids) or group.state in (ClassicState.EMPTY, ClassicState.PREPARING_REBALANCE)

    def teardown(self) -> None:
        if not hasattr(self, "rig"):
            return
        self._settle()
        for client in self.alive:
            client.leave()
        self.rig.advance(700_000)
        for client in self.everybody:
            assert [len(answers.given) for answers in client.sent] == [1] * len(client.sent)
        timers = self.rig.shards.get(0).timers
        assert len(timers) == 1, "only the retention check is left"
        assert len(self.rig.classic.groups) == 0

    def _settle(self) -> None:
        group = DescribedGroup()
        for _ in range(ROUNDS_MAX):
            for client in self.alive:
                client.step()
            codes = [client.heartbeat() for client in self.alive]
            if all(code == 0 and client.stage is Stage.STABLE for code, client in zip(codes, self.alive, strict=True)):
                (group,) = self.rig.ask(DescribeGroupsRequest(groups=["g"])).groups
                if {member.member_id for member in group.members} == {client.id for client in self.alive}:
                    break
            self.rig.advance(1_000)
        else:
            raise AssertionError(f"not settled: {[(client.stage, client.id) for client in self.alive]}, {group}")
        if self.alive:
            assert group.group_state == "Stable"
            assert len({(client.generation, client.share) for client in self.alive}) == 1
            assert all(client.share for client in self.alive)

    def _assign(self, leader: Client, members: list[str]) -> dict[str, bytes]:
        """Everybody gets the same bytes, and no two assignments are alike."""
        self.assignment_count += 1
        share = f"{leader.id} {self.assignment_count}".encode()
        return dict.fromkeys(members, share)

    def _given(self, generation: int, share: bytes) -> None:
        self.highest_given = max(self.highest_given, generation)
        if share:
            self.assignments.setdefault(generation, set()).add(share)


RandomMembers.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestRandomMembers = RandomMembers.TestCase
