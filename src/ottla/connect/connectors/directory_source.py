"""`ottla.connect.DirectorySourceConnector`: the files of a directory, row by row; finished ones are set aside.

A file is taken when it has looked the same at two looks, so that one that is still being written waits; names that
begin with a dot never are. Its offset is `{"row", "done", "version"}`; the version is size and time of change, so a
new file under an old name is read from its beginning. Files are set aside when the offset that says `done` is stored.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import NON_EMPTY, AnyOf, InRange
from ottla.connect.connector import Settings, SourceConnector, SourceContext, SourceTask
from ottla.connect.connectors.file_format import FORMATS, CsvOption, rows_from
from ottla.connect.data.schema import SchemaAndValue
from ottla.connect.errors import ConnectError, InvalidConfigError
from ottla.connect.record import SourceRecord

NUMBER: Final = "ottla.task.number"
COUNT: Final = "ottla.task.count"
_LOOKS_MAX: Final = 5
"""Polls without a row after which the directory is looked at again, so that idling costs little."""


class DirectorySourceConnector(SourceConnector):
    """Files come, and become records."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("directory", ConfigType.STRING, REQUIRED, "Where files arrive.", importance=Importance.HIGH,
                  validator=NON_EMPTY),
        ConfigKey("topic", ConfigType.STRING, REQUIRED, "The topic to write to.", importance=Importance.HIGH,
                  validator=NON_EMPTY),
        ConfigKey("format", ConfigType.STRING, "text", "csv, jsonl, parquet or text.", importance=Importance.HIGH,
                  validator=AnyOf(*FORMATS)),
        ConfigKey("file.pattern", ConfigType.STRING, "*", "Which files: * and ? stand for any letters.",
                  validator=NON_EMPTY),
        ConfigKey("finished", ConfigType.STRING, "mark", "What becomes of a file that is read: `mark` adds .done to "
                  "its name, `move` moves it, `keep` leaves it.", validator=AnyOf("mark", "move", "keep")),
        ConfigKey("finished.directory", ConfigType.STRING, "", "Where `move` moves files, on the same file system."),
        ConfigKey("batch.size", ConfigType.INT, 1_000, "How many rows one poll may give.", validator=InRange(1)),
        ConfigKey("csv.delimiter", ConfigType.STRING, ",", "What stands between columns."),
        ConfigKey("csv.header", ConfigType.BOOLEAN, True, "Whether the first row has the names of the columns."),
    )  # fmt: skip

    def validate(self, settings: Settings) -> dict[str, list[str]]:
        """Checks settings against each other: error messages by the name of the setting."""
        try:
            _check(self.config_def.parse(settings))
        except InvalidConfigError:
            return {}
        except ConnectError as error:
            return {"finished.directory" if "finished" in str(error) else "csv.delimiter": [str(error)]}
        return {}

    def task_class(self) -> type[SourceTask]:
        """The task that reads."""
        return DirectorySourceTask

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        """Files are dealt out by their names."""
        return [{**self.settings, NUMBER: str(number), COUNT: str(tasks_max)} for number in range(tasks_max)]


def _check(parsed: dict[str, object]) -> None:
    if parsed["finished"] == "move" and not parsed["finished.directory"]:
        raise ConnectError("finished=move needs finished.directory")
    if len(str(parsed["csv.delimiter"])) != 1:
        raise ConnectError("csv.delimiter has to be one character")


