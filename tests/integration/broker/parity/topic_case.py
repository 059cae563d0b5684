"""Topics: created, described by name and id, enlarged, deleted; and everything that is refused."""

from typing import Any

from ottla.base.ids import ZERO_UUID, Uuid
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
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.integration.broker.parity.step import read, write

NO_SUCH_ID = Uuid.parse("zzzzzzzzzzzzzzzzzzzzzw")


def _topic(name: str, partitions: int = 1, factor: int = 1, **configs: str | None) -> CreatableTopic:
    entries = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, configs=entries)


def _create(*topics: CreatableTopic, timeout_ms: int = 30_000, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only)


def _named(*names: str | None, auto: bool = False) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=auto)


def _assigned(name: str, *assignments: list[int]) -> CreatableTopic:
    parts = [CreatableReplicaAssignment(partition_index=i, broker_ids=ids) for i, ids in enumerate(assignments)]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=parts)


CREATION = [
    write("create", lambda v, _: _create(_topic(f"made-{v}", 2)), range(2, 8)),
    write("create with configs", lambda v, _: _create(_topic(f"compact-{v}", cleanup_policy="compact")), (4, 7)),
    write("create with defaults", lambda v, _: _create(_topic(f"defaults-{v}", -1, -1)), (4, 7)),
    write("create assigned", _create(_assigned("assigned", [1], [1], [1])), (7,)),
    write("create several, some wrong", _create(_topic("good"), _topic("bad name"), _topic("good2", 0)), (5, 7)),
    write("create again", _create(_topic("made-7")), (2, 7)),
    write("validate only", _create(_topic("validated", 3), validate_only=True), (4, 7)),
    write("validate only what exists", _create(_topic("made-7"), validate_only=True), (7,)),
    write("create one name twice", _create(_topic("twice"), _topic("twice", 2), _topic("beside")), (7,)),
    write("create nothing", _create(), (2, 7)),
    write("create without time", _create(_topic("late"), timeout_ms=0), (7,)),
    write("create with a negative time-out", _create(_topic("later"), timeout_ms=-1), (7,)),
    write("create too many replicas", _create(_topic("replicas", 1, 2)), (2, 7)),
    write("create with zero replicas", _create(_topic("noreplicas", 1, 0)), (7,)),
    write("create with minus two replicas", _create(_topic("lessreplicas", 1, -2)), (7,)),
    write("create with zero partitions", _create(_topic("none", 0)), (7,)),
    write("create with minus two partitions", _create(_topic("less", -2)), (7,)),
    write("create 10,001 partitions", _create(_topic("many", 10_001)), (7,)),
    write("create with names that none may have", _create(*map(_topic, ("", ".", "..", "a b", "ä", "x" * 250))), (7,)),
    write("create names that collide", _create(_topic("made_7"), _topic("made.7"), _topic("col.lide")), (7,)),
    write("create a name that collides", _create(_topic("col_lide")), (7,)),
    write("create the metadata topic", _create(_topic("__cluster_metadata")), (7,)),
    write("create with an unknown config", _create(_topic("unknownconfig", nonsense="1")), (7,)),
    write("create with a bad config", _create(_topic("badconfig", retention_ms="soon")), (7,)),
    write("create with a null config", _create(_topic("nullconfig", retention_ms=None)), (7,)),
    write("create with small segments", _create(_topic("segments", segment_bytes="1000")), (7,)),
    write("create without a policy", _create(_topic("nopolicy", cleanup_policy="")), (7,)),
    write(
        "create with a config twice",
        lambda v, _: _create(
            CreatableTopic(
                name="configtwice",
                num_partitions=1,
                replication_factor=1,
                configs=[
                    CreatableTopicConfig(name="retention.ms", value="1"),
                    CreatableTopicConfig(name="retention.ms", value="2"),
                ],
            )
        ),
        (7,),
    ),
    write("assign to an unknown broker", _create(_assigned("assigned2", [1], [2])), (7,)),
    write("assign to one broker twice", _create(_assigned("assigned3", [1, 1])), (7,)),
    write("assign to nobody", _create(_assigned("assigned4", [])), (7,)),
    write(
        "assign with gaps",
        _create(
            CreatableTopic(
                name="assigned5",
                num_partitions=-1,
                replication_factor=-1,
                assignments=[CreatableReplicaAssignment(partition_index=1, broker_ids=[1])],
            )
        ),
        (7,),
    ),
    write(
        "assign and count",
        _create(
            CreatableTopic(
                name="assigned6",
                num_partitions=1,
                replication_factor=1,
                assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1])],
            )
        ),
        (7,),
    ),
]

