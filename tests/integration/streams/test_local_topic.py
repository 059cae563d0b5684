"""Internal topics that are gone, and topologies that do not fit what is there: one process says so, and what to do."""

from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.streams import Materialized
from ottla.streams.host.internal_topic import MissingInternalTopicError
from ottla.streams.host.layout import IncompatibleTopologyError
from ottla.streams.local.kafka_streams import KafkaStreams
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import PATIENCE_S, counting, counts, expected, local, produce, wait_until
from tests.kafka.server import Server

VALUES = [f"v{number % 5}" for number in range(20)]


class Application:
    """An application that counts, and has run once."""

    def __init__(self, name: str, broker: Server, topic: CreateTopic, directory: Path) -> None:
        self.name, self._broker, self._directory = name, broker, directory
        self.source, self.target = topic(), topic()
        self.feed()
        with self.started() as streams:
            wait_until(lambda: counts(broker.bootstrap, self.target, 1) == expected(VALUES), streams)

    def feed(self) -> None:
        produce(self._broker.bootstrap, self.source, VALUES)

    def started(self, store: str = "counts") -> KafkaStreams:
        topology = counting(self.source, self.target, Materialized.as_(store))
        config = {"application_id": self.name, "processing_guarantee": "exactly_once_v2"}
        return local(topology, self._broker.bootstrap, state_dir=str(self._directory), **config)


def test_a_changelog_that_was_deleted_is_named(
    broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    application = Application("robbed", broker, topic, tmp_path)
    admin.delete_topics(["robbed-counts-changelog"])
    with application.started() as streams, pytest.raises(MissingInternalTopicError) as said:
        streams.wait(PATIENCE_S)
    assert "robbed-counts-changelog is gone, and robbed has run before" in str(said.value)
    assert "ottla streams reset robbed" in str(said.value)


@pytest.mark.parametrize("is_made_anew", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_changelog_that_is_deleted_while_it_runs_is_named(
    is_made_anew: bool, broker: Server, admin: Admin, topic: CreateTopic, tmp_path: Path
) -> None:
    """As a broker does it by itself when a producer asks for a topic that somebody has deleted."""
    name = f"robbed-at-work-{is_made_anew}".lower()
    application = Application(name, broker, topic, tmp_path)
    with application.started() as streams:
        wait_until(lambda: streams.metrics().get("active-tasks") == 2, streams)
        admin.delete_topics([f"{name}-counts-changelog"])
        if is_made_anew:
            topic(name=f"{name}-counts-changelog")
        application.feed()
        with pytest.raises(MissingInternalTopicError, match=f"{name}-counts-changelog is gone"):
            streams.wait(PATIENCE_S)


def test_another_topology_on_old_state_is_refused(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    application = Application("changed", broker, topic, tmp_path)
    with application.started("totals") as streams, pytest.raises(IncompatibleTopologyError) as said:
        streams.wait(PATIENCE_S)
    assert "has lost the store counts; " in str(said.value)
    assert "Start it as it was" in str(said.value)
    application.feed()
    with application.started() as again:
        wait_until(lambda: counts(broker.bootstrap, application.target, 1) == expected(VALUES * 2), again)
