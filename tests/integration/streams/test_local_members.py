"""Several instances in one group: static members, and queries over HTTP while instances come and go."""

import threading
import time
import urllib.error
from pathlib import Path

import pytest

from ottla.streams import RunState
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counting, counts, expected, local, produce, wait_until
from tests.integration.streams.test_local_http import VALUES as KEYS
from tests.integration.streams.test_local_http import Instance
from tests.kafka.server import Server

VALUES = [f"v{number % 5}" for number in range(40)]


def test_a_static_member_comes_back_without_a_rebalance(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    topology = counting(source, target)
    states: list[RunState] = []

    def instance(name: str) -> object:
        config = {"application_id": "static", "processing_guarantee": "exactly_once_v2", "session_timeout_ms": "30000"}
        directory = str(tmp_path / name)
        return local(topology, broker.bootstrap, state_dir=directory, consumer_group_instance_id=name, **config)

    first, second = instance("a"), instance("b")
    second.set_state_listener(lambda new, old: states.append(new))
    with second:
        with first:
            wait_until(lambda: [one.metrics().get("active-tasks") for one in (first, second)] == [2, 2], first, second)
            produce(broker.bootstrap, source, VALUES)
            wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES), first, second)
        states.clear()
        produce(broker.bootstrap, source, VALUES)
        with instance("a") as again:
            wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES * 2), again, second)
            assert again.metrics()["active-tasks"] == second.metrics()["active-tasks"] == 2
            assert again.metrics()["restore-total"] == 0
        assert not states


@pytest.mark.long
def test_queries_are_answered_while_instances_come_and_go(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    """Never with a wrong value: what cannot be known for a moment is refused, and asked again."""
    source = topic(partitions=2)
    produce(broker.bootstrap, source, KEYS)
    stays = Instance(source, broker, tmp_path / "stays")
    wrong: list[object] = []
    answers, done = [0], threading.Event()

    def ask() -> None:
        number = 0
        while not done.is_set():
            number += 1
            try:
                value = stays.get(f"/streams/stores/counts/keys/v%2F{number % 10}?stale=true")["value"]
            except urllib.error.HTTPError as refusal:
                with refusal:
                    if refusal.code != 503:
                        wrong.append(refusal.read())
                time.sleep(0.02)
            else:
                answers[0] += 1
                if value != 5:
                    wrong.append(value)

    with stays.streams:
        wait_until(lambda: stays.streams.metrics().get("active-tasks") == 6, stays.streams)
        wait_until(lambda: sum(one["value"] for one in stays.get("/streams/stores/counts")) == 50, stays.streams)
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for turn in range(2):
                comes = Instance(source, broker, tmp_path / f"comes{turn}")
                with comes.streams:
                    wait_until(lambda: comes.streams.metrics().get("active-tasks") == 3, comes.streams)  # noqa: B023
                    before = answers[0]
                    wait_until(lambda: answers[0] > before + 20, stays.streams)  # noqa: B023  (called at once)
            before = answers[0]
            wait_until(lambda: answers[0] > before + 20, stays.streams)
        finally:
            done.set()
            asking.join()
    assert not wrong
