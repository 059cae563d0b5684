"""The clients' settings beside those of Apache Kafka 4.3.1 (`kafka_keys.txt`: client, name, type, default, range)."""

from pathlib import Path

import pytest

from ottla.base.config import REQUIRED, ConfigKeys
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS

KEYS = {"producer": PRODUCER_KEYS, "consumer": CONSUMER_KEYS, "admin": ADMIN_KEYS}
OUR_DEFAULT = {
    # Python has bytes; Java has no default.
    "key.serializer",
    "value.serializer",
    "key.deserializer",
    "value.deserializer",
    # No JMX here.
    "metric.reporters",
    # Names instead of Java's classes.
    "partition.assignment.strategy",
    # Kafka prints its own default in other letters than it accepts.
    "share.acquire.mode",
}
KAFKA = [line.split("|") for line in (Path(__file__).parent / "kafka_keys.txt").read_text().splitlines()]


def shown(value: object, keys: ConfigKeys, name: str) -> str:
    """A default as Java prints it."""
    if value is REQUIRED:
        return "REQUIRED"
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    if value is None:
        return "null"
    text = keys[name].render(value) or ""
    return f"class {text}" if text.startswith("org.apache") else text


@pytest.mark.parametrize(("client", "name", "kind", "default"), [row[:4] for row in KAFKA])
def test_kafkas_settings_are_ours(client: str, name: str, kind: str, default: str) -> None:
    keys = KEYS[client]
    assert keys[name].type.name == kind
    if name not in OUR_DEFAULT:
        assert shown(keys[name].default, keys, name) == default


@pytest.mark.parametrize("client", KEYS)
def test_what_kafka_lacks_is_marked(client: str) -> None:
    theirs = {row[1] for row in KAFKA if row[0] == client}
    assert {name for name, key in KEYS[client].items() if not key.extension} == theirs


@pytest.mark.parametrize(("client", "name", "limits"), [(row[0], row[1], row[4]) for row in KAFKA if "..." in row[4]])
def test_ranges_are_kafkas(client: str, name: str, limits: str) -> None:
    check = KEYS[client][name].check
    assert check is not None
    assert check.text == limits


@pytest.mark.parametrize("client", KEYS)
def test_every_setting_is_explained(client: str) -> None:
    assert all(key.doc for key in KEYS[client].values())
