"""Connectors of columns as anybody may write them, and what may sit between them and a topic."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ottla.base.config import ConfigKey
from ottla.base.config_type import ConfigType
from ottla.client.config.settings import ClientSettings
from ottla.client.producer.interceptor import ProducerRecord
from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.connector import Settings, SinkConnector, SinkTask, SourceConnector, SourceContext, SourceTask

_NAME = {"blocks": "only"}


class Blocks(SourceConnector):
    """`count` values in blocks of `block`, by columns alone; `form` says what else they have."""

    def task_class(self) -> type[SourceTask]:
        return BlocksTask


class BlocksTask(SourceTask):
    has_column_keys = True

    def start(self, context: SourceContext, settings: Settings) -> None:
        self._settings = settings
        self._next = int(str((context.offset(_NAME) or {}).get("next", 0)))

    def column_kind(self) -> ColumnKind | None:
        return ColumnKind(self._settings.get("kind", "string"))

    def poll_columns(self) -> SourceColumns | None:
        count, block = int(self._settings["count"]), int(self._settings.get("block", "100"))
        numbers = range(self._next, min(self._next + block, count))
        if not numbers:
            return None
        self._next = numbers.stop
        has = self._settings.get("has", "")
        values = [f"v{number}" for number in numbers]
        if "large" in has:
            values[-1] = "x" * 2_000_000
        kind = pa.large_binary() if self.column_kind() is ColumnKind.BYTES else pa.large_string()
        return SourceColumns(
            topic=self._settings["topic"],
            values=pa.chunked_array([[value] for value in values], pa.string()).cast(kind),
            source_partition=_NAME,
            source_offset={"next": self._next},
            keys=pa.array([f"k{number % 7}" for number in numbers]).cast(kind) if "keys" in has else None,
            timestamps=pa.array([number * 1_000 for number in numbers], pa.timestamp("us")) if "times" in has else None,
            headers=(("h", b"7"),) if "headers" in has else (),
        )


class LastPartition:
    """All records to the last partition, but those of the first keys; `first.keys` is a setting of its own."""

    config_keys = (ConfigKey("first.keys", ConfigType.LIST, (), doc="Keys of partition 0."),)

    def configure(self, settings: ClientSettings) -> None:
        self._first = settings.list("first.keys")

    def partition(
        self, topic: str, key: object, key_bytes: bytes | None, value: object, value_bytes: bytes | None, view: Any
    ) -> int:
        return 0 if (key_bytes or b"").decode() in self._first else max(view.topics[topic].partitions)


class Stamp:
    """Adds a header to each record."""

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return record._replace(headers=[*record.headers, ("stamp", b"1")])


class Without:
    """Leaves out the records of one value."""

    def on_consume(self, records: Any) -> Any:
        return [record for record in records if record.value != b"a"]


class Texts(SinkConnector):
    """Appends a line of JSON for each value to `file`."""

    def task_class(self) -> type[SinkTask]:
        return TextsTask


class TextsTask(SinkTask):
    takes_texts = True

    def start(self, context: object, settings: Settings) -> None:
        self._file, self._lines = Path(settings["file"]), list[str]()

    def put(self, records: Sequence[Any]) -> None:
        self._lines += [json.dumps(["row", record.value]) for record in records]

    def put_texts(self, values: Any) -> None:
        self._lines += [json.dumps(["text", value]) for value in values.to_pylist()]

    def flush(self, offsets: Mapping[tuple[str, int], int]) -> None:
        with self._file.open("a") as file:
            file.write("".join(f"{line}\n" for line in self._lines))
        self._lines.clear()
