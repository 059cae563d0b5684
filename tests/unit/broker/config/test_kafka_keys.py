"""Every key of Apache Kafka 4.3.1 is declared with its type, default, limits and way of being changed, and no other."""

from pathlib import Path
from typing import NamedTuple

import pytest

import ottla
from ottla.base.config import REQUIRED, ConfigKey, ConfigKeys
from ottla.broker.config.keys.client_metric import CLIENT_METRIC_KEYS
from ottla.broker.config.keys.group_resource import GROUP_RESOURCE_KEYS
from ottla.broker.config.keys.passive import NOT_ACTED_ON
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

OURS: dict[str, ConfigKeys] = {
    "broker": SERVER_KEYS,
    "topic": LOG_CONFIG_KEYS,
    "group": GROUP_RESOURCE_KEYS,
    "client-metrics": CLIENT_METRIC_KEYS,
}


class Row(NamedTuple):
    """A line of the table; `REQUIRED` and `NULL` stand for no default and a default of nothing."""

    of: str
    name: str
    type: str
    default: str = ""
    dynamic: str = ""
    internal: str = ""
    valid: str = ""
    synonyms: str = ""


ROWS = [Row(*line.split("\t")) for line in Path(__file__).with_name("kafka_keys.tsv").read_text().splitlines()[1:]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.of}:{row.name}")
def test_a_key_is_declared_as_kafka_has_it(row: Row) -> None:
    key = OURS[row.of][row.name]
    assert key.type.name == row.type
    assert _default(key) == row.default
    assert key.internal == bool(row.internal)
    if row.of == "broker":
        assert key.dynamic.value == row.dynamic
    if row.of == "topic":
        assert ",".join(f"{synonym.name}/{synonym.scale}" for synonym in key.synonyms) == row.synonyms


@pytest.mark.parametrize("row", [row for row in ROWS if row.valid.startswith("[")], ids=lambda row: row.name)
def test_allowed_values_are_kafkas(row: Row) -> None:
    check = OURS[row.of][row.name].check
    assert check is not None
    assert check.text == row.valid


_PARTS_OF_A_NODE = ("base", "protocol", "net", "storage", "raft", "metadata", "replication", "coordinator", "broker")


def test_nothing_else_is_declared_but_our_own() -> None:
    known = {(row.of, row.name) for row in ROWS}
    for of, keys in OURS.items():
        assert {key.name for key in keys.values() if (of, key.name) not in known} == {
            key.name for key in keys.values() if key.extension
        }


def test_every_key_says_what_it_does_in_a_sentence() -> None:
    for keys in (*OURS.values(), DYNAMIC_QUOTA_KEYS):
        for key in keys.values():
            assert key.doc.endswith("."), key.name
            assert len(key.doc) > 15, key.name


def test_defaults_pass_their_own_checks() -> None:
    for keys in OURS.values():
        for key in keys.values():
            if key.default is not REQUIRED and key.default is not None:
                assert key.parse(key.render(key.default) if key.type.name != "PASSWORD" else "x") is not None


def test_what_is_not_acted_on_is_declared() -> None:
    assert {name for keys in OURS.values() for name in keys} >= NOT_ACTED_ON


def test_what_the_code_reads_is_not_called_idle() -> None:
    """Settings' own modules may name what nothing acts on; any other of a node that names a setting acts on it."""
    sources = [Path(ottla.__path__[0], part) for part in _PARTS_OF_A_NODE]
    found = [path for part in sources for path in sorted(part.rglob("*.py"))]
    text = "".join(path.read_text() for path in found if not _declares(path))
    assert [name for name in sorted(NOT_ACTED_ON) if f'"{name}"' in text] == []


def _declares(path: Path) -> bool:
    if path.parent.parts[-2:] != ("handlers", "config") and path.parent.name == "config":
        return path.name not in ("dynamic_config.py", "logger_config.py", "server_config.py")
    return "keys" in path.parts or path.name.startswith("config_") or path.name.endswith(("log_config.py", "_keys.py"))


def _default(key: ConfigKey) -> str:
    if key.default is REQUIRED:
        return "REQUIRED"
    text = key.render(key.default)
    return "NULL" if text is None else text