METADATA = [
    read("metadata of all", MetadataRequest(topics=None), range(1, 14)),
    read("metadata of all by an empty list", MetadataRequest(topics=[]), (0,)),
    read("metadata of none", MetadataRequest(topics=[]), range(1, 14)),
    read("metadata by name", _named("made-7"), range(4, 14)),
    read("metadata by two names and one twice", _named("made-7", "assigned", "made-7"), (4, 9, 13)),
    read("metadata of an unknown name", _named("nowhere"), range(4, 14)),
    read("metadata of names that none may have", _named("", "a b", ".", "x" * 250), (4, 13)),
    read("metadata of internal names", _named("__consumer_offsets", "__transaction_state"), (4, 13)),
    read("metadata of the metadata topic", _named("__cluster_metadata", "__share_group_state"), (13,)),
    read("metadata with a null name", _named(None), (10, 11, 12, 13)),
    read(
        "metadata by id",
        lambda v, served: MetadataRequest(topics=[MetadataRequestTopic(topic_id=served.topic_id("made-7"), name=None)]),
        (10, 11, 12, 13),
    ),
    read(
        "metadata by unknown id",
        MetadataRequest(topics=[MetadataRequestTopic(topic_id=NO_SUCH_ID, name=None)]),
        (11, 12, 13),
    ),
    read(
        "metadata by name and id",
        lambda v, served: MetadataRequest(
            topics=[
                MetadataRequestTopic(topic_id=served.topic_id("made-7"), name="assigned"),
                MetadataRequestTopic(topic_id=ZERO_UUID, name="good"),
            ]
        ),
        (12, 13),
    ),
    read(
        "metadata with operations",
        MetadataRequest(
            topics=[MetadataRequestTopic(name="made-7"), MetadataRequestTopic(name="nowhere")],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
            include_cluster_authorized_operations=True,
        ),
        (8, 9, 10),
    ),
    read(
        "metadata with topic operations",
        MetadataRequest(
            topics=[MetadataRequestTopic(name="made-7"), MetadataRequestTopic(name="nowhere")],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=True,
        ),
        (11, 12, 13),
    ),
    read(
        "metadata by id with topic operations",
        lambda v, served: MetadataRequest(
            topics=[
                MetadataRequestTopic(topic_id=served.topic_id("made-7"), name=None),
                MetadataRequestTopic(topic_id=NO_SUCH_ID, name=None),
            ],
            include_topic_authorized_operations=True,
        ),
        (12, 13),
    ),
]


def _is_there(answer: Any) -> bool:
    return all(topic["error_code"] == 0 for topic in answer["topics"])


AUTO_CREATION = [
    write("auto-create", lambda v, _: _named(f"auto-{v}", auto=True), (0, 1, 3)),
    write("auto-create when asked", lambda v, _: _named(f"auto-{v}", "made-7", auto=True), (4, 8, 13)),
    write("auto-create what none may be called", _named("a b", "auto-9", auto=True), (13,)),
    write("auto-create an internal topic", _named("__consumer_offsets", auto=True), (13,)),
    write("auto-create an internal topic too", _named("__transaction_state", auto=True), (13,)),
    write("auto-create a third internal topic", _named("__share_group_state", auto=True), (13,)),
    # Each is asked for until it is there: topics come about one after the other.
    read(
        "auto-created",
        _named("auto-0", "auto-1", "auto-3", "auto-4", "auto-8", "auto-13", "auto-9"),
        (13,),
        until=_is_there,
    ),
    read(
        "auto-created internals",
        _named("__consumer_offsets", "__transaction_state", "__share_group_state"),
        (13,),
        until=_is_there,
    ),
    *(
        read(
            f"configs of {name}",
            DescribeConfigsRequest(
                resources=[DescribeConfigsResource(resource_type=2, resource_name=name, configuration_keys=None)]
            ),
            (4,),
        )
        for name in ("auto-13", "__consumer_offsets", "__transaction_state", "__share_group_state")
    ),
]

