"""Connect: lines of 100 bytes, file to topic, topic to file and topic to topic, ours beside Kafka Connect's own worker

A task of each in turn, on the same broker: records a second between the first hundredth and the last that have arrived.
Ours runs as under Spark, in its attendant and its process, without the Spark that gives the slot.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.clients.server import OTTLA
from tests.clients.test_java_connect import Worker
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.kafka.peer import require_kafka
from tests.kafka.server import Server

_LINE_BYTES = 101
_FILES = "org.apache.kafka.connect.file.FileStream"
_PATIENCE_S = 600
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
Arrived = Callable[[], int]


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
        for name, measure in (("file to topic", "file_to_topic"), ("topic to file", "topic_to_file")):
            rate = getattr(ours, measure)(source, rows)
            peers = {"Kafka Connect": getattr(theirs, measure)(source, rows)} if theirs is not None else {}
            yield from _both(name, rate, peers)
        rate = ours.with_header(source, rows)
        peers = {"Kafka Connect": theirs.with_header(source, rows)} if theirs is not None else {}
        yield from _both("file to topic, a header each", rate, peers)
        yield from _both("topic to topic", ours.topic_to_topic(rows), {})


def _both(name: str, rate: float, peers: dict[str, float]) -> Iterator[Figure]:
    yield Figure(name, "records", rate, peers, "≥ 1×")
    yield Figure(
        f"{name}, bytes", "MB", rate * _LINE_BYTES / 1e6, {who: one * _LINE_BYTES / 1e6 for who, one in peers.items()}
    )


class Side:
    """One of the two, with topics of its own."""

    def __init__(self, server: Server, folder: Path, admin: Admin) -> None:
        self.server, self.folder, self.admin = server, folder, admin
        self.lines, self.copy, self.marked = (f"{name}-{self.name}" for name in ("lines", "copy", "marked"))
        admin.create_topics([NewTopic(name, 1, 1) for name in (self.lines, self.copy, self.marked)])

    name = ""

    def file_to_topic(self, source: Path, rows: int) -> float:
        """The file into the first topic."""
        config = {"connector.class": f"{_FILES}SourceConnector", "file": str(source), "topic": self.lines}
        return self.run("file-to-topic", config, lambda: self.end(self.lines), rows)

    def with_header(self, source: Path, rows: int) -> float:
        """The file into the third topic, with a transform: record by record."""
        config = {
            "connector.class": f"{_FILES}SourceConnector", "file": str(source), "topic": self.marked,
            "transforms": "mark", "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
            "transforms.mark.header": "origin", "transforms.mark.value.literal": "file",
        }  # fmt: skip
        return self.run("with-header", config, lambda: self.end(self.marked), rows)

    def topic_to_file(self, source: Path, rows: int) -> float:
        """The first topic into a file."""
        target = self.folder / f"out-{self.name}"
        config = {"connector.class": f"{_FILES}SinkConnector", "file": str(target), "topics": self.lines}
        return self.run(
            "topic-to-file", config, lambda: target.stat().st_size // _LINE_BYTES if target.exists() else 0, rows
        )

    def end(self, topic: str) -> int:
        """How many records a topic has."""
        place = TopicPartition(topic, 0)
        return self.admin.list_offsets({place: OffsetSpec.LATEST})[place].offset

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> float:
        """Records a second."""
        raise AssertionError


class Ours(Side):
    """A task in its process."""

    name = "ours"

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> float:
        """Records a second."""
        with TaskHost(self.server.bootstrap, self.folder / name, config, offset_flush_interval_ms="1000"):
            return _rate(arrived, rows)

    def topic_to_topic(self, rows: int) -> float:
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

    def run(self, name: str, config: dict[str, str], arrived: Arrived, rows: int) -> float:
        """Records a second."""
        given = {setting.replace(".", "_"): value for setting, value in config.items()}
        self.worker.put(name, **given, tasks_max="1")
        return _rate(arrived, rows)


def _theirs(server: Server, folder: Path, admin: Admin, stack: ExitStack) -> Theirs | None:
    try:
        require_kafka()
    except BaseException:  # noqa: BLE001  (a test is skipped by it; here ours is measured alone)
        return None
    worker = Worker(server, folder)
    worker.program.start()
    stack.callback(worker.program.kill)
    return Theirs(server, folder, admin, worker)


def _rate(arrived: Arrived, rows: int) -> float:
    deadline_s = time.monotonic() + _PATIENCE_S
    first: tuple[float, int] | None = None
    while (count := arrived()) < rows:
        now_s = time.monotonic()
        assert now_s < deadline_s, f"{count} of {rows} records"
        if first is None and count * 100 >= rows:
            first = (now_s, count)
        time.sleep(0.01)
    start_s, begun = first or (time.monotonic() - 0.01, 0)
    return (rows - begun) / max(time.monotonic() - start_s, 0.001)
