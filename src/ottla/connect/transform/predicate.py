"""Predicates, which choose the records that a transform applies to; and Filter, which drops those records.

`transforms.a.predicate=p` names one that `predicates=p` declares; `transforms.a.negate=true` inverts it.
"""

import re
from collections.abc import Mapping
from typing import ClassVar, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey
from ottla.connect.config.validator import NON_EMPTY, AllOf
from ottla.connect.record import ConnectRecord
from ottla.connect.transform.java_regex import compiled
from ottla.connect.transform.router import REGEX
from ottla.connect.transform.transform import Transform

R = TypeVar("R", bound=ConnectRecord)


class Predicate:
    """A condition on records. Subclasses of your own are named `module:Class`."""

    java_name: str = ""
    version: ClassVar[str] = "4.3.1"
    config_def: ClassVar[ConfigDef] = ConfigDef()
    is_uniform: ClassVar[bool] = False
    """As of `Transform`: whether the answer does not depend on key, value, timestamp and place."""

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads its settings, without the prefix `predicates.ALIAS.`"""
        self.config_def.parse(given)

    def test(self, record: ConnectRecord) -> bool:
        """Whether the predicate holds for the record."""
        raise AssertionError(f"{type(self).__name__} has no test")

    def close(self) -> None:
        """Releases its resources."""


class HasHeaderKey(Predicate):
    """Holds for records with a header `name`, also with a null value."""

    java_name = "org.apache.kafka.connect.transforms.predicates.HasHeaderKey"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("name", ConfigType.STRING, REQUIRED, "The name of the header.", validator=NON_EMPTY)
    )

    def __init__(self) -> None:
        self._name = ""

    def configure(self, given: Mapping[str, str]) -> None:
        self._name = str(self.config_def.parse(given)["name"])

    def test(self, record: ConnectRecord) -> bool:
        return any(header.key == self._name for header in record.headers)


class RecordIsTombstone(Predicate):
    """Holds for records whose value is null."""

    java_name = "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone"

    def test(self, record: ConnectRecord) -> bool:
        return record.value is None


class TopicNameMatches(Predicate):
    """Holds for records of topics whose whole name matches `pattern`, such as `orders-.*`."""

    java_name = "org.apache.kafka.connect.transforms.predicates.TopicNameMatches"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("pattern", ConfigType.STRING, REQUIRED, "A regular expression in Java's syntax.",
                  validator=AllOf((NON_EMPTY, REGEX)))
    )  # fmt: skip

    def __init__(self) -> None:
        self._pattern = re.compile("")

    def configure(self, given: Mapping[str, str]) -> None:
        self._pattern = compiled(str(self.config_def.parse(given)["pattern"]))

    def test(self, record: ConnectRecord) -> bool:
        return self._pattern.fullmatch(record.topic) is not None


class Filter(Transform):
    """Drops every record that reaches it: give it a predicate."""

    java_name = "org.apache.kafka.connect.transforms.Filter"
    is_uniform = True

    def apply(self, record: R) -> R | None:
        """Drops the record."""
        return None
