"""The proxy's content types. In version 2 the type of a body says what its records are."""

from typing import Final

from ottla.web.http.content import JSON, ContentTypes
from ottla.web.rest.record.format import EmbeddedFormat

V2: Final = "application/vnd.kafka.v2+json"
OCTETS: Final = "application/octet-stream"

TYPE_OF: Final = {
    EmbeddedFormat.BINARY: "application/vnd.kafka.binary.v2+json",
    EmbeddedFormat.JSON: "application/vnd.kafka.json.v2+json",
    EmbeddedFormat.AVRO: "application/vnd.kafka.avro.v2+json",
    EmbeddedFormat.JSONSCHEMA: "application/vnd.kafka.jsonschema.v2+json",
    EmbeddedFormat.PROTOBUF: "application/vnd.kafka.protobuf.v2+json",
}
FORMAT_OF: Final = {name: kind for kind, name in TYPE_OF.items()}

METADATA: Final = ContentTypes((V2, JSON), frozenset({V2, JSON, OCTETS}))
"""Topics, partitions, brokers, and what goes wrong before a route is found."""
PRODUCE: Final = ContentTypes((V2, JSON), frozenset(FORMAT_OF))
CONSUMER: Final = ContentTypes((V2, *FORMAT_OF, JSON), frozenset({V2, *FORMAT_OF, JSON, OCTETS}))
RECORDS: Final = ContentTypes((TYPE_OF[EmbeddedFormat.BINARY], V2, *FORMAT_OF), frozenset())
V3: Final = ContentTypes((JSON,), frozenset({JSON}))
