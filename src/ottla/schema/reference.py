"""The references of a schema to others that it uses."""

from collections.abc import Iterable

from ottla.base.frozen import frozen
from ottla.base.java.order import sort_key


@frozen
class Reference:
    """`name` is what the schema's text uses; `subject` and `version` say where a registry keeps that schema.

    The name is a full name in Avro, the URI of a `$ref` in JSON Schema, the path of an import in Protobuf.
    """

    name: str
    subject: str
    version: int


def in_order(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """Each reference once, by subject and version: the order of a normalised schema."""
    return tuple(dict.fromkeys(sorted(references, key=lambda one: (sort_key(one.subject), one.version))))
