"""An answer as plain values, with what may differ between two clusters masked: ids, ports, paths, times, free space."""

import re
from typing import Any

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.protocol.definition import Struct
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

_MASKED_FIELDS = {
    "port": "PORT",
    "log_dir": "DIR",
    "total_bytes": "BYTES",
    "usable_bytes": "BYTES",
    "documentation": "TEXT",
    "last_fetch_timestamp": "TIME",
    "last_caught_up_timestamp": "TIME",
    "log_end_offset": "OFFSET",
    "high_watermark": "OFFSET",
    "subscription_id": "SUBSCRIPTION",
    "partition_size": "BYTES",
}
_MASKED_CONFIGS = {
    "listeners",
    "advertised.listeners",
    "log.dirs",
    "log.dir",
    "metadata.log.dir",
    "controller.quorum.bootstrap.servers",
    "listener.security.protocol.map",
    "process.roles",
}
_ORDERED = {"synonyms", "listeners"}
"""Lists whose order says something; other lists of structs come in the order of a hash table."""
_ORDERED_ANSWERS = {"DescribeTopicPartitionsResponse"}
_OURS = {key.name for key in (*SERVER_KEYS.values(), *LOG_CONFIG_KEYS.values()) if key.extension}
"""Configs that Apache Kafka does not know: not compared."""
_PORT = re.compile(r"(127\.0\.0\.1|localhost):\d+")


class Mask:
    """Gives the same name to the same thing in two clusters: a topic's id is called after the topic."""

    def __init__(self) -> None:
        self._names: dict[Uuid, str] = {}

    def shape(self, value: Any) -> Any:
        """`value` as comparable plain values; lists of structs in an order that does not depend on ids."""
        self._learn(value)
        return self._shape(value)

    def _learn(self, value: Any) -> None:
        if isinstance(value, Struct):
            topic_id = getattr(value, "topic_id", ZERO_UUID)
            name = getattr(value, "name", None) or getattr(value, "topic_name", None)
            if isinstance(topic_id, bytes) and any(topic_id) and name is not None:
                self._names.setdefault(Uuid(topic_id), f"id of {name}")
            for field in value.definition:
                self._learn(getattr(value, field))
        elif isinstance(value, list):
            for item in value:
                self._learn(item)

    def _shape(self, value: Any) -> Any:
        if isinstance(value, Struct):
            is_ordered = type(value).__name__ in _ORDERED_ANSWERS
            shaped = {
                name: self._field(name, getattr(value, name), is_ordered=is_ordered or name in _ORDERED)
                for name in value.definition
            }
            if shaped.get("name") in _MASKED_CONFIGS and shaped.get("value"):
                shaped["value"] = "SETTING"
            return {"": type(value).__name__, **shaped}
        if isinstance(value, list):
            return [self._shape(item) for item in value if getattr(item, "name", None) not in _OURS]
        if isinstance(value, bytes) and len(value) == 16:
            return self._names.get(Uuid(value), "some id" if any(value) else "no id")
        if isinstance(value, str):
            return self._text(value)
        return value

    def _field(self, name: str, value: Any, *, is_ordered: bool) -> Any:
        mask = _MASKED_FIELDS.get(name)
        if mask is not None and value not in (None, "", -1, 0):
            return mask
        shaped = self._shape(value)
        if isinstance(value, list) and value and isinstance(value[0], Struct) and not is_ordered:
            return sorted(shaped, key=repr)
        return shaped

    def _text(self, text: str) -> str:
        for topic_id, name in self._names.items():
            text = text.replace(str(topic_id), f"<{name}>")
        return _PORT.sub("HOST:PORT", text)
