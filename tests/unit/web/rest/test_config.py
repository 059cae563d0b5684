"""The proxy's settings: which client a prefix passes a setting to, and what is refused."""

import asyncio

import pytest

from ottla.base.config import ConfigError
from ottla.web.http.caller import Credentials
from ottla.web.rest.config import RestConfig


def test_prefixes_pass_settings_on() -> None:
    config = RestConfig.of(
        {
            "bootstrap.servers": "PLAINTEXT://a:1,b:2",
            "client.security.protocol": "SASL_SSL",
            "client.sasl.mechanism": "PLAIN",
            "producer.linger.ms": "7",
            "producer.security.protocol": "SSL",
            "consumer.max.poll.records": "10",
            "admin.default.api.timeout.ms": "5",
            "schema.registry.basic.auth.user.info": "a:b",
            "consumer.threads": "50",
            "producer.nothing": "1",
            "nonsense": "1",
        }
    )
    assert config.producer == {
        "linger.ms": "7",
        "security.protocol": "SSL",
        "sasl.mechanism": "PLAIN",
        "bootstrap.servers": "a:1,b:2",
    }
    assert (config.consumer["max.poll.records"], config.consumer["security.protocol"]) == ("10", "SASL_SSL")
    assert config.admin["default.api.timeout.ms"] == "5"
    assert config.registry["basic.auth.user.info"] == "a:b"
    assert config.unknown == ("producer.nothing", "nonsense")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"zookeeper.connect": "localhost:2181"}, "bootstrap.servers"),
        ({"consumer.instances.max": "0"}, "consumer.instances.max"),
        ({"producer.acks": "some"}, "acks"),
        ({"schema.registry.max.retries": "x"}, "max.retries"),
    ],
)
def test_what_can_not_be_used_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        RestConfig.of(given)


_SASL = {"client.security.protocol": "SASL_SSL", "client.sasl.jaas.config": "a.PlainLoginModule required username=p;"}
_ASKED = {"confluent.rest.auth.propagate.method": "JETTY_AUTH"}


def test_a_callers_log_in_takes_the_place_of_the_proxys() -> None:
    given = {**_SASL, **_ASKED, "client.sasl.mechanism": "PLAIN", "authentication.method": "BASIC"}
    config = RestConfig.of(given)
    assert config.passed_login() is not None
    alice = Credentials("alice", "her secret")
    found = config.of_caller(alice)
    for settings in (found.producer, found.consumer, found.admin):
        assert "sasl.jaas.config" not in settings
        assert settings["security.protocol"] == "SASL_SSL"
        assert asyncio.run(settings["sasl.client.callback.handler.class"]()) == ("alice", "her secret")  # type: ignore[operator]
    assert "secret" not in repr(alice)
    assert RestConfig.of({}).passed_login() is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"confluent.rest.auth.propagate.method": "SSL"}, "no keys to its callers' certificates"),
        ({"kafka.rest.resource.extension.class": "io.x.KafkaRestSecurityResourceExtension"}, "no keys to its callers'"),
        (_ASKED, "needs authentication.method=BASIC or BEARER"),
        ({**_ASKED, "authentication.method": "BASIC"}, "the producer does not log in to the cluster"),
        ({**_ASKED, **_SASL, "authentication.method": "BASIC"}, "a password is no log-in by GSSAPI"),
        (
            {**_ASKED, **_SASL, "authentication.method": "BEARER", "client.sasl.mechanism": "PLAIN"},
            "a token is no log-in by PLAIN: set client.sasl.mechanism to OAUTHBEARER",
        ),
    ],
)
def test_log_ins_that_can_not_be_passed_on(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        RestConfig.of(given)
