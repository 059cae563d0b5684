"""Plays the scenes to a broker and writes down what was heard.

Run as a program it plays them to Apache Kafka and keeps what that said as the answers to compare with:
`python -m tests.integration.broker.data.performance`.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ottla.base.ids import Uuid
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.integration.broker.data import fetch_script, frame_script, produce_script
from tests.integration.broker.data.produce_script import Ids, Scene
from tests.integration.broker.data.wire import Talk, Wire

ANSWERS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1-answers" / "data.json"
READY_SECONDS = 30
TOPICS: Mapping[str, Mapping[str, str]] = {
    **{name: {} for name in ("versions", "acks", "bad", "codecs", "twice", "idempotent", "txn", "rules", "read")},
    **{name: {} for name in ("empty", "session", "deleted", "described")},
    "compacted": {"cleanup.policy": "compact"},
    "compacted-deleted": {"cleanup.policy": "compact,delete"},
    "small": {"max.message.bytes": "300"},
    "old": {"message.timestamp.before.max.ms": "3600000"},
    "append-time": {"message.timestamp.type": "LogAppendTime"},
}
SCENES: Mapping[str, Callable[[Talk, Ids], Scene]] = {
    f"{script.__name__.rpartition('.')[2].removesuffix('_script')}: {scene.__name__}": scene
    for script in (produce_script, fetch_script, frame_script)
    for scene in script.SCENES
}


def create_topics(wire: Talk) -> Ids:
    """Makes the topics that the scenes are played on."""
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=1,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        for name, configs in TOPICS.items()
    ]
    response = wire.expect(CreateTopicsRequest(topics=wanted, timeout_ms=30_000), 7, CreateTopicsResponse)
    assert not any(topic.error_code for topic in response.topics), response
    deadline = time.monotonic() + READY_SECONDS
    while not are_led(wire):
        assert time.monotonic() < deadline, "the topics have no leader"
        time.sleep(0.05)
    return {topic.name: Uuid(topic.topic_id) for topic in response.topics}


def are_led(wire: Talk) -> bool:
    """Whether every topic has its leader: a broker answers before it is one."""
    asked = [ListOffsetsTopic(name=name, partitions=[ListOffsetsPartition(timestamp=-1)]) for name in TOPICS]
    response = wire.expect(ListOffsetsRequest(replica_id=-1, topics=asked), 7, ListOffsetsResponse)
    return not any(partition.error_code for topic in response.topics for partition in topic.partitions)


def play(name: str, wire: Talk, ids: Ids) -> dict[str, str]:
    """What is heard in one scene."""
    heard = dict(SCENES[name](wire, ids))
    wire.close()
    return heard


def record() -> None:
    """Writes down what Apache Kafka says."""
    from tests.kafka.peer import KafkaServer

    with tempfile.TemporaryDirectory() as directory:
        server = KafkaServer(Path(directory))
        server.format("QUFBQUFBQUFBQUFBQUFBQQ")
        server.start()
        try:
            host, _, port = server.bootstrap.rpartition(":")
            wire = Wire(host, int(port))
            # A node that listens is not unfenced yet, and could place no replica.
            time.sleep(2)
            ids = create_topics(wire)
            answers = {name: play(name, wire, ids) for name in SCENES}
        finally:
            server.stop()
    ANSWERS.parent.mkdir(parents=True, exist_ok=True)
    ANSWERS.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    record()
