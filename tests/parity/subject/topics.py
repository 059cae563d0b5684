"""Topics: created, described, grown and deleted, and Metadata about them; names, counts, ids that are wrong."""

from ottla.base.ids import Uuid
from ottla.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.clients.patience import until
from tests.parity.talk import Talk

UNKNOWN = Uuid(b"\x03" * 16)


def run(talk: Talk) -> None:
    """All about topics."""
    _create(talk)
    _refused(talk)
    _metadata(talk)
    _metadata_by_id(talk)
    _describe(talk)
    _partitions(talk)
    _delete(talk)


def topic(name: str, partitions: int = 1, replicas: int = 1, **configs: str | None) -> CreatableTopic:
    """A topic to create; underscores in the names of settings stand for dots."""
    settings = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas, configs=settings)


def assigned(name: str, *replicas: list[int], partitions: int = -1, factor: int = -1) -> CreatableTopic:
    """A topic with its replicas named."""
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=ids) for index, ids in enumerate(replicas)
    ]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, assignments=assignments)


def create(*topics: CreatableTopic, **others: object) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), **others)


def _create(talk: Talk) -> None:
    for version in range(2, 8):
        talk.ask("a topic", create(topic(f"created-v{version}", 2, retention_ms="1000")), version)
        talk.ask("only validated", create(topic("created-not"), validate_only=True), version)
        talk.ask("one that exists", create(topic(f"created-v{version}")), version)
    talk.ask("defaults", create(topic("created-default", -1, -1)), 7)
    talk.ask("defaults below v4", create(topic("created-default-old", -1, -1)), 3)
    talk.ask("assigned", create(assigned("created-assigned", [1], [1])), 7)
    talk.ask("compacted", create(topic("created-compacted", cleanup_policy="compact,delete")), 7)
    talk.ask("a time-out of 0", create(topic("created-hasty"), timeout_ms=0), 7)
    talk.ask("none", create(), 7)
    talk.ask("two, one bad", create(topic("created-good"), topic("created-bad", 0)), 7)


def _refused(talk: Talk) -> None:
    for name in ("", ".", "..", "a/b", "a b", "ä", "x" * 249, "x" * 250, "__consumer_offsets_", "a.b", "a_b"):
        talk.ask(f"named {name[:20]!r} of {len(name)}", create(topic(name), validate_only=True), 7)
    talk.ask("a dot", create(topic("collision.name")), 7)
    talk.ask("an underscore in its place", create(topic("collision_name")), 7)
    for partitions in (0, -2, 10_001, 2**31 - 1):
        talk.ask(f"{partitions} partitions", create(topic("refused", partitions), validate_only=True), 7)
    for replicas in (0, 2, -2, 32767):
        talk.ask(f"{replicas} replicas", create(topic("refused", 1, replicas), validate_only=True), 7)
    for key, value in (
        ("no_such_config", "1"),
        ("retention_ms", "soon"),
        ("retention_ms", "-2"),
        ("retention_ms", None),
        ("cleanup_policy", "none"),
        ("cleanup_policy", ""),
        ("segment_bytes", "1000"),
        ("segment_bytes", "1048576"),
        ("min_insync_replicas", "0"),
        ("max_message_bytes", "-1"),
        ("compression_type", "rar"),
        ("message_timestamp_type", "Never"),
        ("min_cleanable_dirty_ratio", "1.5"),
        ("unclean_leader_election_enable", "maybe"),
        ("remote_storage_enable", "true"),
        ("local_retention_ms", "5"),
        ("message_format_version", "2.0"),
        ("compression_gzip_level", "12"),
        ("leader_replication_throttled_replicas", "0:1"),
        ("leader_replication_throttled_replicas", "nonsense"),
    ):
        talk.ask(f"{key}={value}", create(topic("refused", **{key: value}), validate_only=True), 7)
    twice = topic("refused", retention_ms="5")
    twice.configs = twice.configs * 2
    talk.ask("a setting twice", create(twice, validate_only=True), 7)
    talk.ask("a topic twice", create(topic("refused-twice"), topic("refused-twice")), 7)
    for name, wish in (
        ("an unknown broker", assigned("refused", [1], [9])),
        ("a broker twice", assigned("refused", [1, 1])),
        ("no broker", assigned("refused", [])),
        ("a count beside", assigned("refused", [1], partitions=1)),
        ("a factor beside", assigned("refused", [1], factor=1)),
        ("a negative broker", assigned("refused", [-1])),
    ):
        talk.ask(f"assigned: {name}", create(wish, validate_only=True), 7)
    gap = assigned("refused", [1], [1])
    gap.assignments[1].partition_index = 5
    talk.ask("assigned: a gap", create(gap, validate_only=True), 7)
    gap.assignments[1].partition_index = 0
    talk.ask("assigned: a partition twice", create(gap, validate_only=True), 7)
    talk.ask("an internal topic", create(topic("__consumer_offsets"), validate_only=True), 7)
    talk.ask("the metadata topic", create(topic("__cluster_metadata"), validate_only=True), 7)


