"""Kafka's transforms and predicates by their class names, each with a function that makes one."""

from collections.abc import Callable
from functools import partial
from typing import Final

from ottla.connect.transform.cast import Cast
from ottla.connect.transform.extract_field import ExtractField
from ottla.connect.transform.flatten import Flatten
from ottla.connect.transform.header import DropHeaders, HeaderFrom, InsertHeader
from ottla.connect.transform.hoist_field import HoistField
from ottla.connect.transform.insert_field import InsertField
from ottla.connect.transform.mask_field import MaskField
from ottla.connect.transform.predicate import Filter, HasHeaderKey, Predicate, RecordIsTombstone, TopicNameMatches
from ottla.connect.transform.replace_field import ReplaceField
from ottla.connect.transform.router import RegexRouter, TimestampRouter
from ottla.connect.transform.set_schema_metadata import SetSchemaMetadata
from ottla.connect.transform.timestamp_converter import TimestampConverter
from ottla.connect.transform.transform import Side, SidedTransform, Transform
from ottla.connect.transform.value_to_key import ValueToKey

_PACKAGE: Final = "org.apache.kafka.connect.transforms"
_SIDED: Final[tuple[type[SidedTransform], ...]] = (
    Cast, ExtractField, Flatten, HeaderFrom, HoistField, InsertField, MaskField, ReplaceField, SetSchemaMetadata,
    TimestampConverter,
)  # fmt: skip
_WHOLE: Final[tuple[type[Transform], ...]] = (
    DropHeaders, Filter, InsertHeader, RegexRouter, TimestampRouter, ValueToKey,
)  # fmt: skip
_PREDICATES: Final[tuple[type[Predicate], ...]] = (HasHeaderKey, RecordIsTombstone, TopicNameMatches)

TRANSFORMS: Final[dict[str, Callable[[], Transform]]] = {
    **{f"{_PACKAGE}.{cls.__name__}${side.value}": partial(cls, side) for cls in _SIDED for side in Side},
    **{f"{_PACKAGE}.{cls.__name__}": cls for cls in _WHOLE},
}
PREDICATES: Final[dict[str, Callable[[], Predicate]]] = {
    f"{_PACKAGE}.predicates.{cls.__name__}": cls for cls in _PREDICATES
}
