"""The kinds of schema that a registry keeps, by the names its API gives them."""

import enum


class SchemaType(enum.Enum):
    """One kind of schema; its value is the API's `schemaType`.

    >>> SchemaType("JSON"), str(SchemaType.AVRO)
    (<SchemaType.JSON: 'JSON'>, 'AVRO')
    """

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"

    def __str__(self) -> str:
        return self.value
