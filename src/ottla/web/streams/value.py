"""Keys in paths and values in answers: what a store's serde says a text means, and any value as JSON."""

import base64
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Final

from ottla.client.serde.number import BooleanSerde, DoubleSerde, FloatSerde, IntegerSerde, LongSerde, ShortSerde
from ottla.client.serde.raw import BytesSerde
from ottla.client.serde.text import StringSerde
from ottla.client.serde.uuid_value import UuidSerde
from ottla.streams.record import Windowed
from ottla.web.http.errors import HttpError

_PLAIN: Final = (str, int, float, bool, type(None))


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_READ: Final[Mapping[type, Callable[[str], Any]]] = {
    StringSerde: str,
    ShortSerde: int,
    IntegerSerde: int,
    LongSerde: int,
    FloatSerde: float,
    DoubleSerde: float,
    BooleanSerde: {"true": True, "false": False}.__getitem__,
    UuidSerde: uuid.UUID,
    BytesSerde: _bytes,
}


def key_of(serde: Any, text: str) -> Any:
    """The key that a text in a path means: as the serde has it, bytes in base64, and JSON for all other serdes.

    >>> key_of(LongSerde(), "42"), key_of(StringSerde(), "42")
    (42, '42')
    """
    read = _READ.get(type(serde), json.loads)
    try:
        return read(text)
    except (ValueError, KeyError):
        kind = type(serde).__name__.removesuffix("Serde").lower()
        raise HttpError(400, f"{text!r} is no key of this store, whose keys are of the kind {kind}") from None


def shown(value: Any) -> Any:
    """A value as JSON has it: bytes in base64, objects by their fields, windowed keys with their bounds.

    >>> shown({"a": b"xy", "b": (1, 2.5)})
    {'a': 'eHk=', 'b': [1, 2.5]}
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, Windowed):
        return {"key": shown(value.key), "start": value.window.start, "end": value.window.end}
    if isinstance(value, Mapping):
        return {str(name): shown(one) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return shown(asdict(value))
    if hasattr(value, "_asdict"):
        return shown(value._asdict())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [shown(one) for one in value]
    return str(value)
