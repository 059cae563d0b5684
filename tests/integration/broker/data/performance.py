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
from tests.integration.broker.data import fetch_script, frame_script, produce_script
from tests.integration.broker.data.produce_script import Ids, Scene
from tests.integration.broker.data.wire import Wire

ANSWERS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1-answers" / "data.json"
TOPICS: Mapping[str, Mapping[str, str]] = {
    **{name: {} for name in ("versions", "acks", "bad", "codecs", "twice", "idempotent", "txn", "rules", "read")},
    **{name: {} for name in ("empty", "session", "deleted", "described")},
    "compacted": {"cleanup.policy": "compact"},
    "compacted-deleted": {"cleanup.policy": "compact,delete"},
    "small": {"max.message.bytes": "300"},
    "old": {"message.timestamp.before.max.ms": "3600000"},
    "append-time": {"message.timestamp.type": "LogAppendTime"},
}
SCENES: Mapping[str, Callable[[Wire, Ids], Scene]] = {
    f"{script.__name__.rpartition('.')[2].removesuffix('_script')}: {scene.__name__}": scene
    for script in (produce_script, fetch_script, frame_script)
    for scene in script.SCENES
}


def create_topics(wire: Wire) -> Ids:
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
    return {topic.name: Uuid(topic.topic_id) for topic in response.topics}


def play(name: str, wire: Wire, ids: Ids) -> dict[str, str]:
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
            time.sleep(2)
            ids = create_topics(wire)
            time.sleep(2)
            answers = {name: play(name, wire, ids) for name in SCENES}
        finally:
            server.stop()
    ANSWERS.parent.mkdir(parents=True, exist_ok=True)
    ANSWERS.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    record()
