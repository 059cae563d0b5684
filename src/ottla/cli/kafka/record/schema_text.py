"""Records with a schema registry as JSON, by the schema that each was written with."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.json_codec import Codec, Codecs
from ottla.client.serde.schema.reader import SchemaReader
from ottla.client.serde.schema.setting import deserializer_settings
from ottla.schema.schema_type import SchemaType

DEFAULT_URL: Final = "http://localhost:8081"
_PREFIX: Final = "schema.registry."


class SchemaTexts:
    """Reads keys and values."""

    def __init__(self, kind: str, settings: Mapping[str, str]) -> None:
        self._kind: Final = SchemaType(kind)
        self._registry: Final = registry_of(settings)
        self._codecs: Final = Codecs(self._registry)
        self._known: Final[dict[SchemaText, Codec]] = {}

    def reader(self, *, is_key: bool) -> Callable[[str, Any, bytes], object]:
        """From a record's bytes to its JSON."""
        reader = SchemaReader(self._registry, deserializer_settings(None, {}), self._kind, is_key=is_key)

        def read(topic: str, headers: Any, data: bytes) -> str:
            written = reader.written(topic, headers, data)
            codec = self._known.get(written.schema)
            if codec is None:
                self._known[written.schema] = codec = self._codecs.make(written.schema)
            return json.dumps(codec.decode(bytes(written.payload)), ensure_ascii=False, separators=(",", ":"))

        return read


def registry_of(settings: Mapping[str, str]) -> SchemaRegistry:
    """The registry's client, by the properties that begin with `schema.registry.`, and by those of log-ins."""
    found = {
        name.removeprefix(_PREFIX): value
        for name, value in settings.items()
        if name.startswith((_PREFIX, "basic.auth.", "bearer.auth."))
    }
    return SchemaRegistry({"url": DEFAULT_URL, **found})
