"""Connect: lines of 100 bytes, file to topic, topic to file and topic to topic, ours beside Kafka Connect's own worker

A task of each in turn, on the same broker, at least once: records a second between the first hundredth and the last
that have arrived, and what the task's process, or Kafka Connect's, spent of the processors on each. Ours runs as under
Spark, in its attendant and its process, without the Spark that gives the slot.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from tests.bench.broker_contender import contender, cpu_seconds
from tests.bench.measure import Figure
from tests.clients.server import OTTLA
from tests.clients.test_java_connect import Worker
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.pipelines.connect.task_process import processes
from tests.kafka.peer import require_kafka
from tests.kafka.server import Server

_LINE_BYTES = 101
_FILES = "org.apache.kafka.connect.file.FileStream"
_PATIENCE_S = 600
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
Arrived = Callable[[], int]
_MEASURES = (
    ("file to topic", "file_to_topic"),
    ("topic to file", "topic_to_file"),
    ("file to topic, a header each", "with_header"),
    ("file to topic, JSON each", "as_json"),
    ("topic to file, JSON and two transforms", "from_json"),
    ("topic to topic", "topic_to_topic"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Records and bytes per second."""
    rows = 200_000 if seconds < 1 else 1_000_000
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(contender(OTTLA))
        server.start()
        admin = stack.enter_context(Admin(bootstrap_servers=server.bootstrap))
        ours = Ours(server, folder, admin)
        theirs = _theirs(server, folder, admin, stack)
        source = folder / "lines"
        source.write_bytes(b"".join(b"%0100d\n" % number for number in range(rows)))
        for name, measure in _MEASURES:
            mine = getattr(ours, measure)(source, rows)
            yield from _both(name, mine, getattr(theirs, measure)(source, rows) if theirs is not None else None)


@dataclass
class Pace:
    """How fast records moved."""

    per_s: float
    cpu_us: float
    """Of a record."""


def _both(name: str, ours: Pace, theirs: Pace | None) -> Iterator[Figure]:
    def peers(of: Callable[[Pace], float]) -> dict[str, float]:
        return {} if theirs is None else {"Kafka Connect": of(theirs)}

    def megabytes(pace: Pace) -> float:
        return pace.per_s * _LINE_BYTES / 1e6

    yield Figure(name, "records", ours.per_s, peers(lambda pace: pace.per_s), "≥ 1×")
    yield Figure(f"{name}, bytes", "MB", megabytes(ours), peers(megabytes))
    yield Figure(f"{name}, processor", "µs", ours.cpu_us, peers(lambda pace: pace.cpu_us), per=" a record")


