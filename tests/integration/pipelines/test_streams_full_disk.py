"""An application on Spark whose disk is full: it says so, waits, and goes on with nothing lost or doubled."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.streams.host.run_state import RunState
from tests.integration.pipelines.test_streams_host import counting, counts, produce, running, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

_BYTES = 24 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(path: Path) -> None:
    """Leaves no room."""
    with path.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4_096))
        except OSError:
            return


def test_it_waits_until_there_is_room(
    spark: "SparkSession", broker: Server, topic: CreateTopic, small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    first, more = [f"value {number}" for number in range(100)], [f"{'x' * 400} {number}" for number in range(3_000)]
    given = {"application_id": "full-disk", "processing_guarantee": "exactly_once_v2"}
    with running(counting(source, target), (spark, broker), small_disk, **given) as streams:
        produce(broker, source, first)
        wait_until(lambda: counts(broker, target) == {value: [1] for value in first}, streams)
        fill(small_disk / "filler")
        produce(broker, source, more)
        wait_until(lambda: caplog.text.count("is started again") >= 3, streams)
        assert "Free some space below state.dir" in caplog.text or "No space left on device" in caplog.text
        assert streams.state is RunState.RUNNING
        (small_disk / "filler").unlink()
        began = time.monotonic()
        wait_until(lambda: len(counts(broker, target)) == 3_100, streams)
        assert counts(broker, target) == {value: [1] for value in first + more}, time.monotonic() - began
