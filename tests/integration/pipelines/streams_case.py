"""Many recorded topologies as one application: each with topics and stores of its own, fed and read together."""

import time
from collections.abc import Iterable
from typing import Any, Final

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.streams import Serdes, Topology
from ottla.streams.engine.topology import SourceNode
from tests.unit.streams.scenario import STRING, Interpreter

_NAMED: Final = ("topic", "store", "stores", "named")
_PATIENCE_S: Final = 240
Case = dict[str, Any]
Outputs = dict[str, list[Any]]


class CombinedCases:
    """The cases with a number in front of all their names, but for those of topics that functions choose."""

    def __init__(self, cases: Iterable[Case], name: str) -> None:
        self.cases: Final = {f"{name}{number}": case for number, case in enumerate(cases)}

    def topology(self) -> Topology:
        interpreter = Interpreter()
        for prefix, case in self.cases.items():
            interpreter.made = {}
            for step in case["build"]:
                step = {**step, **{name: f"{prefix}-{step[name]}" for name in _NAMED if name in step}}
                result = getattr(interpreter, "do_" + step["op"])(step)
                if "id" in step and result is not None:
                    interpreter.made[step["id"]] = result
        return interpreter.builder.build()

    def topics(self) -> set[str]:
        """All topics of users that are read or written."""
        found = set()
        for prefix, case in self.cases.items():
            found |= {f"{prefix}-{step['topic']}" for step in case["build"] if "topic" in step}
            found |= {self.output_topic(prefix, topic) for topic in case["outputs"]}
        return found

    def output_topic(self, prefix: str, topic: str) -> str:
        is_chosen = any(step["op"] == "to_dynamic" for step in self.cases[prefix]["build"])
        return topic if is_chosen else f"{prefix}-{topic}"

    def rounds(self) -> list[list[tuple[str, list[Any]]]]:
        """Records that may be fed together: of a case that reads one topic all, of another one record at a time.

        The driver looks at a record when those before it are done; an application takes what is there by time.
        """
        queues = {prefix: list(case["input"]) for prefix, case in self.cases.items()}
        alone = {prefix for prefix, case in self.cases.items() if merges(case)}
        found = []
        while any(queues.values()):
            fed: list[tuple[str, list[Any]]] = []
            for prefix, queue in queues.items():
                count = 1 if prefix in alone else len(queue)
                fed += [(f"{prefix}-{topic}", record) for topic, *record in queue[:count]]
                del queue[:count]
            found.append(fed)
        return found


def merges(case: Case) -> bool:
    """Whether a sub-topology of the case reads several topics."""
    interpreter = Interpreter()
    topology = interpreter.build(case["build"])
    for group in topology.sub_topologies():
        nodes = [topology.nodes[name] for name in group.nodes]
        if sum(len(node.topics) for node in nodes if isinstance(node, SourceNode)) > 1:
            return True
    return bool(topology.global_sources)


def make_topics(admin: Admin, names: Iterable[str]) -> None:
    """Returns when brokers know them: on Apache Kafka that is a moment after they were made."""
    configs = {"retention.ms": "-1"}
    wanted = sorted(names)
    admin.create_topics([NewTopic(name, partitions=1, replication_factor=1, configs=configs) for name in wanted])
    deadline = time.monotonic() + _PATIENCE_S
    while not set(wanted) <= set(admin.list_topics()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def feed(bootstrap: str, records: list[tuple[str, list[Any]]]) -> None:
    with Producer(bootstrap_servers=bootstrap) as producer:
        for topic, (key, value, timestamp) in records:
            encoded = [None if one is None else one.encode() for one in (key, value)]
            producer.send(topic, key=encoded[0], value=encoded[1], timestamp_ms=timestamp)
        producer.flush()


def wait_until_done(admin: Admin, application_id: str, inputs: Iterable[str], failure: Any) -> None:
    """Until the group has read all that is in its topics: the lag is 0, and what was written is committed."""
    places = {TopicPartition(topic, 0): OffsetSpec.LATEST for topic in inputs}
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        ends = admin.list_offsets(places, isolation_level=IsolationLevel.READ_COMMITTED)
        lasts = admin.list_offsets(places)
        committed = admin.list_consumer_group_offsets({application_id: None})[application_id]
        offsets = {place: found.offset for place, found in committed.items() if found is not None}
        lag = {place: end.offset - offsets.get(place, 0) for place, end in ends.items()}
        if not any(lag.values()) and all(lasts[place].offset == ends[place].offset for place in places):
            return
        assert failure() is None, failure()
        assert time.monotonic() < deadline, {place: left for place, left in lag.items() if left}
        time.sleep(0.1)


def read(bootstrap: str, combined: CombinedCases) -> dict[str, Outputs]:
    """What each case has written, as the recordings have it."""
    kinds: dict[str, Any] = {"long": Serdes.long(), "string": STRING}
    topics = {
        combined.output_topic(prefix, topic): (prefix, topic, kinds[kind])
        for prefix, case in combined.cases.items()
        for topic, kind in case["outputs"].items()
    }
    found: dict[str, Outputs] = {prefix: {topic: [] for topic in case["outputs"]} for prefix, case in
                                 combined.cases.items()}  # fmt: skip
    with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(topic, 0) for topic in topics]
        consumer.assign(places)
        consumer.seek_to_beginning(places)
        ends = consumer.end_offsets(places)
        deadline = time.monotonic() + _PATIENCE_S
        while any(consumer.position(place) < ends[place] for place in places):
            assert time.monotonic() < deadline
            for record in consumer.poll(0.5):
                prefix, topic, serde = topics[record.topic]
                key = None if record.key is None else record.key.decode()
                value = None if record.value is None else serde.deserialize(topic, (), record.value)
                found[prefix][topic].append([key, value, record.timestamp])
    return found
