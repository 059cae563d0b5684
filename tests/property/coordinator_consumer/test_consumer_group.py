"""A consumer group under whatever its members, its topics and its broker do.

Members come, go, fall silent, change their minds, and give up partitions as late as they like; the broker restarts
from its log, or loses a write. At every moment a partition is owned once, and epochs only rise; once all is quiet
everything is assigned, and everybody knows it.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.base.ids import Uuid
from ottla.coordinator.group.config import ConsumerGroupConfig
from ottla.coordinator.group.consumer.group import ConsumerGroup, ConsumerState
from ottla.protocol.errors import CoordinatorNotAvailableError, ErrorCode, NotLeaderOrFollowerError
from tests.unit.coordinator.consumer.rig import GROUP, Consumer, ConsumerRig

TOPICS = {"t": 5, "u": 3, "v": 1}
subscriptions = st.lists(st.sampled_from(sorted(TOPICS)), unique=True, min_size=1)
places = st.integers(0, 2)


class ConsumerGroupMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.joined = 0
        self.epochs = (0, 0)

    @initialize(interval_ms=st.sampled_from([0, 1_000]))
    def start(self, interval_ms: int) -> None:
        self.rig = ConsumerRig(TOPICS, ConsumerGroupConfig(assignment_interval_ms=interval_ms))
        self.clients: dict[int, Consumer] = {}
        self.join(0, ["t", "u"], is_static=False, assignor=None)

    def client(self, place: int) -> Consumer | None:
        return self.clients.get(place)

    @property
    def group(self) -> ConsumerGroup | None:
        group = self.rig.shards.get(0).state.groups.get(GROUP)
        assert group is None or isinstance(group, ConsumerGroup)
        return group

    def hear(self, client: Consumer) -> None:
        """What a client does when it is refused: it drops all that it has, and joins again."""
        assert client.answer is not None
        code = client.answer.error_code
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND):
            assert client.join().error_code == 0
        else:
            assert code == 0

    @rule(place=places, topics=subscriptions, is_static=st.booleans(), assignor=st.sampled_from([None, "range"]))
    def join(self, place: int, topics: list[str], is_static: bool, assignor: str | None) -> None:
        if place in self.clients:
            return
        self.joined += 1
        instance_id = f"i{place}" if is_static else None
        client = Consumer(
            self.rig, f"m{self.joined}", topics, instance_id=instance_id, server_assignor=assignor,
            rebalance_timeout_ms=60_000,
        )  # fmt: skip
        code = client.join().error_code
        if code == ErrorCode.UNRELEASED_INSTANCE_ID:
            assert is_static
            return
        assert code == 0
        self.clients[place] = client

    @rule(place=places)
    def beat(self, place: int) -> None:
        client = self.client(place)
        if client is not None:
            client.beat()
            self.hear(client)

    @rule(place=places)
    def beat_and_hold_on(self, place: int) -> None:
        """A member that is busy giving up partitions."""
        client = self.client(place)
        if client is not None:
            client.silent_beat()
            self.hear(client)

    @rule(place=places)
    def lose_an_answer(self, place: int) -> None:
        client = self.client(place)
        if client is not None:
            client.lost_beat()
            client.full_beat()
            self.hear(client)

    @rule(place=places, topics=subscriptions)
    def subscribe(self, place: int, topics: list[str]) -> None:
        client = self.client(place)
        if client is not None:
            client.said["subscribed_topic_names"] = topics
            client.beat(subscribed_topic_names=topics)
            self.hear(client)

    @rule(place=places, for_a_while=st.booleans())
    def leave(self, place: int, for_a_while: bool) -> None:
        client = self.clients.pop(place, None)
        if client is not None:
            is_static = client.said["instance_id"] is not None
            code = client.leave(-2 if for_a_while and is_static else -1).error_code
            assert code in (0, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)

    @rule(place=places)
    def crash(self, place: int) -> None:
        self.clients.pop(place, None)

    @rule(ms=st.sampled_from([100, 1_000, 20_000, 46_000]))
    def wait(self, ms: int) -> None:
        self.rig.advance(ms)

    @rule(topic=st.sampled_from(sorted(TOPICS)))
    def grow(self, topic: str) -> None:
        view = self.rig.cluster.topic(topic)
        if view is not None and view.partition_count < 8:
            self.rig.cluster.grow(topic, view.partition_count + 1)
            self.rig.topics_changed(topic)

    @rule(topic=st.sampled_from(sorted(TOPICS)))
    def make_anew(self, topic: str) -> None:
        self.rig.cluster.delete(topic)
        self.rig.cluster.create(topic, TOPICS[topic])
        self.rig.topics_changed(topic)

    @rule()
    def restart(self) -> None:
        before = self.group
        self.rig.restart()
        assert self.group == before

    @rule(place=places)
    def lose_a_write(self, place: int) -> None:
        client = self.client(place)
        if client is not None:
            before = self.group
            self.rig.logs[0].fail_with = NotLeaderOrFollowerError()
            client.silent_beat()
            self.rig.logs[0].fail_with = None
            assert client.answer is not None
            refusals = (ErrorCode.NOT_COORDINATOR, CoordinatorNotAvailableError.code)
            if client.answer.error_code in refusals:
                assert self.group == before
            else:
                self.hear(client)

    @precondition(lambda self: self.clients)
    @rule()
    def settle(self) -> None:
        """Those who are silent time out, and the others follow."""
        for _ in range(14):
            self.rig.advance(5_000)
            for client in self.clients.values():
                client.beat()
                self.hear(client)
        group = self.group
        assert group is not None
        assert group.state is ConsumerState.STABLE
        cluster = self.rig.cluster
        wanted = {topic for client in self.clients.values() for topic in client.said["subscribed_topic_names"]}
        owned = [
            (topic_id, partition)
            for client in self.clients.values()
            for topic_id, partitions in client.owned.items()
            for partition in partitions
        ]
        views = [view for topic in wanted if (view := cluster.topic(topic)) is not None]
        assert sorted(owned) == sorted((view.id, index) for view in views for index in range(view.partition_count))

    def teardown(self) -> None:
        """However it went, it must come to rest."""
        if getattr(self, "clients", None):
            self.settle()

    @invariant()
    def a_partition_is_owned_once(self) -> None:
        group = self.group
        if group is None:
            return
        owned: dict[tuple[Uuid, int], str] = {}
        for member in group.members.values():
            for part in (member.assigned, member.revoking):
                for topic_id, partitions in part.items():
                    for partition in partitions:
                        assert (topic_id, partition) not in owned
                        owned[topic_id, partition] = member.member_id
        assert owned == dict(group.owners)
        for client in self.clients.values():
            if client.member_id in group.members:
                for topic_id, held in client.owned.items():
                    for partition in held:
                        assert owned.get((topic_id, partition)) == client.member_id, "and its owner knows"

    @invariant()
    def epochs_rise(self) -> None:
        group = self.group
        if group is not None:
            epochs = (group.epoch, group.assignment_epoch)
            assert epochs[0] >= self.epochs[0]
            assert epochs[1] >= self.epochs[1]
            assert epochs[1] <= epochs[0]
            assert all(member.member_epoch <= group.assignment_epoch for member in group.members.values())
            self.epochs = epochs


TestConsumerGroup = ConsumerGroupMachine.TestCase
TestConsumerGroup.settings = settings(deadline=None, max_examples=150, stateful_step_count=40)