class DirectorySourceTask(SourceTask):
    """Reads the files that are its share, one after the other."""

    def __init__(self) -> None:
        self._context: SourceContext
        self._parsed: dict[str, object] = {}
        self._share = (0, 1)
        self._seen: dict[str, str] = {}
        self._done: set[tuple[str, str]] = set()
        """Names and versions of files that were read to their end."""
        self._finished: list[Path] = []
        """Read, and to be set aside at the next commit."""
        self._file: Path | None = None
        self._rows: Iterator[SchemaAndValue] = iter(())
        self._row = 0
        self._ahead: list[SchemaAndValue] = []
        self._idle = 0

    def start(self, context: SourceContext, settings: Settings) -> None:
        """Remembers what to read."""
        self._context = context
        self._parsed = DirectorySourceConnector.config_def.parse(settings)
        _check(self._parsed)
        self._share = int(settings.get(NUMBER, "0")), int(settings.get(COUNT, "1"))

    def poll(self) -> Sequence[SourceRecord]:
        """The next rows of the file that is being read, or of the next one."""
        if self._file is None:
            self._next_file()
        return [] if self._file is None else self._next_rows(self._file)

    def commit(self) -> None:
        """Sets finished files aside: their offsets are stored."""
        for path in self._finished:
            self._set_aside(path)
        self._finished.clear()

    def _next_file(self) -> None:
        self._idle += 1
        if self._idle % _LOOKS_MAX != 1 and not self._seen:
            return
        seen = self._look()
        ready = sorted(name for name, version in seen.items() if self._seen.get(name) == version)
        self._seen = seen
        for name in ready:
            if self._begins(name, seen[name]):
                return

    def _look(self) -> dict[str, str]:
        """The files that are this task's and not done, with their versions."""
        number, count = self._share
        pattern = str(self._parsed["file.pattern"])
        found: dict[str, str] = {}
        try:
            entries = list(os.scandir(self._folder))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ConnectError(f"{self._folder} cannot be read: {error}") from error
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name.endswith(".done") or not fnmatchcase(name, pattern):
                continue
            if zlib.crc32(name.encode("utf-8", "surrogateescape")) % count != number or not entry.is_file():
                continue
            state = entry.stat()
            version = f"{state.st_size}-{state.st_mtime_ns}"
            if (name, version) not in self._done:
                found[name] = version
        return found

    def _begins(self, name: str, version: str) -> bool:
        """Opens a file where it was left; False if it was read to its end before."""
        path = self._folder / name
        stored = self._context.offset({"file": str(path)}) or {}
        is_known = stored.get("version") == version
        if is_known and stored.get("done") is True:
            self._done.add((name, version))
            self._finished.append(path)
            self.commit()
            return False
        row = stored.get("row") if is_known else 0
        self._row = row if isinstance(row, int) else 0
        option = CsvOption(str(self._parsed["csv.delimiter"]), self._parsed["csv.header"] is True)
        self._rows = rows_from(str(self._parsed["format"]), path, self._row, option)
        self._file, self._ahead, self._idle = path, list(islice(self._rows, 1)), 0
        return True

    def _next_rows(self, path: Path) -> list[SourceRecord]:
        """Reads one row ahead, so that the last record says that the file is done."""
        version = self._seen.get(path.name, "")
        taken = [*self._ahead, *islice(self._rows, int(str(self._parsed["batch.size"])))]
        self._ahead = taken[-1:] if len(taken) > int(str(self._parsed["batch.size"])) else []
        given = taken[: len(taken) - len(self._ahead)]
        is_done = not self._ahead
        partition, topic = {"file": str(path)}, str(self._parsed["topic"])
        records = []
        for index, row in enumerate(given):
            self._row += 1
            offset = {"row": self._row, "done": is_done and index == len(given) - 1, "version": version}
            records.append(SourceRecord(partition, offset, topic, row.value, value_schema=row.schema))
        if is_done:
            self._done.add((path.name, version))
            self._finished.append(path)
            self._seen.pop(path.name, None)
            self._file = None
            if not records:
                # No offset will be stored for it.
                self.commit()
        return records

    def _set_aside(self, path: Path) -> None:
        how = self._parsed["finished"]
        try:
            if how == "mark":
                path.rename(path.with_name(f"{path.name}.done"))
            elif how == "move":
                target = Path(str(self._parsed["finished.directory"]))
                target.mkdir(parents=True, exist_ok=True)
                path.rename(target / path.name)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConnectError(f"{path} cannot be set aside: {error}") from error

    @property
    def _folder(self) -> Path:
        return Path(str(self._parsed["directory"]))
