"""What DescribeConfigs says where no running Kafka is needed to know it: refusals, prose, loggers, secrets."""

import logging

import pytest

from ottla.broker.config.description import DescribeOptions, describe_configs
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.metadata_image import EMPTY_IMAGE
from ottla.protocol.config_source import ConfigSource
from ottla.protocol.errors import ApiError, InvalidRequestError, InvalidTopicError, UnknownTopicOrPartitionError
from ottla.protocol.messages.describe_configs import DescribeConfigsResourceResult
from tests.unit.broker.config.settings import config_of

DYNAMIC = DynamicConfig(config_of(ssl_keystore_password="hunter2", num_partitions=" 3 "))
BROKER = ConfigResource(ResourceType.BROKER, "1")


def _describe(
    resource: ConfigResource, *names: str, synonyms: bool = False, prose: bool = False
) -> dict[str, DescribeConfigsResourceResult]:
    options = DescribeOptions(names or None, include_synonyms=synonyms, include_documentation=prose)
    return {entry.name: entry for entry in describe_configs(DYNAMIC, EMPTY_IMAGE, resource, options)}


@pytest.mark.parametrize(
    ("resource", "error", "message"),
    [
        ((ResourceType.TOPIC, "nowhere"), UnknownTopicOrPartitionError, ""),
        ((ResourceType.TOPIC, "a b"), InvalidTopicError, "Topic name is invalid"),
        ((ResourceType.BROKER, "2"), InvalidRequestError,
         "Unexpected broker id, expected 1 or empty string, but received 2"),
        ((ResourceType.BROKER, "x"), InvalidRequestError, "Broker id must be an integer, but it is: x"),
        ((ResourceType.BROKER_LOGGER, ""), InvalidRequestError, "Broker id must not be empty"),
        ((ResourceType.BROKER_LOGGER, "2"), InvalidRequestError,
         "Unexpected broker id, expected 1 but received 2"),
        ((ResourceType.CLIENT_METRICS, ""), InvalidRequestError, "must not be empty"),
        ((ResourceType.GROUP, ""), InvalidRequestError, "Group name must not be empty"),
        ((77, "x"), InvalidRequestError, "Unexpected resource type 77"),
    ],
)  # fmt: skip
def test_what_cannot_be_described_is_refused(resource: tuple[int, str], error: type[ApiError], message: str) -> None:
    with pytest.raises(error) as caught:
        _describe(ConfigResource(*resource))
    assert message in str(caught.value)


def test_secrets_are_marked_and_not_shown() -> None:
    entry = _describe(BROKER, "ssl.keystore.password", synonyms=True)["ssl.keystore.password"]
    assert entry.is_sensitive
    assert entry.value is None
    assert [(synonym.value, synonym.source) for synonym in entry.synonyms] == [
        (None, ConfigSource.STATIC_BROKER_CONFIG)
    ]


def test_values_are_shown_as_they_were_understood() -> None:
    entry = _describe(BROKER, "num.partitions", synonyms=True)["num.partitions"]
    assert entry.value == "3"
    assert [synonym.value for synonym in entry.synonyms] == [" 3 ", "1"]


def test_prose_is_there_when_asked_for() -> None:
    assert _describe(BROKER, "num.partitions")["num.partitions"].documentation is None
    entry = _describe(BROKER, "num.partitions", prose=True)["num.partitions"]
    assert entry.documentation == "Partitions of a topic that is made without saying how many."
    ignored = _describe(BROKER, "num.network.threads", prose=True)["num.network.threads"]
    assert ignored.documentation is not None
    assert ignored.documentation.endswith("(No effect here.)")


def test_internal_keys_are_not_described_and_ours_are() -> None:
    names = _describe(BROKER).keys()
    assert "log.initial.task.delay.ms" not in names
    assert "http.listen" in names


def test_loggers_are_described_with_their_levels() -> None:
    logging.getLogger("ottla.described").setLevel(logging.WARNING)
    entries = _describe(ConfigResource(ResourceType.BROKER_LOGGER, "1"))
    assert "root" in entries
    assert entries["ottla.described"].value == "WARN"
    assert entries["ottla.described"].config_source == ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG
