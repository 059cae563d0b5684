"""The strictness of compatibility checks: `compatibilityPolicy`."""

import enum


class Policy(enum.Enum):
    """LENIENT allows, in JSON Schema, what breaks only readers of documents with undeclared properties."""

    STRICT = "STRICT"
    LENIENT = "LENIENT"