def _metadata(talk: Talk) -> None:
    made = talk.topic("metadata", 3)
    named = [MetadataRequestTopic(name=made.name)]
    talk.ask_all_versions("a topic", MetadataRequest(topics=named))
    talk.ask_all_versions("all topics", MetadataRequest(topics=None), "12-13")
    talk.ask_all_versions("an empty list", MetadataRequest(topics=[]))
    unknown = [MetadataRequestTopic(name="metadata-none")]
    talk.ask_all_versions("an unknown topic", MetadataRequest(topics=unknown, allow_auto_topic_creation=False), "4-13")
    for version in (0, 3, 4, 13):
        created = [MetadataRequestTopic(name=f"metadata-created-by-v{version}")]
        talk.ask("a topic to be created", MetadataRequest(topics=created), version)
        until(False, lambda wish=created: talk.quietly(MetadataRequest(topics=wish), 1).topics[0].error_code != 0)
        talk.id_of(created[0].name or "")
        talk.ask("a topic that was created", MetadataRequest(topics=created), version)
    operations = {"include_topic_authorized_operations": True, "include_cluster_authorized_operations": True}
    for version in range(8, 11):
        talk.ask("authorised operations", MetadataRequest(topics=named, **operations), version)
    talk.ask("authorised operations", MetadataRequest(topics=named, include_topic_authorized_operations=True), 13)
    for name in ("a/b", "", ".", "x" * 250):
        talk.ask(f"named {name[:20]!r} of {len(name)}", MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 9)
    talk.ask("a topic twice", MetadataRequest(topics=named * 2), 9)
    talk.ask("known and unknown", MetadataRequest(topics=named + unknown, allow_auto_topic_creation=False), 9)


def _metadata_by_id(talk: Talk) -> None:
    made = talk.topic("metadata-by-id")
    for version in range(10, 14):
        talk.ask("by id", MetadataRequest(topics=[MetadataRequestTopic(topic_id=made.id, name=None)]), version)
        talk.ask(
            "by an unknown id", MetadataRequest(topics=[MetadataRequestTopic(topic_id=UNKNOWN, name=None)]), version
        )
        talk.ask(
            "by id and name", MetadataRequest(topics=[MetadataRequestTopic(topic_id=made.id, name=made.name)]), version
        )
        talk.ask("neither id nor name", MetadataRequest(topics=[MetadataRequestTopic(name=None)]), version)
    mixed = [MetadataRequestTopic(topic_id=made.id, name=None), MetadataRequestTopic(name="metadata")]
    talk.ask("one by id, one by name", MetadataRequest(topics=mixed), 13)


