"""Audit lines on their way into a topic: what waits, what is dropped, and what never is."""

import logging
from typing import Any

import pytest

from ottla.base.ids import Uuid
from ottla.broker.security.audit_topic import LINES_MAX, AuditContext, AuditLine, AuditTopic
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.errors import ErrorCode, NetworkError
from ottla.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from ottla.protocol.metadata_log.broker import BrokerEndpoint, RegisterBrokerRecord
from ottla.protocol.metadata_log.topic import PartitionRecord, TopicRecord
from ottla.protocol.records.reader import read_tuples
from ottla.raft.identity import Node
from tests.unit.broker.hand_loop import HandLoop

TOPIC_ID = Uuid(bytes(15) + b"t")


class Rig:
    """A node with the writer, and a broker whose answers the test gives."""

    def __init__(self) -> None:
        self.loop = HandLoop(0)
        self.nodes: list[Node] = []
        self.sent: list[tuple[Any, Any]] = []
        self.topic = AuditTopic("audit", AuditContext(self.loop, self.loop, "INSIDE", self._connect))

    def _connect(self, node: Node) -> Any:
        self.nodes.append(node)
        return self

    def send(self, request: Any, done: Any, *, timeout_ms: int) -> None:
        self.sent.append((request, done))

    def close(self) -> None:
        """The connection ends."""

    def has_topic(self, leader: int = 1) -> None:
        """The topic is there, with one partition."""
        endpoints = [BrokerEndpoint(name=name, host=name.lower(), port=1) for name in ("OUTSIDE", "INSIDE")]
        broker = RegisterBrokerRecord(broker_id=1, broker_epoch=1, end_points=endpoints, fenced=False)
        partition = PartitionRecord(
            partition_id=0, topic_id=TOPIC_ID, replicas=[1], isr=[1], leader=leader, directories=[Uuid(bytes(16))]
        )
        records = [broker, TopicRecord(name="audit", topic_id=TOPIC_ID), partition]
        image, delta = apply_records(EMPTY_IMAGE, records, Provenance(1, 1, 1))
        self.topic.metadata_changed(delta, image)

    def lines(self) -> list[bytes]:
        """Of the newest request."""
        [topic] = self.sent[-1][0].topic_data
        return [bytes(record[3]) for record in read_tuples(topic.partition_data[0].records)]

    def answer(self, code: ErrorCode = ErrorCode.NONE) -> None:
        """The broker's."""
        partition = PartitionProduceResponse(index=0, error_code=code)
        self.sent[-1][1](
            ProduceResponse(responses=[TopicProduceResponse(name="audit", partition_responses=[partition])])
        )


def line(text: str, *, is_change: bool = False) -> AuditLine:
    return AuditLine(1_000, text.encode(), is_change)


def test_lines_leave_together_by_the_brokers_own_listener() -> None:
    rig = Rig()
    rig.has_topic()
    for text in ("a", "b"):
        rig.topic.add(line(text))
    rig.loop.advance(50)
    assert rig.nodes == [Node(1, "inside", 1)]
    assert rig.lines() == [b"a", b"b"]
    rig.topic.add(line("c"))
    rig.answer()
    rig.loop.advance(50)
    assert rig.lines() == [b"c"]
    assert len(rig.sent) == 2


def test_lines_wait_for_the_topic_and_for_a_leader(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.topic.add(line("a"))
    rig.loop.advance(1_000)
    assert "there is no topic audit, create it" in caplog.text
    rig.has_topic(leader=-1)
    rig.loop.advance(1_000)
    assert "no partition of audit has a leader" in caplog.text
    assert not rig.sent
    rig.has_topic()
    rig.loop.advance(1_000)
    assert rig.lines() == [b"a"]


@pytest.mark.parametrize("trouble", [ErrorCode.NOT_LEADER_OR_FOLLOWER, NetworkError("gone")])
def test_what_fails_is_sent_again(trouble: Any) -> None:
    rig = Rig()
    rig.has_topic()
    rig.topic.add(line("a"))
    rig.loop.advance(50)
    if isinstance(trouble, ErrorCode):
        rig.answer(trouble)
    else:
        rig.sent[-1][1](trouble)
    rig.loop.advance(1_000)
    assert len(rig.sent) == 2
    assert rig.lines() == [b"a"]


def test_changes_are_never_lost(caplog: pytest.LogCaptureFixture) -> None:
    """They go into the node's log, whether there is no room or no time; reads and writes are dropped."""
    caplog.set_level(logging.WARNING)
    rig = Rig()
    rig.topic.add(line("a change", is_change=True))
    rig.topic.add(line("a read"))
    for number in range(LINES_MAX):
        rig.topic.add(line(f"read {number}"))
    assert "not in the audit topic: a change" in caplog.messages
    assert sum("are dropped" in message for message in caplog.messages) == 1
    rig.topic.add(line("the last", is_change=True))
    rig.topic.close()
    assert caplog.messages[-1] == "not in the audit topic: the last"
    assert not any("read 1" in message for message in caplog.messages)
    rig.topic.add(line("afterwards", is_change=True))
    assert caplog.messages[-1] == "not in the audit topic: afterwards"
