"""What a node's settings must satisfy together, and what its parts read from them."""

import pytest

from ottla.base.config import ConfigError
from ottla.broker.config.listener import HostPort, ListenerAddress, QuorumVoter
from ottla.broker.config.rule import check_startable, warnings_of
from ottla.broker.config.server_config import ServerConfig
from tests.unit.broker.config.settings import BROKER, COMBINED, CONTROLLER, config_of


def test_a_combined_node_serves_clients_and_controllers_on_their_own_listeners() -> None:
    config = config_of(listeners="PLAINTEXT://:9092,CONTROLLER://[::1]:9093")
    assert config.is_broker
    assert config.is_controller
    assert config.broker_listeners == (ListenerAddress("PLAINTEXT", "", 9092),)
    assert config.controller_listeners == (ListenerAddress("CONTROLLER", "::1", 9093),)
    assert config.security_protocols["CONTROLLER"] == "PLAINTEXT"
    assert config.quorum_bootstrap_servers == (HostPort("localhost", 9093),)


def test_a_lone_broker_knows_the_voters() -> None:
    config = config_of(BROKER)
    assert not config.is_controller
    assert config.quorum_voters == (QuorumVoter(1, "localhost", 9093),)
    assert config.advertised_controller_listeners == ()


def test_node_id_and_its_former_name_provide_each_other() -> None:
    assert config_of(node_id=None, broker_id="7").node_id == 7
    assert config_of(node_id="7").integer("broker.id") == 7


def test_a_controller_on_all_interfaces_is_told_by_its_name_among_the_voters() -> None:
    assert config_of(CONTROLLER).advertised_controller_listeners == (ListenerAddress("CONTROLLER", "c1", 9093),)
    dynamic = config_of(CONTROLLER, controller_quorum_voters=None, controller_quorum_bootstrap_servers="c1:9093",
                        listeners="CONTROLLER://0.0.0.0:9093")  # fmt: skip
    assert dynamic.advertised_controller_listeners == (ListenerAddress("CONTROLLER", "", 9093),)


def test_advertised_listeners_go_to_those_they_are_for() -> None:
    config = config_of(advertised_listeners="PLAINTEXT://kafka.example:19092,CONTROLLER://c.example:19093")
    assert config.advertised_broker_listeners == (ListenerAddress("PLAINTEXT", "kafka.example", 19092),)
    assert config.advertised_controller_listeners == (ListenerAddress("CONTROLLER", "c.example", 19093),)


def test_names_of_listeners_may_be_written_in_any_case() -> None:
    config = config_of(
        listeners="plaintext://:9092,controller://:9093",
        controller_listener_names="controller",
        inter_broker_listener_name="Plaintext",
    )
    assert config.inter_broker_listener_name == "PLAINTEXT"
    assert [listener.name for listener in config.controller_listeners] == ["CONTROLLER"]


def test_all_interfaces_can_be_served_when_clients_are_told_what_they_dialled() -> None:
    listeners = "PLAINTEXT://0.0.0.0:9092,CONTROLLER://localhost:9093"
    config = config_of(listeners=listeners, advertised_listeners_follow_dialled="true")
    assert config.follow_dialled_address
    with pytest.raises(ConfigError, match=r"cannot use the nonroutable meta-address 0\.0\.0\.0"):
        config_of(listeners=listeners)


def test_one_port_may_have_an_ipv4_and_an_ipv6_listener() -> None:
    protocols = "A:PLAINTEXT,B:PLAINTEXT,CONTROLLER:PLAINTEXT"
    config = config_of(
        listeners="A://127.0.0.1:9092,B://[::1]:9092,CONTROLLER://localhost:9093",
        listener_security_protocol_map=protocols,
        inter_broker_listener_name="A",
    )
    assert len(config.broker_listeners) == 2
    with pytest.raises(ConfigError, match="Each listener must have a different port"):
        config_of(
            listeners="A://127.0.0.1:9092,B://127.0.0.2:9092,CONTROLLER://localhost:9093",
            listener_security_protocol_map=protocols,
            inter_broker_listener_name="A",
        )


