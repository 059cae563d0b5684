"""Predicates: for which records a transform is applied. And Filter, which drops those it is applied to.

`transforms.a.predicate=p` names one that `predicates=p` declares; `transforms.a.negate=true` turns it round.
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
    """A question to a record. Own ones are subclasses, named `module:Class`."""

    java_name: str = ""
    version: ClassVar[str] = "4.3.1"
    config_def: ClassVar[ConfigDef] = ConfigDef()
    is_uniform: ClassVar[bool] = False
    """As of `Transform`: whether the answer does not depend on key, value, timestamp and place."""

    def configure(self, given: Mapping[str, str]) -> None:
        """Takes its settings, without the prefix `predicates.ALIAS.`"""
        self.config_def.parse(given)

    def test(self, record: ConnectRecord) -> bool:
        """Whether it is one of those."""
        raise AssertionError(f"{type(self).__name__} has no test")

    def close(self) -> None:
        """Gives back what it holds."""


class HasHeaderKey(Predicate):
    """`name=h`: at least one header of that name, also one with a null value."""

    java_name = "org.apache.kafka.connect.transforms.predicates.HasHeaderKey"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("name", ConfigType.STRING, REQUIRED, "The name of the header.", validator=NON_EMPTY)
    )

    def __init__(self) -> None:
        self._name = ""

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the name."""
        self._name = str(self.config_def.parse(given)["name"])

    def test(self, record: ConnectRecord) -> bool:
        """Whether the record has the header."""
        return any(header.key == self._name for header in record.headers)


class RecordIsTombstone(Predicate):
    """The value is null."""

    java_name = "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone"

    def test(self, record: ConnectRecord) -> bool:
        """Whether the value is null."""
        return record.value is None


class TopicNameMatches(Predicate):
    """`pattern=orders-.*`: the whole name of the topic matches."""

    java_name = "org.apache.kafka.connect.transforms.predicates.TopicNameMatches"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("pattern", ConfigType.STRING, REQUIRED, "A regular expression in Java's syntax.",
                  validator=AllOf((NON_EMPTY, REGEX)))
    )  # fmt: skip

    def __init__(self) -> None:
        self._pattern = re.compile("")

    def configure(self, given: Mapping[str, str]) -> None:
        """Compiles the expression."""
        self._pattern = compiled(str(self.config_def.parse(given)["pattern"]))

    def test(self, record: ConnectRecord) -> bool:
        """Whether the topic's name matches."""
        return self._pattern.fullmatch(record.topic) is not None


class Filter(Transform):
    """Drops every record that reaches it: give it a predicate."""

    java_name = "org.apache.kafka.connect.transforms.Filter"
    is_uniform = True

    def apply(self, record: R) -> R | None:
        """Nothing."""
        return None