DESCRIPTION = [
    read("describe all", DescribeTopicPartitionsRequest(topics=[])),
    read(
        "describe some", DescribeTopicPartitionsRequest(topics=[TopicRequest(name=n) for n in ("made-7", "assigned")])
    ),
    read(
        "describe unknown ones",
        DescribeTopicPartitionsRequest(topics=[TopicRequest(name=n) for n in ("nowhere", "a b", "made-7")]),
    ),
    read(
        "describe a nameless one",
        DescribeTopicPartitionsRequest(topics=[TopicRequest(name=n) for n in ("", "made-7")]),
        deviation="an empty name is an invalid one and fails no other topic",
    ),
    read("describe one name twice", DescribeTopicPartitionsRequest(topics=[TopicRequest(name="good")] * 2)),
    *(
        read(
            f"describe at most {limit}",
            DescribeTopicPartitionsRequest(
                topics=[TopicRequest(name=n) for n in ("assigned", "good", "made-7", "nowhere")],
                response_partition_limit=limit,
            ),
        )
        for limit in (-1, 0, 1, 2, 3, 4, 5, 6)
    ),
    *(
        read(
            f"describe from {topic}-{index}",
            DescribeTopicPartitionsRequest(
                topics=[TopicRequest(name=n) for n in ("made-7", "assigned", "good")],
                cursor=Cursor(topic_name=topic, partition_index=index),
            ),
        )
        for topic, index in (("assigned", 0), ("assigned", 2), ("assigned", 9), ("good", -1), ("made-7", 1), ("zzz", 0))
    ),
    read(
        "describe all from a topic that is not there",
        DescribeTopicPartitionsRequest(topics=[], cursor=Cursor(topic_name="madd", partition_index=3)),
    ),
    read(
        "describe from a topic that is asked for and is not there",
        DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name="nowhere")], cursor=Cursor(topic_name="nowhere", partition_index=1)
        ),
    ),
]


def _more(name: str, count: int, *assignments: list[int]) -> CreatePartitionsTopic:
    given = [CreatePartitionsAssignment(broker_ids=ids) for ids in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=given or None)


def _grow(
    *topics: CreatePartitionsTopic, validate_only: bool = False, timeout_ms: int = 30_000
) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only)


GROWTH = [
    write("grow", lambda v, _: _grow(_more(f"made-{v + 2}", 3)), range(4)),
    write("grow assigned", _grow(_more("made-6", 4, [1], [1])), (3,)),
    write("grow on trial", _grow(_more("made-7", 9), validate_only=True), (0, 3)),
    write("grow to what it is", _grow(_more("made-7", 2)), (0, 3)),
    write("shrink", _grow(_more("made-7", 1)), (3,)),
    write("grow to nothing", _grow(_more("made-7", 0), _more("good", -1)), (3,)),
    write("grow what is not there", _grow(_more("nowhere", 2), _more("made-7", 3), _more("a b", 1)), (3,)),
    write("grow one name twice", _grow(_more("good", 2), _more("good", 3), _more("good2", 3)), (3,)),
    write("grow nothing", _grow(), (0, 3)),
    write("grow without time", _grow(_more("made-7", 5), timeout_ms=0), (3,)),
    write("grow onto an unknown broker", _grow(_more("made-7", 4, [7])), (3,)),
    write("grow with too few assignments", _grow(_more("made-7", 6, [1])), (3,)),
    write("grow with too many replicas", _grow(_more("made-7", 4, [1, 2])), (3,)),
    read("metadata after growth", MetadataRequest(topics=None), (13,)),
]


def _delete(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=list(names), timeout_ms=30_000)


def _delete_states(*states: DeleteTopicState) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=list(states), timeout_ms=30_000)


DELETION = [
    write("delete", lambda v, _: _delete(f"made-{v + 1}"), range(1, 6)),
    write("delete by name in states", _delete_states(DeleteTopicState(name="made-7")), (6,)),
    write(
        "delete by id", lambda v, served: _delete_states(DeleteTopicState(topic_id=served.topic_id("defaults-7"))), (6,)
    ),
    write("delete an unknown id", _delete_states(DeleteTopicState(topic_id=NO_SUCH_ID)), (6,)),
    write("delete neither name nor id", _delete_states(DeleteTopicState()), (6,)),
    write("delete name and id", _delete_states(DeleteTopicState(name="good", topic_id=NO_SUCH_ID)), (6,)),
    write("delete an unknown name", _delete("nowhere"), (1, 5)),
    write("delete names that none may have", _delete("", "a b"), (5,)),
    write("delete one name twice", _delete("good", "good", "assigned"), (1, 5)),
    write("delete one name twice in states", _delete_states(*[DeleteTopicState(name="good")] * 2), (6,)),
    write("delete nothing", _delete(), (1, 5)),
    write("delete without time", DeleteTopicsRequest(topic_names=["good"], timeout_ms=0), (5,)),
    read("metadata after deletion", MetadataRequest(topics=None), (13,)),
]

STEPS = [*CREATION, *METADATA, *DESCRIPTION, *AUTO_CREATION, *GROWTH, *DELETION]