def test_log_directories_are_each_counted_once() -> None:
    config = config_of(log_dirs="/a, /b,/a")
    assert config.log_dirs == ("/a", "/b")
    assert config.metadata_log_dir == "/a"
    assert config_of(log_dir="/x").log_dirs == ("/x",)


def test_parts_get_their_own_settings() -> None:
    config = config_of(
        controller_quorum_fetch_timeout_ms="99",
        log_retention_minutes="2",
        log_cleaner_threads="2",
        metadata_log_segment_ms="7",
        leader_imbalance_check_interval_seconds="5",
        delegation_token_secret_key="hush",
    )
    assert config.quorum.fetch_timeout_ms == 99
    assert config.default_log_config.retention_ms == 120_000
    assert config.cleaner.threads == 2
    assert config.metadata_log.segment_ms == 7
    settings = config.controller_settings("cluster", None)
    assert settings.leader_imbalance_check_interval_ms == 5_000
    assert settings.delegation_token_secret_key == b"hush"


@pytest.mark.parametrize(
    ("changes", "key", "reason"),
    [
        ({"process_roles": None}, "process.roles", 'Missing required configuration "process.roles"'),
        ({"process_roles": "brocker"}, "process.roles", "String must be one of: broker, controller"),
        ({"process_roles": ""}, "process.roles", "must not be empty"),
        ({"node_id": "-1"}, "node.id", "Value must be at least 0"),
        ({"broker_id": "2"}, "broker.id", "same value as `broker.id`"),
        ({"controller_listener_names": None}, "controller.listener.names", "Missing required"),
        ({"controller_listener_names": "OTHER"}, "listeners", "No security protocol defined for listener CONTROLLER"),
        ({"listeners": "PLAINTEXT:9092"}, "listeners", "Unable to parse PLAINTEXT:9092"),
        ({"listeners": "PLAINTEXT://:99999,CONTROLLER://:1"}, "listeners", "there is no port 99999"),
        ({"listeners": "PLAINTEXT://:9092"}, "controller.listener.names", "at least one value appearing"),
        ({"listeners": "CONTROLLER://:9093"}, "listeners", "at least one broker advertised listener"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2,CONTROLLER://:3"}, "listeners", "a different name"),
        ({"advertised_listeners": "PLAINTEXT://0.0.0.0:1"}, "advertised.listeners", "nonroutable meta-address"),
        ({"inter_broker_listener_name": "X"}, "inter.broker.listener.name", "not found in listener.security"),
        ({"inter_broker_listener_name": "SSL"}, "inter.broker.listener.name", "The valid options"),
        ({"inter_broker_listener_name": "PLAINTEXT", "security_inter_broker_protocol": "PLAINTEXT"},
         "inter.broker.listener.name", "Only one of"),
        ({"listener_security_protocol_map": "A"}, "listener.security.protocol.map", "not of the form"),
        ({"listener_security_protocol_map": "A:TLS"}, "listener.security.protocol.map", "Invalid security protocol"),
        ({"controller_quorum_bootstrap_servers": None}, "controller.quorum.bootstrap.servers", "either"),
        ({"controller_quorum_bootstrap_servers": "host"}, "controller.quorum.bootstrap.servers", "Failed to parse"),
        ({"controller_quorum_voters": "2@h:1"}, "controller.quorum.voters", "must be included in the set of voters"),
        ({"controller_quorum_voters": "x@h:1"}, "controller.quorum.voters", "Failed to parse voter ID"),
        ({"controller_quorum_voters": "h:1"}, "controller.quorum.voters", "{id}@{host}:{port}"),
        ({"log_retention_hours": "0"}, "log.retention.hours", "must be unlimited"),
        ({"log_roll_ms": "0"}, "log.roll.ms", "greater than or equal to 1"),
        ({"log_cleaner_threads": "0"}, "log.cleaner.threads", "greater than or equal to 1"),
        ({"log_cleaner_dedupe_buffer_size": "1000"}, "log.cleaner.dedupe.buffer.size", "at least 1MB"),
        ({"replica_fetch_wait_max_ms": "40000"}, "replica.socket.timeout.ms", "unnecessary socket timeouts"),
        ({"connections_max_idle_ms": "50"}, "connections.max.idle.ms", "authentication"),
        ({"queued_max_request_bytes": "5"}, "queued.max.request.bytes", "larger or equal"),
        ({"max_connections_per_ip": "0"}, "max.connections.per.ip", "zero only if"),
        ({"max_connections_per_ip_overrides": "a b:1"}, "max.connections.per.ip.overrides", "invalid addresses"),
        ({"max_connections_per_ip_overrides": "h:x"}, "max.connections.per.ip.overrides", "no numbers"),
        ({"cordoned_log_dirs": "/elsewhere"}, "cordoned.log.dirs", "Missing entries : /elsewhere"),
        ({"cordoned_log_dirs": "*,/a"}, "cordoned.log.dirs", "must not contain other values"),
        ({"group_consumer_session_timeout_ms": "100000"}, "group.consumer.session.timeout.ms",
         "must be less than or equal to group.consumer.max.session.timeout.ms"),
        ({"group_share_assignors": "a,b"}, "group.share.assignors", "exactly one assignor"),
        ({"group_coordinator_rebalance_protocols": "consumer"}, "group.coordinator.rebalance.protocols", "classic"),
        ({"num_partitions": "many"}, "num.partitions", "Not a number of type INT"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(changes: dict[str, str | None], key: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(COMBINED, **changes)
    assert caught.value.key == key
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"node_id": "1"}, "must not be included in the set of voters"),
        ({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"}, "must not contain a value appearing"),
        ({"listener_security_protocol_map": "PLAINTEXT:PLAINTEXT"}, "Controller listener with name CONTROLLER"),
        ({"controller_quorum_auto_join_enable": "true"}, "contains the 'controller' role"),
    ],
)
def test_a_lone_broker_has_rules_of_its_own(changes: dict[str, str | None], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        config_of(BROKER, **changes)


def test_a_lone_controller_listens_for_nobody_else() -> None:
    with pytest.raises(ConfigError, match="must only contain KRaft controller listeners"):
        config_of(CONTROLLER, listeners="PLAINTEXT://:9092,CONTROLLER://:9093")


def test_protection_that_cannot_be_given_refuses_to_start_but_not_to_format() -> None:
    with pytest.raises(ConfigError, match="Tiered storage is asked for"):
        check_startable(config_of(remote_log_storage_system_enable="true"))
    check_startable(config_of())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kafka.security.authorizer.AclAuthorizer", "write org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
        ("com.example.MyAuthorizer", "no such Python class"),
        ("collections:OrderedDict", "no method authorize"),
    ],
)
def test_an_authorizer_that_cannot_be_had_refuses_to_start(name: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check_startable(config_of(authorizer_class_name=name))


def test_kafkas_authorizer_starts_and_its_super_users_must_be_principals() -> None:
    standard = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    check_startable(config_of(authorizer_class_name=standard, super_users="User:admin;User:CN=a,OU=b"))
    with pytest.raises(ConfigError, match="as in User:admin"):
        check_startable(config_of(authorizer_class_name=standard, super_users="admin"))


def test_names_meant_for_plugins_and_listeners_are_taken_quietly() -> None:
    config = ServerConfig(
        COMBINED
        | {
            "listener.name.internal.ssl.keystore.location": "/k",
            "config.providers.env.class": "x",
            "rsm.config.bucket": "b",
            "super.users": "User:admin",
            "num.partition": "3",
        }
    )
    assert [str(unknown) for unknown in config.unknown] == [
        "unknown configuration num.partition (did you mean num.partitions?)"
    ]


def test_settings_that_nothing_acts_on_are_named_when_given() -> None:
    assert config_of().not_acted_on == []
    assert config_of(num_network_threads="3", num_partitions="2").not_acted_on == ["num.network.threads"]


def test_an_operator_is_warned_of_what_works_but_not_well() -> None:
    assert list(warnings_of(config_of())) == []
    late = list(warnings_of(config_of(broker_heartbeat_interval_ms="8000")))
    assert "should be at most half" in late[0]
    assert list(warnings_of(config_of(BROKER, num_partitions="3"))) == [
        "num.partitions is set on a broker that is no controller; it counts on controllers."
    ]


def test_secrets_do_not_show() -> None:
    config = config_of(ssl_keystore_password="hunter2")
    assert "hunter2" not in f"{config!r} {config['ssl.keystore.password']}"
