"""The tasks of a process share a transaction: outputs and offsets of all of them are committed together, or none."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.streams import Consumed, Produced, StreamsBuilder, Topology
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import TEXT, local, produce, read, wait_until
from tests.kafka.server import Server

CONFIG = {"processing_guarantee": "exactly_once_v2", "commit_interval_ms": "600000"}


def mapping(source: str, target: str, function: Callable[[str], str]) -> Topology:
    """Without a store: nothing but offsets and outputs."""
    builder = StreamsBuilder()
    mapped = builder.stream(source, Consumed.with_(TEXT, TEXT)).map_values(function)
    mapped.to(target, Produced.with_(TEXT, TEXT))
    return builder.build()


def test_a_rebalance_commits_what_the_tasks_that_stay_have_done(
    broker: Server, topic: CreateTopic, admin: Admin, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    topology = mapping(source, target, str.upper)
    first, second = (
        local(topology, broker.bootstrap, application_id="shared", state_dir=str(tmp_path / name), **CONFIG)
        for name in ("a", "b")
    )
    with first:
        produce(broker.bootstrap, source, [f"v{number}" for number in range(50)])
        wait_until(lambda: first.metrics().get("process-total") == 50, first)
        assert not read(broker.bootstrap, target)
        with second:
            wait_until(lambda: [one.metrics().get("active-tasks") for one in (first, second)] == [1, 1], first, second)
            places = [TopicPartition(source, number) for number in range(2)]

            def committed() -> int:
                found = admin.list_consumer_group_offsets({"shared": places})["shared"].values()
                return sum(0 if offset is None else offset.offset for offset in found)

            wait_until(lambda: len(read(broker.bootstrap, target)) == 50, first, second)
            wait_until(lambda: committed() == 50, first, second)


def test_a_member_that_was_silent_for_too_long_does_not_commit_what_others_do_again(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    values = [f"v{number}" for number in range(10)]
    is_slow, seen = threading.Event(), []

    def slow(value: str) -> str:
        if value == "v5" and not is_slow.is_set():
            is_slow.set()
            time.sleep(4)
        seen.append(value)
        return value

    config = {"application_id": "silent", "session_timeout_ms": "1000", "state_dir": str(tmp_path), **CONFIG}
    with (streams := local(mapping(source, target, slow), broker.bootstrap, **config)):
        produce(broker.bootstrap, source, values)
        wait_until(lambda: seen.count(values[-1]) == 2, streams)
    # The end of a transaction is written behind its answer.
    wait_until(lambda: bool(read(broker.bootstrap, target, 1)))
    assert sorted(value.decode() for _, value in read(broker.bootstrap, target, 1)) == values
