"""The JSON of reassignments: read, checked and written as Kafka does it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.argument.partition_file import entries, field, parse_json, shown_json
from ottla.client.admin.value.replica import TopicPartitionReplica
from ottla.client.record import TopicPartition

ANY_LOG_DIR: Final = "any"


class TerseError(ToolError):
    """A refusal that is printed without `Error:` in front."""


class Plan(NamedTuple):
    """Where partitions shall go: their brokers, in the order of the file, and their directories where it names any."""

    parts: tuple[tuple[TopicPartition, tuple[int, ...]], ...]
    log_dirs: Mapping[TopicPartitionReplica, str]

    @property
    def partitions(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The brokers by partition."""
        return dict(self.parts)


def _versioned(text: str) -> Mapping[str, object]:
    value = parse_json(text)
    if not text.strip():
        raise ToolError("The input string shouldn't be empty")
    if value is None:
        raise ToolError("The input string is not a valid JSON")
    if not isinstance(value, Mapping):
        raise ToolError("Expected JSON object, received " + shown_json(value))
    if value.get("version", 1) != 1:
        raise ToolError(f"Not supported version field value {value['version']}")
    return value


def parse_topics(text: str) -> list[str]:
    """The topics of a file for `--generate`."""
    found = _versioned(text)
    return [field(entry, "topic", str) for entry in entries(found.get("topics", []))]


def parse_plan(text: str) -> Plan:
    """The assignment in a file, not checked for sense yet."""
    found = _versioned(text)
    parts: list[tuple[TopicPartition, tuple[int, ...]]] = []
    log_dirs: dict[TopicPartitionReplica, str] = {}
    for entry in entries(found.get("partitions", [])):
        partition = TopicPartition(field(entry, "topic", str), field(entry, "partition", int))
        replicas = [_number(replica) for replica in field(entry, "replicas", list)]
        assert isinstance(entry, Mapping)
        paths = [str(path) for path in entry.get("log_dirs", [ANY_LOG_DIR] * len(replicas))]
        if len(paths) != len(replicas):
            raise ToolError(
                f"Size of replicas list {replicas} is different from size of log dirs list [{', '.join(paths)}] "
                f"for partition {partition}"
            )
        parts.append((partition, tuple(replicas)))
        for replica, path in zip(replicas, paths, strict=True):
            if path != ANY_LOG_DIR:
                log_dirs[TopicPartitionReplica(*partition, replica)] = path
    return Plan(tuple(parts), log_dirs)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f"Expected `Integer` value, received {json.dumps(value)}")
    return value


def check_plan(plan: Plan) -> None:
    """Refuses an assignment that can't be executed."""
    if not plan.parts:
        raise ToolError("Partition reassignment list cannot be empty")
    if not all(replicas for _, replicas in plan.parts):
        raise ToolError("Partition replica list cannot be empty")
    twice = duplicates(partition for partition, _ in plan.parts)
    if twice:
        raise ToolError(f"Partition reassignment contains duplicate topic partitions: {','.join(map(str, twice))}")
    crowded = [(partition, duplicates(replicas)) for partition, replicas in plan.parts]
    listed = ". ".join(
        f"{partition} contains multiple entries for {','.join(map(str, brokers))}"
        for partition, brokers in crowded
        if brokers
    )
    if listed:
        raise ToolError(f"Partition replica lists may not contain duplicate entries: {listed}")


def duplicates(items: Iterable[object]) -> list[object]:
    """What occurs more than once, each once.

    >>> duplicates([1, 2, 1, 3, 1])
    [1]
    """
    seen: set[object] = set()
    twice: dict[object, None] = {}
    for item in items:
        if item in seen:
            twice[item] = None
        seen.add(item)
    return list(twice)


def render_plan(
    partitions: Mapping[TopicPartition, Sequence[int]], log_dirs: Mapping[TopicPartitionReplica, str]
) -> str:
    """The JSON of an assignment, which a file for `--execute` may hold."""
    return json.dumps(
        {
            "version": 1,
            "partitions": [
                {
                    "topic": partition.topic,
                    "partition": partition.partition,
                    "replicas": list(replicas),
                    "log_dirs": [
                        log_dirs.get(TopicPartitionReplica(*partition, replica), ANY_LOG_DIR) for replica in replicas
                    ],
                }
                for partition, replicas in sorted(partitions.items())
            ],
        },
        separators=(",", ":"),
    )
