"""RegexRouter and TimestampRouter: another topic for the record."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, TypeVar

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import Sentence
from ottla.connect.data.column import RowsNeededError
from ottla.connect.data.date_format import DateFormat
from ottla.connect.errors import DataError, IllegalArgumentError
from ottla.connect.record import ConnectRecord, record_text
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.java_regex import compiled, replace_first
from ottla.connect.transform.transform import Transform

R = TypeVar("R", bound=ConnectRecord)
_HIGH: Final = Importance.HIGH


def _regex_problem(value: object) -> str | None:
    if value is None:
        return "Invalid regex: null"
    try:
        compiled(str(value))
    except re.error as error:
        return f"Invalid regex: {error}"
    return None


REGEX: Final = Sentence(_regex_problem, "valid regex")


class RegexRouter(Transform):
    """`regex=(.*)-raw`, `replacement=$1`: for topics whose whole name matches."""

    java_name = "org.apache.kafka.connect.transforms.RegexRouter"
    is_uniform = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("regex", ConfigType.STRING, REQUIRED, "A regular expression in Java's syntax.", importance=_HIGH,
                  validator=REGEX),
        ConfigKey("replacement", ConfigType.STRING, REQUIRED, "The new name; `$1` is what the first group matched.",
                  importance=_HIGH),
    )  # fmt: skip

    def __init__(self) -> None:
        self._regex = re.compile("")
        self._replacement = ""

    def configure(self, given: Mapping[str, str]) -> None:
        """Compiles the expression."""
        settings = self.config_def.parse(given)
        self._regex = compiled(str(settings["regex"]))
        self._replacement = str(settings["replacement"])

    def apply(self, record: R) -> R:
        """The record with its new topic, or as it was."""
        if not self._regex.fullmatch(record.topic):
            return record
        return record.replace(topic=replace_first(self._regex, record.topic, self._replacement))


class TimestampRouter(Transform):
    """`topic.format=${topic}-${timestamp}`, `timestamp.format=yyyyMMdd`, in UTC."""

    java_name = "org.apache.kafka.connect.transforms.TimestampRouter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("topic.format", ConfigType.STRING, "${topic}-${timestamp}",
                  "The new name, with `${topic}` and `${timestamp}` in it.", importance=_HIGH),
        ConfigKey("timestamp.format", ConfigType.STRING, "yyyyMMdd", "How the timestamp is printed, as by Java's "
                  "SimpleDateFormat.", importance=_HIGH),
    )  # fmt: skip

    def __init__(self) -> None:
        self._topic = ""
        self._timestamp = DateFormat("")

    def configure(self, given: Mapping[str, str]) -> None:
        """Reads the formats."""
        settings = self.config_def.parse(given)
        self._topic = str(settings["topic.format"])
        try:
            self._timestamp = DateFormat(str(settings["timestamp.format"]))
        except ValueError as error:
            raise IllegalArgumentError(str(error)) from error

    def apply(self, record: R) -> R:
        """The record with its new topic."""
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record: {record_text(record)}")
        topic = self._topic.replace("${topic}", record.topic)
        return record.replace(topic=topic.replace("${timestamp}", self._timestamp.format(record.timestamp)))

    def apply_columns(self, columns: RecordColumns) -> RecordColumns:
        """As `apply`, where all get one topic."""
        found = set(columns.timestamps)
        if None in found:
            raise RowsNeededError
        stamps = {self._timestamp.format(each) for each in found if each is not None}
        if len(stamps) != 1:
            raise RowsNeededError
        topic = self._topic.replace("${topic}", columns.topic)
        return replace(columns, topic=topic.replace("${timestamp}", stamps.pop()))
