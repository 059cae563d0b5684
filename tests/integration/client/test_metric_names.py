"""Metrics have the names that Java's clients give them; what Java's print on the same broker is the measure."""

import re

import pytest

from ottla.client import Consumer, Producer
from tests.clients.topic import create
from tests.kafka.peer import java, require_kafka
from tests.kafka.server import Server

pytestmark = pytest.mark.long

_RECORDS = 200
_JAVA_ONLY = re.compile(
    r"io-(wait-)?(ratio|time-ns-(avg|total))|select-(rate|total)|.*reauth.*|bufferpool-wait-ratio|"
    r"txn-prepare-time-ns-total|commit(ted|-sync)-time-ns-total|poll-idle-ratio-avg|partition-\w+-latency-(avg|max)"
)
"""What only Java's selector and listeners know, and what docs/CLIENTS.md says is missing."""


def names_printed(output: str) -> set[tuple[str, str]]:
    """Groups and names in what `--print-metrics` printed."""
    found = set(re.findall(r"^([a-z-]+):([\w.-]+):\{", output, re.MULTILINE))
    return {(group, name) for group, name in found if group != "app-info" and not _JAVA_ONLY.fullmatch(name)}


def test_names_of_producers_and_consumers(server: Server, topic: str) -> None:
    require_kafka()
    create(server, topic)
    printing = (
        "--bootstrap-server",
        server.bootstrap,
        "--topic",
        topic,
        "--num-records",
        str(_RECORDS),
        "--print-metrics",
    )
    sizes = ("--record-size", "100", "--throughput", "-1")
    javas = names_printed(java("org.apache.kafka.tools.ProducerPerformance", *printing, *sizes))
    with Producer(bootstrap_servers=server.bootstrap) as producer:
        producer.send(topic, b"v", partition=0).result(30)
        ours = {(name.group, name.name) for name in producer.metrics()}
    assert len(javas) > 50
    assert javas - ours == set()

    javas = names_printed(java("org.apache.kafka.tools.ConsumerPerformance", *printing))
    settings = {"bootstrap.servers": server.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    with Consumer(settings) as consumer:
        consumer.subscribe([topic])
        while not consumer.poll(1):
            pass
        consumer.commit()
        ours = {(name.group, name.name) for name in consumer.metrics()}
    assert len(javas) > 50
    assert javas - ours == set()
