"""FileStreamSource: each line of a file becomes a record.

The offset is the number of bytes behind the last line, as Kafka's connector has it for ASCII; it counts characters
otherwise and loses its place. A line is complete when its end is there. A missing file is waited for.
"""

import os
import sys
from collections.abc import Sequence
from typing import BinaryIO, ClassVar, Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import NON_EMPTY
from ottla.connect.connector import Offset, Partition, Settings, SourceConnector, SourceContext, SourceTask
from ottla.connect.connectors.text_column import text_array
from ottla.connect.data.schema import STRING
from ottla.connect.errors import ConnectError
from ottla.connect.record import SourceRecord

_CHUNK_BYTES: Final = 1 << 20
FILENAME: Final = "filename"
POSITION: Final = "position"


class FileStreamSourceConnector(SourceConnector):
    """`file`, `topic`, `batch.size`; one task."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("file", ConfigType.STRING, None, "The file to read; standard input where it is not given.",
                  importance=Importance.HIGH),
        ConfigKey("topic", ConfigType.STRING, REQUIRED, "The topic to write to.", importance=Importance.HIGH,
                  validator=NON_EMPTY),
        ConfigKey("batch.size", ConfigType.INT, 2000, "How many records one poll may give.", importance=Importance.LOW),
    )  # fmt: skip

    def task_class(self) -> type[SourceTask]:
        """The task that reads."""
        return FileStreamSourceTask

    def alter_offsets(self, settings: Settings, offsets: Sequence[tuple[Partition, Offset | None]]) -> bool:
        """Refuses what is no place in a file."""
        if not settings.get("file"):
            raise ConnectError(
                "Offsets cannot be modified if the 'file' configuration is unspecified. "
                "This is because stdin is used for input and offsets are not tracked."
            )
        for partition, offset in offsets:
            if offset is None:
                continue
            if POSITION not in offset:
                raise ConnectError("Offset objects should either be null or contain the key 'position'")
            position = offset[POSITION]
            if not isinstance(position, int) or isinstance(position, bool):
                raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
            if position < 0:
                raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")
            if FILENAME not in partition:
                raise ConnectError("Partition objects should contain the key 'filename'")
        return True


class FileStreamSourceTask(SourceTask):
    """Reads on from where it was."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.file.FileStreamSourceTask"

    def __init__(self) -> None:
        self._name = ""
        self._topic = ""
        self._batch = 2000
        self._context: SourceContext
        self._stream: BinaryIO | None = None
        self._position = 0
        self._rest = b""
        self._at = 0
        """Up to where the rest is given already."""

    def start(self, context: SourceContext, settings: Settings) -> None:
        """Remembers what to read; the file is opened by the first poll that finds it."""
        parsed = FileStreamSourceConnector.config_def.parse(settings)
        self._name = str(parsed["file"] or "")
        self._topic = str(parsed["topic"])
        self._batch = int(str(parsed["batch.size"]))
        self._context = context
        if not self._name:
            self._stream = sys.stdin.buffer

    def poll(self) -> Sequence[SourceRecord]:
        """The lines that are complete, at most `batch.size` of them."""
        if self._stream is None and not self._opened():
            return []
        return [self._record(line, position) for line, position in self._lines()]

    def column_kind(self) -> ColumnKind | None:
        """Lines are texts."""
        return ColumnKind.STRING if self._name else None

    def poll_columns(self) -> SourceColumns | None:
        """The lines that are complete in the next piece of the file; None leaves them to `poll`."""
        if self._stream is None and not self._opened():
            return None
        if self._rest.rfind(b"\n", self._at) < 0:
            self._more()
        end = self._rest.rfind(b"\n", self._at) + 1
        values = None if end == 0 else text_array(self._rest[self._at : end])
        if values is None:
            return None
        self._position += end - self._at
        self._rest, self._at = self._rest[end:], 0
        return SourceColumns(
            topic=self._topic, values=values, source_partition={FILENAME: self._name},
            source_offset={POSITION: self._position}, timestamps=self._context.now_ms(),
        )  # fmt: skip

    def stop(self) -> None:
        """Closes the file."""
        if self._stream is not None and self._name:
            self._stream.close()
        self._stream = None

    def _opened(self) -> bool:
        try:
            stream = open(self._name, "rb")  # noqa: SIM115 - stays open between polls
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ConnectError(f"{self._name} cannot be read: {error}") from error
        stored = (self._context.offset({FILENAME: self._name}) or {}).get(POSITION, 0)
        if not isinstance(stored, int):
            stream.close()
            raise ConnectError("Offset position is the incorrect type")
        self._position = stored
        stream.seek(stored)
        self._stream = stream
        return True

    def _lines(self) -> list[tuple[bytes, int]]:
        found: list[tuple[bytes, int]] = []
        while len(found) < self._batch:
            start = self._at
            end, width = _line_end(self._rest, start)
            if end >= 0:
                self._position += end + width - start
                found.append((self._rest[start:end], self._position))
                self._at = end + width
            elif not self._more():
                break
        return found

    def _more(self) -> bool:
        """Reads on; False at the end of what is there."""
        stream = self._stream
        if stream is None:
            return False
        data = stream.read(_CHUNK_BYTES) if self._name else os.read(stream.fileno(), _CHUNK_BYTES)
        if data:
            self._rest, self._at = self._rest[self._at :] + data, 0
        return bool(data)

    def _record(self, line: bytes, position: int) -> SourceRecord:
        text = line.decode("utf-8", "replace")
        # Transforms want the moment: TimestampRouter, InsertField.
        partition: Partition = {FILENAME: self._name or None}
        offset: Offset = {POSITION: position if self._name else None}
        return SourceRecord(partition, offset, self._topic, text, value_schema=STRING, timestamp=self._context.now_ms())


def _line_end(data: bytes, start: int) -> tuple[int, int]:
    r"""The end of the first line, and the length of its line end. `\r` alone ends a line once something follows."""
    feed = data.find(b"\n", start)
    carriage = data.find(b"\r", start, feed if feed >= 0 else len(data))
    if carriage < 0:
        return feed, 1
    if carriage + 1 == len(data):
        return -1, 0
    return carriage, 2 if data[carriage + 1 : carriage + 2] == b"\n" else 1
