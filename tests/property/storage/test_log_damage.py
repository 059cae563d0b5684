"""Any file of a log may be damaged anywhere: it loads with records that were written, or says which file is broken."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.records.control import ControlRecordType
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import StorageError
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from tests.unit.storage.log_builder import (
    DIRECTORY,
    FROM_COORDINATOR,
    NOW_MS,
    append,
    data_batch,
    marker,
    open_log,
    produced,
)

EXAMPLES = int(os.environ.get("OTTLA_STORAGE_EXAMPLES", "150"))
FILES = tuple(
    f"{base:020d}{kind}" for base in (0, 10) for kind in (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
)


def written() -> tuple[SimulatedDisk, list[bytes]]:
    """A closed log of two segments with everything in it."""
    disk = SimulatedDisk()
    disk.make_directory("/data")
    log = open_log(disk)
    for index in range(7):
        append(log, data_batch(2, value=bytes(100), timestamp=NOW_MS + index))
        if index in (1, 4):
            append(log, produced(7, 0, index // 4, transactional=True))
            append(log, marker(7, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)
        if index == 3:
            log.roll(NOW_MS)
    log.close(NOW_MS)
    return disk, stored(log)


def checked(batch: bytes) -> bytes:
    """What of a batch can be checked: nothing says whether the leader epoch is right, in bytes 12 to 16."""
    return batch[:12] + batch[16:]


def stored(log: Log) -> list[bytes]:
    return [bytes(batch.data) for segment in log.segments for batch in segment.scan()]


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    name=st.sampled_from(FILES),
    at=st.integers(0, 1_200),
    noise=st.binary(min_size=1, max_size=20),
    cut=st.booleans(),
    shutdown=st.sampled_from(Shutdown),
)
def test_damage_is_repaired_or_named(name: str, at: int, noise: bytes, *, cut: bool, shutdown: Shutdown) -> None:
    disk, history = written()
    path = f"{DIRECTORY}/{name}"
    file = disk.open(path, Access.CREATE)
    if cut:
        file.truncate(at % (file.size() + 1))
    else:
        file.write(min(at, file.size()), [noise])
    try:
        log = open_log(disk, shutdown=shutdown)
        for offset in range(log.log_end_offset):
            log.read(offset, 1, log.log_end_offset)
        log.offset_for_timestamp(NOW_MS + 3)
        log.offset_of_max_timestamp()
        log.aborted_transactions(0, log.log_end_offset)
        found = stored(log)
    except StorageError as error:
        assert DIRECTORY in error.path  # noqa: PT017 - either outcome is fine
    else:
        if not name.endswith(".log"):
            assert found == history
        elif shutdown is Shutdown.UNCLEAN:
            assert list(map(checked, found)) == list(map(checked, history))[: len(found)]
        assert append(log, data_batch()).first_offset == log.log_end_offset - 1
