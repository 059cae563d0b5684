"""FileStreamSink: each record becomes a line of a file, as Java's `toString` prints its value."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, ClassVar

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.connector import Settings, SinkConnector, SinkContext, SinkTask
from ottla.connect.connectors.text_column import joined_lines
from ottla.connect.data.column import Column
from ottla.connect.data.java_text import java_text
from ottla.connect.data.java_text_column import java_texts
from ottla.connect.errors import ConnectError
from ottla.connect.record import SinkRecord


class FileStreamSinkConnector(SinkConnector):
    """`file`; all tasks append to it."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("file", ConfigType.STRING, None, "The file to append to; standard output where it is not given.",
                  importance=Importance.HIGH),
    )  # fmt: skip

    def task_class(self) -> type[SinkTask]:
        """The task that appends."""
        return FileStreamSinkTask

    def alter_offsets(self, settings: Settings, offsets: Mapping[tuple[str, int], int | None]) -> bool:
        """Takes any: the file is only appended to."""
        return True


class FileStreamSinkTask(SinkTask):
    """Appends whole batches of lines."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSinkTask"

    def __init__(self) -> None:
        self._name = ""
        self._stream: BinaryIO | None = None

    def start(self, context: SinkContext, settings: Settings) -> None:
        """Opens the file."""
        self._name = str(FileStreamSinkConnector.config_def.parse(settings)["file"] or "")
        if not self._name:
            self._stream = sys.stdout.buffer
            return
        try:
            self._stream = open(self._name, "ab")  # noqa: SIM115 - stays open between batches
        except OSError as error:
            raise ConnectError(f"Couldn't find or create file '{self._name}' for FileStreamSinkTask") from error

    takes_texts: ClassVar[bool] = True

    def put_texts(self, values: Any) -> None:
        """Writes a line for each text."""
        if self._stream is not None:
            self._stream.write(joined_lines(values))

    takes_columns: ClassVar[bool] = True

    def put_columns(self, values: Sequence[Column]) -> None:
        """Writes a line for each value."""
        if self._stream is not None:
            lines = [line for column in values for line in java_texts(column)]
            self._stream.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Writes a line for each record."""
        if self._stream is not None:
            lines = [java_text(record.value, record.value_schema) for record in records]
            self._stream.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def flush(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Makes the lines durable."""
        if self._stream is None:
            return
        self._stream.flush()
        if self._name:
            os.fsync(self._stream.fileno())

    def stop(self) -> None:
        """Closes the file."""
        if self._stream is not None:
            self._stream.flush()
            if self._name:
                self._stream.close()
        self._stream = None