def _describe(talk: Talk) -> None:
    talk.topic("described-b", 3)
    talk.topic("described-a", 2)

    def request(*names: str, **others: object) -> DescribeTopicPartitionsRequest:
        return DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name) for name in names], **others)

    talk.ask("two topics", request("described-b", "described-a"), 0)
    talk.ask("an unknown one", request("described-none", "described-a"), 0)
    talk.ask("a bad name", request("a/b"), 0)
    talk.ask("a topic twice", request("described-a", "described-a"), 0)
    for limit in (1, 2, 4, 0, -1):
        talk.ask(f"a limit of {limit}", request("described-b", "described-a", response_partition_limit=limit), 0)
    for name, index in (
        ("described-a", 1),
        ("described-b", 2),
        ("described-b", 9),
        ("described-c", 0),
        ("described-a", -1),
    ):
        cursor = Cursor(topic_name=name, partition_index=index)
        talk.ask(f"a cursor at {name}-{index}", request("described-b", "described-a", cursor=cursor), 0)


def _partitions(talk: Talk) -> None:
    talk.topic("grown", 2)

    def request(name: str, count: int, *replicas: list[int], validate: bool = False) -> CreatePartitionsRequest:
        assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in replicas] or None
        wanted = [CreatePartitionsTopic(name=name, count=count, assignments=assignments)]
        return CreatePartitionsRequest(topics=wanted, timeout_ms=5_000, validate_only=validate)

    for version in range(4):
        talk.ask("more", request("grown", 3 + version), version)
        talk.ask("only validated", request("grown", 50, validate=True), version)
    talk.ask("as many", request("grown", 6), 3)
    talk.ask("fewer", request("grown", 2), 3)
    talk.ask("none", request("grown", 0), 3)
    talk.ask("a negative count", request("grown", -1), 3)
    talk.ask("an unknown topic", request("grown-none", 5), 3)
    talk.ask("a bad name", request("a/b", 5), 3)
    talk.ask("assigned", request("grown", 8, [1], [1]), 3)
    talk.ask("assigned to an unknown broker", request("grown", 9, [7]), 3)
    talk.ask("assigned too little", request("grown", 20, [1]), 3)
    talk.ask("assigned to nobody", request("grown", 9, []), 3)
    talk.ask("assigned twice", request("grown", 9, [1, 1]), 3)
    talk.ask("assigned far too little", request("grown", 2**31 - 1, [1], [1]), 3)
    twice = request("grown", 12)
    twice.topics = twice.topics * 2
    talk.ask("a topic twice", twice, 3)


def _delete(talk: Talk) -> None:
    for version in range(1, 6):
        talk.topic(f"deleted-v{version}")
        talk.ask("a topic", DeleteTopicsRequest(topic_names=[f"deleted-v{version}"], timeout_ms=5_000), version)
        talk.ask("an unknown topic", DeleteTopicsRequest(topic_names=["deleted-none"], timeout_ms=5_000), version)
    made = talk.topic("deleted-by-id")
    talk.topic("deleted-by-name")
    talk.ask("by id", DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=made.id)], timeout_ms=5_000), 6)
    talk.ask("by name", DeleteTopicsRequest(topics=[DeleteTopicState(name="deleted-by-name")], timeout_ms=5_000), 6)
    talk.ask("by an unknown id", DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=UNKNOWN)], timeout_ms=5_000), 6)
    talk.ask("by nothing", DeleteTopicsRequest(topics=[DeleteTopicState()], timeout_ms=5_000), 6)
    both = DeleteTopicState(name="metadata", topic_id=talk.id_of("metadata"))
    talk.ask("by id and name", DeleteTopicsRequest(topics=[both], timeout_ms=5_000), 6)
    talk.ask("a name twice", DeleteTopicsRequest(topic_names=["metadata", "metadata"], timeout_ms=5_000), 5)
    talk.ask("a time-out of 0", DeleteTopicsRequest(topic_names=["metadata-by-id"], timeout_ms=0), 5)
    talk.ask("a bad name", DeleteTopicsRequest(topic_names=["a/b"], timeout_ms=5_000), 5)
