"""Values as JSON in UTF-8, without a schema."""

import json
from collections.abc import Sequence
from typing import Any

from ottla.client.errors import SerializationError
from ottla.client.record import Header


class JsonSerde:
    """Anything that `json` can write.

    >>> JsonSerde().serialize("topic", (), {"id": 7})
    b'{"id":7}'
    """

    def serialize(self, topic: str, headers: Sequence[Header], value: Any) -> bytes | None:
        """Compact JSON; None stays None, which is a tombstone and not JSON's null."""
        if value is None:
            return None
        try:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise SerializationError(f"not JSON: {error}") from None

    def deserialize(self, topic: str, headers: Sequence[Header], data: bytes | None) -> Any:
        """The value of the JSON text; None stays None."""
        if data is None:
            return None
        try:
            return json.loads(bytes(data))
        except ValueError as error:
            raise SerializationError(f"not JSON: {error}") from None
