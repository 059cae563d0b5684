"""The registry's settings: what it can't do is refused, not passed over."""

import pytest

from ottla.base.config import ConfigError
from ottla.web.registry.config import RegistryConfig

_EXTENSION = "io.confluent.kafka.schemaregistry.security.SchemaRegistrySecurityResourceExtension"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"resource.extension.class": _EXTENSION}, "can't act with its callers' rights"),
        ({"schema.registry.resource.extension.class": _EXTENSION}, "can't act with its callers' rights"),
        ({"confluent.schema.registry.authorizer.class": "a.TopicAclAuthorizer"}, "may do everything"),
        ({"confluent.schema.registry.auth.mechanism": "SSL"}, "authentication.method=BASIC or BEARER"),
        ({"kafkastore.connection.url": "localhost:2181"}, "kafkastore.bootstrap.servers"),
    ],
)
def test_what_can_not_be_done_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        RegistryConfig.of(given)


def test_other_extensions_are_passed_over() -> None:
    assert RegistryConfig.of({"resource.extension.class": "a.Tracing"}).unknown == ()
