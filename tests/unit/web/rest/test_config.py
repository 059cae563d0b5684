"""The proxy's settings: which client a prefix passes a setting to, and what is refused."""

import pytest

from ottla.base.config import ConfigError
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
