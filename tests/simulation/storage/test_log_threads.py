"""Readers on other threads see whole batches below their limit, while one thread appends, rolls and flushes."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ottla.protocol.records.batch import batches
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log.loader import LoadOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import NOW_MS, append, data_batch

BATCHES = 1_500


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_readers_never_see_too_much(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=5_000, segment_index_bytes=2_400, index_interval_bytes=200)
    log = Log.open(LocalDisk(), f"{tmp_path}/orders-0", config, LoadOptions("orders", 0, NOW_MS))
    done = threading.Event()
    problems: list[str] = []

    def read(seed: int) -> None:
        random = Random(seed)
        while not done.is_set() and not problems:
            end = log.high_watermark
            offset = random.randint(max(0, end - 200), end)
            found = log.read(offset, 700, end).records
            seen = [] if found is None else [batch.base_offset for batch in batches(found.read())]
            first = offset - offset % 2
            if seen != list(range(first, first + 2 * len(seen), 2)) or (seen and seen[-1] + 2 > end):
                problems.append(f"read at {offset} below {end}: {seen}")
            if found is None and offset < end:
                problems.append(f"nothing at {offset} below {end}")

    def flush() -> None:
        while not done.is_set():
            log.flush(NOW_MS)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(2)] + [threading.Thread(target=flush)]
    for thread in threads:
        thread.start()
    try:
        for index in range(BATCHES):
            append(log, data_batch(2, value=bytes(index % 150)))
            log.update_high_watermark(log.log_end_offset - 2 * (index % 2))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert problems == []
    assert log.log_end_offset == 2 * BATCHES
    assert log.offline_error is None
    assert len(log.segments) > 20
