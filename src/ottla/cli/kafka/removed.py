"""What older releases of Kafka had and 4.3 has not: options, commands and classes, each with what to type instead.

Errors and exit codes stay those of Kafka 4.3; this adds one line to them.
"""

import sys
from collections.abc import Container
from pathlib import Path
from typing import Final

_BROKERS: Final = ("bootstrap-server", "broker-list")
"""The option for a broker's address: one tool kept the older name."""
_INCLUDE: Final = ("include", "topics-include")
_ZOOKEEPER: Final = "Kafka 4 has no ZooKeeper: type --{broker} HOST:PORT, the address of a broker, mostly on port 9092."
_ALWAYS: Final = "It is always so now: leave --{option} out."

_OPTIONS: Final = {
    "zookeeper": _ZOOKEEPER,
    "broker-list": "Type --{broker} HOST:PORT instead.",
    "authorizer": "The brokers keep the ACLs now: type --{broker} HOST:PORT instead.",
    "authorizer-properties": "The brokers keep the ACLs now: type --{broker} HOST:PORT instead.",
    "whitelist": "Type --{include} REGEX instead.",
    "topic-white-list": "Type --{include} REGEX instead.",
    "blacklist": "Type --{include} with an expression that leaves them out instead, such as '^(?!payments$).*'.",
    "new-consumer": _ALWAYS,
    "new-producer": _ALWAYS,
    "old-producer": "There is one producer now: leave --{option} out.",
    "threads": "The consumer has one thread: leave --{option} out.",
    "num-fetch-threads": "The consumer has one thread: leave --{option} out.",
}

_COMMANDS: Final = {
    "kafka-replica-validation": (
        "Kafka's tool is called kafka-replica-verification.sh: type "
        "kafka-replica-verification.sh --broker-list HOST:PORT --topics-include REGEX"
    ),
    "kafka-mirror-maker": (
        "MirrorMaker 1 left Kafka with 4.0. For a topic, type ottla consume TOPIC -b FROM --from beginning --json | "
        "ottla produce TOPIC -b TO --format json; for clusters, use Apache Kafka's connect-mirror-maker.sh"
    ),
    "kafka-preferred-replica-election": (
        "Type kafka-leader-election.sh --bootstrap-server HOST:PORT --election-type preferred --all-topic-partitions"
    ),
    "zookeeper-server-start": (
        "Kafka 4 has no ZooKeeper, there is nothing to start: type ottla broker, or kafka-server-start.sh FILE"
    ),
    "zookeeper-server-stop": "Kafka 4 has no ZooKeeper, there is nothing to stop: type kafka-server-stop.sh",
    "zookeeper-shell": "Kafka 4 has no ZooKeeper: type kafka-metadata-quorum.sh or ottla cluster",
}
"""Commands by name; each also with `.sh`."""

_CONSUMER: Final = "org.apache.kafka.tools.consumer."
_CLASSES: Final = {
    "kafka.tools.DefaultMessageFormatter": f"{_CONSUMER}DefaultMessageFormatter",
    "kafka.tools.LoggingMessageFormatter": f"{_CONSUMER}LoggingMessageFormatter",
    "kafka.tools.NoOpMessageFormatter": f"{_CONSUMER}NoOpMessageFormatter",
    "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter": f"{_CONSUMER}OffsetsMessageFormatter",
    "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter": (
        f"{_CONSUMER}GroupMetadataMessageFormatter"
    ),
    "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter": (
        f"{_CONSUMER}TransactionLogMessageFormatter"
    ),
    "kafka.tools.ConsoleProducer$LineMessageReader": "org.apache.kafka.tools.LineMessageReader",
}

_MAIN_CLASSES: Final = {
    "MirrorMaker": "kafka-mirror-maker",
    "PreferredReplicaLeaderElectionCommand": "kafka-preferred-replica-election",
    "QuorumPeerMain": "zookeeper-server-start",
    "ZooKeeperMainWithTlsSupportForKafka": "zookeeper-shell",
}

_NOT_FOUND: Final = 127
"""The exit code of shells for a command that there is not."""


def option_hint(option: str, known: Container[str]) -> str | None:
    """What to type instead of an option that this tool has no more, given the names of those that it has.

    >>> option_hint("broker-list", {"bootstrap-server"})
    'Type --bootstrap-server HOST:PORT instead.'
    """
    text = _OPTIONS.get(option)
    broker = next((name for name in _BROKERS if name in known), None)
    include = next((name for name in _INCLUDE if name in known), None)
    if text is None or ("{broker}" in text and broker is None) or ("{include}" in text and include is None):
        return None
    return text.format(broker=broker, include=include, option=option)


def class_hint(name: str) -> str | None:
    """Where a class of Kafka's is now that users name in options and settings."""
    moved = _CLASSES.get(name)
    return None if moved is None else f"It has moved: type {moved} instead."


def main_class_hint(name: str) -> str | None:
    """What to type instead of running a class that is gone."""
    command = _MAIN_CLASSES.get(name.rpartition(".")[2])
    return None if command is None else f"{_COMMANDS[command]}."


def main() -> int:
    """Answers for a command that is gone, by the name that it was called by."""
    name = Path(sys.argv[0]).name
    print(f"{name}: command not found", file=sys.stderr)
    print(f"{_COMMANDS[name.removesuffix('.sh')]}.", file=sys.stderr)
    return _NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
