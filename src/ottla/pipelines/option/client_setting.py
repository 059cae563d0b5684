"""The settings of the Kafka client that `kafka.*` options make.

Some can't be given, since Spark decides what they would decide; all others are checked by the client's own keys.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigError, ConfigKeys
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings, UnknownSettingError
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.name import KAFKA_PREFIX

_BYTES: Final = "keys and values are bytes here: turn them into something else by the columns of the data frame"
_READ_REFUSED: Final = {
    "auto.offset.reset": "where a query starts is said by startingOffsets, and then by its checkpoint",
    "key.deserializer": _BYTES,
    "value.deserializer": _BYTES,
    "enable.auto.commit": "the offsets of finished batches are committed if 'group.id' names a group",
    "interceptor.classes": "an interceptor could change records, and a repeated batch would not be the same",
}
_PLACE: Final = "a row goes where its column 'partition' says, else where the hash of its key does"
_WRITE_REFUSED: Final = {
    "key.serializer": _BYTES,
    "value.serializer": _BYTES,
    "interceptor.classes": "an interceptor could change records, and a repeated batch would not be the same",
    "partitioner.class": _PLACE,
    "partitioner.ignore.keys": _PLACE,
    "transactional.id": "'exactlyOnce' chooses one for each task, beginning with 'transactionalIdPrefix'",
}


def reader_settings(options: Mapping[str, str]) -> dict[str, str]:
    """The settings for reading that options (names in lower case) give, checked; by Kafka's names."""
    return _settings(options, CONSUMER_KEYS, _READ_REFUSED)


def writer_settings(options: Mapping[str, str]) -> dict[str, str]:
    """The settings for writing that options (names in lower case) give, checked; by Kafka's names."""
    return _settings(options, PRODUCER_KEYS, _WRITE_REFUSED)


def _settings(options: Mapping[str, str], keys: ConfigKeys, refused: Mapping[str, str]) -> dict[str, str]:
    given = {
        name.lower().removeprefix(KAFKA_PREFIX): value
        for name, value in options.items()
        if name.lower().startswith(KAFKA_PREFIX)
    }
    for name in given:
        if name in refused:
            raise OptionError(KAFKA_PREFIX + name, f"can't be given: {refused[name]}")
    if not given.get("bootstrap.servers", "").strip():
        raise OptionError("kafka.bootstrap.servers", "required: host:port of some brokers, separated by commas")
    try:
        ClientSettings.of(keys, given)
    except UnknownSettingError as error:
        near = f"; did you mean 'kafka.{error.nearest}'?" if error.nearest else ""
        raise OptionError(KAFKA_PREFIX + error.key, f"unknown{near}") from None
    except ConfigError as error:
        raise OptionError(KAFKA_PREFIX + error.key, f"{error.value}: {error.reason}") from None
    return given
