"""Connectors that behave as anybody's may: they count, raise, print, hang, exit and lose patience."""

import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ottla.connect.connector import (
    Settings,
    SinkConnector,
    SinkContext,
    SinkTask,
    SourceConnector,
    SourceContext,
    SourceTask,
)
from ottla.connect.errors import DataError, RetriableError
from ottla.connect.record import SinkRecord, SourceRecord


class Counter(SourceConnector):
    """`count` numbers for each task, `batch` at a time."""

    def task_class(self) -> type[SourceTask]:
        return CounterTask

    def defines_transactions(self, settings: Settings) -> bool:
        return True

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        return [{"number": str(number)} for number in range(tasks_max)]


class CounterTask(SourceTask):
    def start(self, context: SourceContext, settings: Settings) -> None:
        self._name = {"counter": settings["number"]}
        self._next = int(str((context.offset(self._name) or {}).get("next", 0)))
        self._count, self._topic = int(settings["count"]), settings["topic"]
        self._batch = int(settings.get("batch", "100"))
        self._trouble = settings.get("trouble", "")
        self._transaction = context.transaction
        self._secret = settings.get("secret", "says nobody")
        self._flag = Path(settings.get("flag", "/none"))

    def poll(self) -> Sequence[SourceRecord]:
        self._make_trouble()
        end = min(self._next + self._batch, self._count)
        found = [
            SourceRecord(self._name, {"next": number + 1}, self._topic, f"{self._name['counter']}:{number}")
            for number in range(self._next, end)
        ]
        self._next = end
        if self._transaction is not None:
            # Transactions of ten; the fifth is given up, and the last one is not ended.
            for record in found:
                number = int(str(record.value).partition(":")[2])
                if number % 10 == 9:
                    (self._transaction.abort if number == 49 else self._transaction.commit)(record)
        return found

    def _make_trouble(self) -> None:
        if self._next < self._count // 2 or not self._trouble or self._flag.exists():
            return
        if self._trouble != "always":
            self._flag.touch()
        if self._trouble == "exit":
            os._exit(3)
        if self._trouble == "print":
            print('{"say": "failed", "trace": "printed"}', flush=True)
            print(b"\xff\x00", file=sys.stderr)
            os.write(1, b"\xff\xfe no JSON \n")
            return
        if self._trouble == "leak":
            self._kept = [bytearray(50_000_000), *(os.open("/dev/null", os.O_RDONLY) for _ in range(200))]
            for _ in range(20):
                threading.Thread(target=time.sleep, args=(3_600,)).start()
            return
        if self._trouble == "hang":
            time.sleep(3_600)
        raise DataError(f"half is enough, {self._secret}")


class Keeper(SinkConnector):
    """Appends a line of JSON for each record to `file`, at `flush`; refuses values as it is told."""

    def task_class(self) -> type[SinkTask]:
        return KeeperTask


class KeeperTask(SinkTask):
    def start(self, context: SinkContext, settings: Settings) -> None:
        self._context, self._file = context, Path(settings["file"])
        self._refused, self._given_up = settings.get("retry", ""), settings.get("report", "")
        self._patience = Path(settings["patience"]) if "patience" in settings else None
        self._kept: list[str] = []
        self._tries = 0

    def put(self, records: Sequence[SinkRecord]) -> None:
        is_over = self._tries >= 2 if self._patience is None else self._patience.exists()
        if any(record.value == self._refused for record in records) and not is_over:
            self._tries += 1
            raise RetriableError("not now")
        for record in records:
            if record.value == self._given_up:
                self._context.report(record, DataError("no room for it"))
                continue
            place = [record.topic, record.original_partition, record.offset, record.timestamp, record.timestamp_type]
            headers = [[header.key, header.value] for header in record.headers]
            self._kept.append(json.dumps([*place, record.key, record.value, headers]))

    def flush(self, offsets: Mapping[tuple[str, int], int]) -> None:
        with self._file.open("a") as file:
            file.write("".join(f"{line}\n" for line in self._kept))
        self._kept.clear()


class Poster(SinkConnector):
    """Posts the values of each batch to a service on this machine; one that is away is tried again."""

    def task_class(self) -> type[SinkTask]:
        return PosterTask


class PosterTask(SinkTask):
    def start(self, context: SinkContext, settings: Settings) -> None:
        self._port = int(settings["port"])

    def put(self, records: Sequence[SinkRecord]) -> None:
        if not records:
            return
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("POST", "/", json.dumps([record.value for record in records]))
            connection.getresponse().read()
        except OSError as error:
            raise RetriableError(f"the service is away: {error}") from error
        finally:
            connection.close()
