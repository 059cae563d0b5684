"""The settings of serializers and deserializers, by Confluent's names."""

import json
from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, CLASS, INT, STRING
from ottla.client.config.client_key import key
from ottla.client.config.settings import ClientSettings

_STRATEGY: Final = key("subject.name.strategy", CLASS, "TOPIC", None,
    "Which subject a schema has: `TOPIC`, `RECORD`, `TOPIC_RECORD`, a Java class of Confluent's, or a callable.",
)  # fmt: skip
_LATEST: Final = key("use.latest.version", BOOLEAN, False, None,
    "Whether the subject's latest version is used instead of the schema that was given.",
)  # fmt: skip

SERIALIZER_KEYS: Final = ConfigKeys((
    key("auto.register.schemas", BOOLEAN, True, None, "Whether a schema that the subject lacks is registered."),
    key("normalize.schemas", BOOLEAN, False, None, "Whether the registry compares and stores the normal form."),
    _LATEST,
    key("latest.compatibility.strict", BOOLEAN, True, None,
        "Whether the latest version must be able to read what is written with the schema that was given."),
    key("use.schema.id", INT, -1, Range(-1), "The id to write with, whatever the subject has; -1 is none."),
    _STRATEGY,
    key("schema.id.serializer", STRING, "prefix", None,
        "Where the schema is named: `prefix`, an id before the payload; `header`, a GUID in a header."),
))  # fmt: skip

DESERIALIZER_KEYS: Final = ConfigKeys((_LATEST, _STRATEGY))


def schema_text(schema: object) -> str | None:
    """A schema that was given as text or decoded, as text; None for none."""
    return schema if schema is None or isinstance(schema, str) else json.dumps(schema)


def written_text(schema: object, settings: ClientSettings) -> str:
    """The text of the schema to write with, empty where the settings name a registered one."""
    text = schema_text(schema) or ""
    if not text and not settings.boolean("use.latest.version") and settings.integer("use.schema.id") < 0:
        raise ValueError("a schema is needed, or use_latest_version")
    return text


def serializer_settings(config: Mapping[str, object] | None, given: Mapping[str, object]) -> ClientSettings:
    """The settings of a serializer; keyword arguments win."""
    return ClientSettings.of(SERIALIZER_KEYS, config, **given)


def deserializer_settings(config: Mapping[str, object] | None, given: Mapping[str, object]) -> ClientSettings:
    """The settings of a deserializer."""
    return ClientSettings.of(DESERIALIZER_KEYS, config, **given)