class Side:
    """One of the two, with topics of its own."""

    def __init__(self, server: Server, folder: Path, admin: Admin) -> None:
        self.server, self.folder, self.admin = server, folder, admin
        names = [f"{name}-{self.name}" for name in ("lines", "copy", "marked", "json")]
        self.lines, self.copy, self.marked, self.json = names
        admin.create_topics([NewTopic(name, 1, 1) for name in names])

    name = ""

    def file_to_topic(self, source: Path, rows: int) -> Pace:
        """The file into the first topic."""
        config = {"connector.class": f"{_FILES}SourceConnector", "file": str(source), "topic": self.lines}
        return self.run("file-to-topic", config, lambda: self.end(self.lines), rows)

    def with_header(self, source: Path, rows: int) -> Pace:
        """The file into the third topic, with a transform that looks at no value."""
        config = {
            "connector.class": f"{_FILES}SourceConnector", "file": str(source), "topic": self.marked,
            "transforms": "mark", "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
            "transforms.mark.header": "origin", "transforms.mark.value.literal": "file",
        }  # fmt: skip
        return self.run("with-header", config, lambda: self.end(self.marked), rows)

    def as_json(self, source: Path, rows: int) -> Pace:
        """The file into the fourth topic, record by record: each line a field of a struct, written as JSON."""
        config = {
            "connector.class": f"{_FILES}SourceConnector", "file": str(source), "topic": self.json,
            "transforms": "line", "transforms.line.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.line.field": "line", "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }  # fmt: skip
        return self.run("as-json", config, lambda: self.end(self.json), rows)

    def from_json(self, source: Path, rows: int) -> Pace:
        """The fourth topic into a file: JSON is read, a field renamed and one added."""
        target = self.folder / f"json-{self.name}"
        package, width = "org.apache.kafka.connect.transforms", _LINE_BYTES + len("{text=, origin=file}")
        config = {
            "connector.class": f"{_FILES}SinkConnector", "file": str(target), "topics": self.json,
            "transforms": "name,mark", "transforms.name.type": f"{package}.ReplaceField$Value",
            "transforms.name.renames": "line:text", "transforms.mark.type": f"{package}.InsertField$Value",
            "transforms.mark.static.field": "origin", "transforms.mark.static.value": "file",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
        }  # fmt: skip
        return self.run("from-json", config, lambda: target.stat().st_size // width if target.exists() else 0, rows)

    def topic_to_file(self, source: Path, rows: int) -> Pace:
        """The first topic into a file."""
        target = self.folder / f"out-{self.name}"
        config = {"connector.class": f"{_FILES}SinkConnector", "file": str(target), "topics": self.lines}
        return self.run(
            "topic-to-file", config, lambda: target.stat().st_size // _LINE_BYTES if target.exists() else 0, rows
        )

    def has(self, topic: str) -> bool:
        """Whether there is such a topic."""
        return topic in self.admin.list_topics()

    def end(self, topic: str) -> int:
        """How many records a topic has."""
        place = TopicPartition(topic, 0)
        return self.admin.list_offsets({place: OffsetSpec.LATEST})[place].offset

    def topic_to_topic(self, source: Path, rows: int) -> Pace:
        """The first topic into another."""
        raise AssertionError

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> Pace:
        """How fast."""
        raise AssertionError


class Ours(Side):
    """A task in its process."""

    name = "ours"

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> Pace:
        """How fast."""
        with TaskHost(self.server.bootstrap, self.folder / name, config, offset_flush_interval_ms="500"):
            return _pace(arrived, rows, _of_tasks)

    def topic_to_topic(self, source: Path, rows: int) -> Pace:
        """The first topic into the second."""
        config = {
            "connector.class": "ottla.connect.TopicSource", "source.topics": self.lines, "target.topic": self.copy,
            "source.bootstrap.servers": self.server.bootstrap, "key.converter": _BYTES, "value.converter": _BYTES,
        }  # fmt: skip
        return self.run("topic-to-topic", config, lambda: self.end(self.copy), rows)


class Theirs(Side):
    """A distributed worker of Kafka's."""

    name = "theirs"

    def __init__(self, server: Server, folder: Path, admin: Admin, worker: Worker) -> None:
        super().__init__(server, folder, admin)
        self.worker = worker

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> Pace:
        """How fast."""
        given = {setting.replace(".", "_"): value for setting, value in config.items()}
        self.worker.put(name, **given, tasks_max="1")
        return _pace(arrived, rows, lambda: cpu_seconds(self.worker.program.pid))

    def topic_to_topic(self, source: Path, rows: int) -> Pace:
        """The first topic by MirrorMaker's source: of Kafka's own connectors, the only one that reads topics."""
        config = {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector", "topics": self.lines,
            "source.cluster.alias": "here", "target.cluster.alias": "there", "key.converter": _BYTES,
            "source.cluster.bootstrap.servers": self.server.bootstrap, "value.converter": _BYTES,
            "target.cluster.bootstrap.servers": self.server.bootstrap, "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1", "sync.topic.acls.enabled": "false",
            "sync.topic.configs.enabled": "false",
        }  # fmt: skip
        mirrored = f"here.{self.lines}"
        return self.run("topic-to-topic", config, lambda: self.end(mirrored) if self.has(mirrored) else 0, rows)


def _theirs(server: Server, folder: Path, admin: Admin, stack: ExitStack) -> Theirs | None:
    try:
        require_kafka()
    except BaseException:  # noqa: BLE001  (a test is skipped by it; here ours is measured alone)
        return None
    worker = Worker(server, folder)
    properties = folder / "worker.properties"
    # Tests want transactions of it; ours is measured without, too.
    properties.write_text(properties.read_text().replace("source.support=enabled", "source.support=disabled"))
    worker.program.start()
    stack.callback(worker.program.kill)
    return Theirs(server, folder, admin, worker)


def _of_tasks() -> float:
    return sum(cpu_seconds(number) for number in processes())


def _pace(arrived: Arrived, rows: int, spent_s: Callable[[], float]) -> Pace:
    deadline_s = time.monotonic() + _PATIENCE_S
    first: tuple[float, int, float] | None = None
    while (count := arrived()) < rows:
        now_s = time.monotonic()
        assert now_s < deadline_s, f"{count} of {rows} records"
        if first is None and count * 100 >= rows:
            first = (now_s, count, spent_s())
        time.sleep(0.01)
    start_s, begun, before_s = first or (time.monotonic() - 0.01, 0, 0.0)
    moved = max(rows - begun, 1)
    return Pace(moved / max(time.monotonic() - start_s, 0.001), (spent_s() - before_s) / moved * 1e6)
