"""Kafka's converters by their class names, each with a function that makes one."""

from collections.abc import Callable
from typing import Final

from ottla.connect.converter.converter import Converter
from ottla.connect.converter.json import JsonConverter
from ottla.connect.converter.plain import (
    BooleanConverter,
    ByteArrayConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
    SimpleHeaderConverter,
    StringConverter,
)  # fmt: skip

_PACKAGE: Final = "org.apache.kafka.connect"
_NUMBERS: Final[tuple[type[Converter], ...]] = (
    BooleanConverter, ShortConverter, IntegerConverter, LongConverter, FloatConverter, DoubleConverter,
)  # fmt: skip

CONVERTERS: Final[dict[str, Callable[[], Converter]]] = {
    **{cls.java_name: cls for cls in (JsonConverter, StringConverter, ByteArrayConverter)},
    **{f"{_PACKAGE}.converters.{cls.__name__}": cls for cls in _NUMBERS},
}
HEADER_CONVERTERS: Final[dict[str, Callable[[], Converter]]] = {
    **CONVERTERS,
    SimpleHeaderConverter.java_name: SimpleHeaderConverter,
}
