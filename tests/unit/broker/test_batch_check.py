"""`num.io.threads`: as many threads check batches, also when that changes while they do. What waits counts."""

import asyncio
import os
import random
from pathlib import Path

from ottla.base.ids import Uuid
from ottla.base.system_clock import SystemClock
from ottla.broker.batch_check import BatchChecks
from ottla.broker.node.broker_setting import check_threads
from ottla.net.request_memory import RequestMemory
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.replication.request.produce import AppendEntry
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.unit.broker.config.settings import config_of

REQUESTS = 4


def log_manager(directory: Path) -> LogManager:
    logs = LogManager(LogManagerOptions(directories=(str(directory),), disk=LocalDisk(), clock=SystemClock()))
    logs.load()
    logs.get_or_create(TopicPartition("orders", 0), Uuid(b"orders".ljust(16)))
    return logs


def compressed_batch() -> bytes:
    records = [(0, 1_794_800_000_000, None, random.Random(1).randbytes(60_000), ())]
    return bytes(write_batch(records, BatchOptions(compression=CompressionType.GZIP)))


def test_no_more_threads_than_cores_and_no_more_than_told() -> None:
    assert check_threads(config_of(num_io_threads="1")) == 1
    assert check_threads(config_of(num_io_threads="100000")) == os.cpu_count()


def test_batches_that_wait_count_as_requests_that_are_not_handled(tmp_path: Path) -> None:
    logs, batch = log_manager(tmp_path), compressed_batch()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        memory = RequestMemory(REQUESTS * len(batch))
        checks = BatchChecks(logs, SystemClock(), Mailbox(loop), 1, memory)
        answers = [loop.create_future() for _ in range(REQUESTS)]
        for answer in answers:
            assert not memory.is_full
            assert checks.begin([AppendEntry("orders", 0, bytearray(batch))], answer.set_result)
        assert memory.is_full
        await asyncio.wait_for(asyncio.gather(*answers), 60)
        assert memory.used_bytes == 0
        checks.close()

    asyncio.run(run())


def test_the_number_of_threads_follows_the_setting(tmp_path: Path) -> None:
    logs, batch = log_manager(tmp_path), compressed_batch()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        checks = BatchChecks(logs, SystemClock(), Mailbox(loop), 1)

        async def check() -> None:
            answers = [loop.create_future() for _ in range(REQUESTS)]
            for answer in answers:
                assert checks.begin([AppendEntry("orders", 0, bytearray(batch))], answer.set_result)
            await asyncio.wait_for(asyncio.gather(*answers), 60)

        await check()
        assert len(checks._threads) == 1
        checks.change_threads(3)
        await check()
        threads = dict(checks._threads)
        assert sorted(threads) == [0, 1, 2]
        checks.change_threads(1)
        for number in (1, 2):
            threads[number].join(60)
        assert [thread.is_alive() for thread in threads.values()] == [True, False, False]
        await check()
        checks.change_threads(2)
        await check()
        assert [number for number, thread in checks._threads.items() if thread.is_alive()] == [0, 1]
        checks.close()

    asyncio.run(run())
