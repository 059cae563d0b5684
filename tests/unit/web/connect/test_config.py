"""A worker's settings: whose they are, and what never leaves the process."""

import pytest

from ottla.base.config import ConfigError
from ottla.web.connect.config import ConnectConfig, override_problem
from ottla.web.http.address import ListenAddress

NEEDED = {
    "group.id": "g",
    "config.storage.topic": "c",
    "offset.storage.topic": "o",
    "status.storage.topic": "s",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}


def config(**more: str) -> ConnectConfig:
    return ConnectConfig.of(NEEDED | {name.replace("__", "."): value for name, value in more.items()})


@pytest.mark.parametrize("missing", NEEDED)
def test_what_kafka_requires_is_required(missing: str) -> None:
    with pytest.raises(ConfigError, match=missing.replace(".", r"\.")):
        ConnectConfig.of({name: value for name, value in NEEDED.items() if name != missing})


def test_security_goes_to_all_clients() -> None:
    found = config(bootstrap__servers="a:1,b:2", security__protocol="SSL", ssl__truststore__location="/t.pem")
    assert found.client["bootstrap.servers"] == "a:1,b:2"
    assert found.client["security.protocol"] == "SSL"
    assert "group.id" not in found.client


def test_secrets_reach_tasks_by_no_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTTLA_TEST_SECRET", "hunter2")
    found = config(
        ssl__key__password="hunter2",
        producer__sasl__jaas__config="hunter2",
        value__converter__basic__auth__password="hunter2",
        consumer__ssl__key__password="${env:OTTLA_TEST_SECRET}",
        producer__client__id="${env:OTTLA_TEST_SECRET}",
        config__providers="env",
        config__providers__env__class="EnvVarConfigProvider",
        listeners="http://:1",
        producer__linger__ms="5",
        value__converter__schemas__enable="false",
    )
    assert "hunter2" not in repr(found.worker)
    assert "hunter2" not in repr(found)
    assert dict(found.secrets) == {
        "producer.sasl.jaas.config": "hunter2", "value.converter.basic.auth.password": "hunter2",
        "consumer.ssl.key.password": "hunter2",
    }  # fmt: skip
    assert found.worker["producer.client.id"] == "${env:OTTLA_TEST_SECRET}"
    assert found.worker["producer.linger.ms"] == "5"
    assert found.worker["consumer.ssl.key.password"] == "${env:OTTLA_TEST_SECRET}"
    assert found.worker["value.converter.schemas.enable"] == "false"
    assert "listeners" not in found.worker


def test_what_nothing_knows_is_named() -> None:
    found = config(
        colour="red", producer__colour="red", producer__linger__ms="5", plugin__path="/p",
        connect__protocol="sessioned",
        offset__storage__file__filename="/f", key__converter__x="y", listeners__https__ssl__keystore__type="PEM",
    )  # fmt: skip
    assert found.unknown == ("colour", "producer.colour")


def test_what_would_mislead_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"authentication\.method=BASIC"):
        config(rest__extension__classes="com.x.Auth")
    with pytest.raises(ConfigError, match=r"admin\.listeners"):
        config(admin__listeners="http://:9")
    assert not config(admin__listeners="").serves_loggers
    assert config().serves_loggers


def test_how_other_workers_reach_this_one() -> None:
    listening = [ListenAddress("http", "127.0.0.1", 8083)]
    assert config().advertised(listening).url == "http://127.0.0.1:8083"
    told = config(rest__advertised__host__name="w1", rest__advertised__port="80").advertised(listening)
    assert (told.host, told.port) == ("w1", 80)


def test_a_listener_of_tls_may_have_settings_of_its_own() -> None:
    found = config(ssl__keystore__location="/clients.pem", listeners__https__ssl__keystore__location="/rest.pem")
    assert found.settings.string("ssl.keystore.location") == "/rest.pem"
    assert found.client["ssl.keystore.location"] == "/clients.pem"


def test_overrides_are_checked_as_the_clients_have_them() -> None:
    everything = config().policy
    assert override_problem(everything, "producer.override.linger.ms", "5") is None
    assert override_problem(everything, "consumer.override.max.poll.records", "many") is not None
    assert override_problem(everything, "producer.override.colour", "red") is None


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        ("None", set()),
        ("org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy", set()),
        ("Principal", {"sasl.jaas.config", "sasl.mechanism", "security.protocol"}),
        ("Allowlist", {"linger.ms", "acks"}),
    ],
)
def test_a_policy_says_what_connectors_may_override(policy: str, allowed: set[str]) -> None:
    setting = "connector.client.config.override"
    made = config(**{f"{setting}.policy": policy, f"{setting}.allowlist": "linger.ms, acks"}).policy
    asked = ("sasl.jaas.config", "sasl.mechanism", "security.protocol", "linger.ms", "acks", "colour")
    assert {name for name in asked if made(name) is None} == allowed
    if allowed != {"linger.ms", "acks"}:
        shown = "None" if not allowed else policy
        assert override_problem(made, "producer.override.linger.ms", "5") == (
            f"The '{shown}' policy does not allow 'linger.ms' to be overridden in the connector configuration."
        )


def test_a_policy_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="String must be one of: All, None, Principal, Allowlist"):
        config(connector__client__config__override__policy="Bogus")
