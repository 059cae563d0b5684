"""How one schema names another that it needs."""

from ottla.base.frozen import frozen


@frozen
class Reference:
    """`name` is what the schema's text uses; `subject` and `version` say where a registry keeps that schema.

    The name is a full name in Avro, the URI of a `$ref` in JSON Schema, the path of an import in Protobuf.
    """

    name: str
    subject: str
    version: int
