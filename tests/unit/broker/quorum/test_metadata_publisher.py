"""Images follow the log: in order, in portions, from snapshots, and whatever a listener does."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.base.errors import OttlaError
from ottla.broker.quorum.metadata_publisher import RECORDS_PER_TURN
from ottla.metadata.controller.context import Caller
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from tests.unit.broker.quorum.rig import DIRECTORY, PATIENCE_S, Replica, config, formatted_disk, quota, until

USERS = 4 * RECORDS_PER_TURN


class Recorder:
    """A listener that writes down what it hears, and fails if told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.offsets: list[int] = []
        self._error = error

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.offsets.append(image.provenance.offset)
        if self._error is not None:
            raise self._error


def run(scenario: Callable[[SimulatedDisk], Awaitable[None]]) -> None:
    async def start() -> None:
        await scenario(formatted_disk(config()))

    asyncio.run(start())


def _anyhow(replica: Replica) -> bool:
    return True


def _has_snapshot(replica: Replica) -> bool:
    latest = replica.member.store.snapshots.latest_id
    return latest is not None and latest.offset > 100


async def fill(disk: SimulatedDisk, done: Callable[[Replica], bool] = _anyhow, **settings: str) -> Replica:
    """A log with many small batches; the replica that wrote it has stopped, once it was `done`."""
    replica = Replica(disk, config(**settings))
    await until(lambda: replica.driver.is_active)
    for number in range(0, USERS, 10):
        replica.driver.submit(quota(*(f"user{number + place}" for place in range(10))), Caller(api_version=1))
        await asyncio.sleep(0)
    await replica.ask(quota("last"))
    rate = 1.0
    async with asyncio.timeout(PATIENCE_S):
        while not done(replica):
            # A snapshot that became due while another was written begins with the next records. A quota that stays as
            # it is makes none.
            rate += 1
            await replica.ask(quota("last", rate=rate))
            await asyncio.sleep(0.001)
    await replica.member.stop(1000)
    return replica


def test_a_long_log_is_replayed_in_portions_and_others_have_their_turn() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        await fill(disk)
        replica = Replica(disk, config())
        recorder = Recorder()
        replica.member.metadata.add_listener(recorder)
        turns = 0
        while not replica.driver.is_active:
            await asyncio.sleep(0)
            turns += 1
        assert turns > USERS // RECORDS_PER_TURN
        assert len(replica.member.metadata.image.client_quotas) == USERS + 1
        assert recorder.offsets == sorted(recorder.offsets)
        await replica.member.stop(1000)

    run(scenario)


def test_a_snapshot_is_written_in_portions_and_the_next_start_begins_with_it() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        small = {"metadata_log_max_record_bytes_between_snapshots": "20000"}
        await fill(disk, _has_snapshot, **small)
        names = disk.list(f"{DIRECTORY}/__cluster_metadata-0")
        assert any(name.endswith(".checkpoint") for name in names)

        replica = Replica(disk, config(**small))
        # The stop may have come in the middle of another one: what there is of it goes at the start.
        assert not any(name.endswith(".part") for name in disk.list(f"{DIRECTORY}/__cluster_metadata-0"))
        await until(lambda: replica.driver.is_active)
        latest = replica.member.store.snapshots.latest_id
        assert latest is not None
        assert latest.offset > 100
        assert len(replica.member.metadata.image.client_quotas) == USERS + 1
        await replica.member.stop(1000)

    run(scenario)


def test_old_snapshots_go_with_the_log_before_them() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        small = {
            "metadata_log_max_record_bytes_between_snapshots": "20000",
            "metadata_max_retention_bytes": "50000",
        }
        store = (await fill(disk, lambda replica: replica.member.store.log.start_offset > 0, **small)).member.store
        assert store.log.start_offset > 0
        assert store.snapshots.earliest_id is not None
        assert store.snapshots.earliest_id.offset == store.log.start_offset

        replica = Replica(disk, config(**small))
        await until(lambda: replica.driver.is_active)
        assert len(replica.member.metadata.image.client_quotas) == USERS + 1
        await replica.member.stop(1000)

    run(scenario)


def test_a_snapshot_that_cannot_be_written_does_no_harm() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        disk.fail(Fault("flush", path_ending=".part"))
        replica = await fill(disk, metadata_log_max_record_bytes_between_snapshots="20000")
        assert replica.failures == []
        names = disk.list(f"{DIRECTORY}/__cluster_metadata-0")
        assert not any(name.endswith(".checkpoint") for name in names)

        again = Replica(disk, config())
        await until(lambda: again.driver.is_active)
        assert len(again.member.metadata.image.client_quotas) == USERS + 1
        assert not any(name.endswith(".part") for name in disk.list(f"{DIRECTORY}/__cluster_metadata-0"))
        await again.member.stop(1000)

    run(scenario)


@pytest.mark.parametrize("error", [OttlaError("cannot follow"), RuntimeError("a mistake")])
def test_a_listener_that_fails_holds_nobody_up(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        replica.member.metadata.loader._listeners.append(Recorder(error))
        behind = Recorder()
        replica.member.metadata.add_listener(behind)
        await replica.ask(quota("ann"))
        assert behind.offsets[-1] == replica.member.metadata.image.provenance.offset
        assert replica.failures == []
        assert replica.member.metadata.apply_errors.value
        assert not replica.member.metadata.load_errors.value
        assert {record.exc_info[1] for record in caplog.records if record.exc_info} == {error}
        await replica.member.stop(1000)

    run(scenario)


def test_catching_up_is_told_once_all_that_is_committed_is_in_the_image() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        await fill(disk)
        replica = Replica(disk, config())
        assert await replica.member.catch_up(20.0)
        assert len(replica.member.metadata.image.client_quotas) == USERS + 1
        await replica.member.stop(1000)

    run(scenario)


def test_an_image_is_level_with_the_log_once_it_holds_what_was_written_before() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        metadata = replica.member.metadata
        seen: list[int] = []
        # What a new controller writes by itself may still be on its way.
        metadata.when_level(lambda: seen.append(len(metadata.image.client_quotas)))
        await until(lambda: len(seen) == 1)
        assert seen == [0]
        replica.driver.submit(quota("ann"), Caller(api_version=1))
        metadata.when_level(lambda: seen.append(len(metadata.image.client_quotas)))
        assert seen == [0]
        await until(lambda: len(seen) == 2)
        assert seen == [0, 1]
        await replica.member.stop(1000)

    run(scenario)
