"""What a configuration with Kafka Streams' names means for the host."""

from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.pipelines.streams.setting import StreamsSettings

LEAST = {"application.id": "app", "bootstrap.servers": "localhost:9092"}


def test_the_defaults_are_kafka_streams_own() -> None:
    found = StreamsSettings.of(LEAST)
    assert not found.is_exactly_once
    assert (found.offset_reset, found.replication_factor) == ("earliest", None)
    assert found.state_dir.parts[-2:] == ("kafka-streams", "app")
    assert found.checkpoint == found.state_dir / "checkpoint"


def test_clients_get_what_is_theirs_and_their_own_counts_most() -> None:
    found = StreamsSettings.of(
        {
            **LEAST,
            "linger.ms": 7,
            "fetch.max.bytes": 1_000_000,
            "producer.linger.ms": 9,
            "consumer.fetch.max.bytes": "2000000",
            "security.protocol": "PLAINTEXT",
            "auto.offset.reset": "latest",
            "default.key.serde": object(),
        }
    )
    assert found.writer["linger.ms"] == "9"
    assert found.reader["fetch.max.bytes"] == "2000000"
    assert "auto.offset.reset" not in found.reader
    assert found.offset_reset == "latest"
    assert {settings["security.protocol"] for settings in (found.reader, found.writer, found.admin)} == {"PLAINTEXT"}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"application.id": ""}, "application.id: there has to be one"),
        ({"application.id": "a/b"}, "application.id"),
        ({"bootstrap.servers": ""}, "bootstrap.servers: required"),
        ({"processing.guarantee": "exactly_once"}, "has to be at_least_once or exactly_once_v2"),
        ({"auto.offset.reset": "none"}, "has to be earliest or latest"),
        ({"replication.factor": "many"}, "has to be a whole number"),
        ({"trigger.interval.ms": "-1"}, "has to be 0 at least"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        StreamsSettings.of({**LEAST, **changed})


def test_the_state_is_where_it_is_said_to_be(tmp_path: Path) -> None:
    found = StreamsSettings.of({**LEAST, "state.dir": str(tmp_path), "checkpoint.location": "/elsewhere/c"})
    assert (found.state_dir, found.checkpoint) == (tmp_path / "app", Path("/elsewhere/c"))
