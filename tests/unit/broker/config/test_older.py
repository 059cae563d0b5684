"""What 4.3 has instead of older settings."""

import pytest

from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.older import DECIDING, GONE, replacements, standalone
from ottla.broker.config.server_config import ServerConfig

PLAIN = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}


@pytest.mark.parametrize(
    ("given", "now"),
    [
        ({"port": "1"}, {"listeners": "PLAINTEXT://:1"}),
        ({"host.name": "a"}, {"listeners": "PLAINTEXT://a:9092"}),
        ({"port": "1", "host.name": "::1"}, {"listeners": "PLAINTEXT://[::1]:1"}),
        ({"advertised.host.name": "b", "port": "1"},
         {"listeners": "PLAINTEXT://:1", "advertised.listeners": "PLAINTEXT://b:1"}),
        ({"advertised.host.name": "b", "advertised.port": "2"}, {"advertised.listeners": "PLAINTEXT://b:2"}),
        ({"advertised.port": "2", "host.name": "a"},
         {"listeners": "PLAINTEXT://a:9092", "advertised.listeners": "PLAINTEXT://a:2"}),
        ({"port": "1", "listeners": "PLAINTEXT://:3"}, {}),
        ({"zookeeper.connect": "localhost:2181"}, {}),
        ({"authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer"},
         {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}),
    ],
)  # fmt: skip
def test_what_decides_where_a_node_listens_is_translated(given: dict[str, str], now: dict[str, str]) -> None:
    found = replacements({**given, "log.dirs": "/data"})
    assert {name: value for change in found.values() for name, value in change.settings.items()} == now
    assert found.keys() == given.keys() - {"listeners"}


def test_a_key_that_is_gone_is_told_with_what_replaced_it() -> None:
    older = {"replica.lag.max.messages": "4000", "zookeeper.set.acl": "true", "num.partition": "3"}
    assert sorted(map(str, ServerConfig({**PLAIN, **older}).unknown)) == [
        "replica.lag.max.messages is gone from Kafka 4.3: replica.lag.time.max.ms decides which replicas are in sync",
        "unknown configuration num.partition (did you mean num.partitions?)",
        "zookeeper.set.acl is gone from Kafka 4.3: "
        "there is no ZooKeeper any more, a quorum of controllers keeps the metadata",
    ]


def test_what_is_gone_is_no_key_of_this_release_and_what_replaced_it_is() -> None:
    assert not [name for name in (*GONE, *DECIDING) if name in SERVER_KEYS]
    named = {word.rstrip(":,") for reason in GONE.values() for word in reason.split() if word.count(".") > 1}
    assert [name for name in sorted(named) if name not in SERVER_KEYS] == []


def test_a_node_without_a_quorum_becomes_its_own() -> None:
    added = standalone({"port": "1", "listeners": "PLAINTEXT://:60000"})
    assert added["listeners"] == "PLAINTEXT://:60000,CONTROLLER://localhost:50000"
    assert ServerConfig(added).is_controller
    assert standalone(PLAIN) == {}
