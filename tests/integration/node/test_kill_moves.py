"""kill -9 while logs roll and move between directories, and while a node starts: each record is there once, in order.

`OTTLA_TEST_KILLS=200` makes it a long one.
"""

import os
import random
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from ottla.client import Admin, NewTopic
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.integration.node.writing import Writer, until
from tests.kafka.wire import Wire

KILLS = int(os.environ.get("OTTLA_TEST_KILLS", "5"))
PARTITIONS = 3
BUSY = {
    "log_flush_offset_checkpoint_interval_ms": "300",
    "replica_high_watermark_checkpoint_interval_ms": "200",
    "metadata_log_max_record_bytes_between_snapshots": "3000",
}


class StoppableServer(OttlaServer):
    """A node that may be killed before it serves anybody."""

    def start_and_kill(self, seconds: float) -> None:
        """Kills it so many seconds after it was started."""
        with self._output.open("ab") as output:
            process = subprocess.Popen(self._serve_command(), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        process.wait()


class Mover:
    """Moves one partition after the other to the one directory, then to the other."""

    def __init__(self, server: OttlaServer, directories: list[str]) -> None:
        self._server = server
        self._directories = directories
        self._stopping = threading.Event()
        self.moves = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stopping.wait(0.05):
            path = self._directories[number // PARTITIONS % 2]
            topic = AlterReplicaLogDirTopic(name="orders", partitions=[number % PARTITIONS])
            with suppress(OSError, EOFError), Wire(self._server.address, timeout=10) as wire:
                wire.ask(AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])]), 2)
                self.moves += 1
            number += 1

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(120)


def go_on(writers: list[Writer], mover: Mover, records: int, moves: int) -> None:
    """Returns after that many more."""
    wanted = sum(writer.acknowledged for writer in writers) + records
    moved = mover.moves + moves
    until(lambda: sum(writer.acknowledged for writer in writers) >= wanted and mover.moves >= moved)


@pytest.mark.long
def test_kill_at_any_time(tmp_path: Path) -> None:
    directories = [str(tmp_path / "a"), str(tmp_path / "b")]
    server = StoppableServer(tmp_path, log_dirs=",".join(directories), metadata_log_dir=directories[0], **BUSY)
    server.format(CLUSTER_ID)
    server.start()
    dice = random.Random(KILLS)
    try:
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            configs = {"segment.bytes": "1048576", "index.interval.bytes": "512"}
            admin.create_topics([NewTopic("orders", PARTITIONS, 1, configs=configs)])
        writers = [
            Writer(server.bootstrap, "orders", index, value_bytes=60_000, pause_s=0.002) for index in range(PARTITIONS)
        ]
        mover = Mover(server, directories)
        try:
            for _ in range(KILLS):
                go_on(writers, mover, dice.randrange(3, 60), dice.randrange(3))
                server.kill()
                for _ in range(dice.randrange(3)):
                    server.start_and_kill(dice.random())
                server.start()
        finally:
            mover.stop()
        for writer in writers:
            writer.stop()
            writer.check(server.bootstrap)
    finally:
        server.kill()
