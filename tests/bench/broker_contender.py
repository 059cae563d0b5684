"""The two servers that `broker` measures, started with the same settings; and what the kernel knows about them.

Apache Kafka gets the JVM flags of its own start script. The data lies in memory where there is room: the disk is not
what is measured.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.clients.server import APACHE, CLUSTER_ID, OttlaServer
from tests.kafka.peer import KafkaServer
from tests.kafka.server import Server

SETTINGS = {
    "log_segment_delete_delay_ms": "1000",
    "log_cleaner_enable": "true",
    "num_network_threads": "3",
    "num_io_threads": "8",
}
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class BenchKafka(KafkaServer):
    """Apache Kafka as it is run in production."""

    jvm_flags = (
        "-Xmx1G",
        "-Xms1G",
        "-server",
        "-XX:+UseG1GC",
        "-XX:MaxGCPauseMillis=20",
        "-XX:InitiatingHeapOccupancyPercent=35",
        "-XX:+ExplicitGCInvokesConcurrent",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    )


def data_parent() -> str | None:
    """Where data is written: in memory, where there is room for it."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


@contextmanager
def contender(kind: str, settings: Mapping[str, str] = SETTINGS) -> Iterator[Server]:
    """A formatted server, not started yet; what it wrote is gone afterwards."""
    directory = Path(tempfile.mkdtemp(prefix=f"ottla-bench-{kind}-", dir=data_parent()))
    server = (BenchKafka if kind == APACHE else OttlaServer)(directory, **settings)
    try:
        server.format(CLUSTER_ID)
        yield server
    finally:
        server.kill()
        shutil.rmtree(directory)


def touch_memory(directory: Path, size: int) -> None:
    """Fills memory where the data lies and lets go of it: the next pages that the server writes are at hand.

    A virtual machine that gives free pages back to its host pays about 3 s of CPU for each GB that it touches again,
    several times what a broker takes, and the more, the faster the broker is.
    """
    megabyte = bytes(1_000_000)
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(size // len(megabyte)):
            file.write(megabyte)


def start_seconds(server: Server) -> float:
    """Starts it; the time until it answered Metadata."""
    start = time.perf_counter()
    server.start()
    return time.perf_counter() - start


def cpu_seconds(pid: int) -> float:
    """What the process and the children it has waited for have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def resident_bytes(server: Server) -> int:
    """The memory that the process holds."""
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * _PAGE_BYTES
