"""The settings of a broker for tests: Kafka's defaults, but for a cluster of one node that starts without waits."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ottla.testing.reserved_port import LOOPBACK

SettingValue: TypeAlias = str | int | float | bool

_NODE_ID: Final = "1"
_SMALL: Final = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Fifty partitions spread work over many brokers. One broker only has to make them, when the first group comes.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # A real group waits for others to come before its first rebalance; a test would wait, too.
    "group.initial.rebalance.delay.ms": "0",
    # Followers learn from empty records that their leader lives. There are none, and time may fly.
    "metadata.max.idle.interval.ms": "0",
}


def broker_settings(directory: str, ports: tuple[int, int], given: Mapping[str, SettingValue]) -> dict[str, str]:
    """All settings: those that are given on top of those that a broker for tests needs.

    `ports` are that of the clients and that of the controller.
    """
    clients, controller = ports
    own = {
        "process.roles": "broker,controller",
        "node.id": _NODE_ID,
        "listeners": f"PLAINTEXT://{LOOPBACK}:{clients},CONTROLLER://{LOOPBACK}:{controller}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"{_NODE_ID}@{LOOPBACK}:{controller}",
        "log.dirs": directory,
    }
    return own | _SMALL | {key: setting_text(value) for key, value in given.items()}


def setting_text(value: SettingValue) -> str:
    """A value as it stands in a file.

    >>> setting_text(True), setting_text(3), setting_text("compact")
    ('true', '3', 'compact')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
