"""Compaction against a model of a few lines, under random appends, rolls, waits, cleanings and restarts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner import batch_filter, compaction, key_map, key_map_plain
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.log import Log
from tests.unit.storage.cleaner.cleaning import COMPACT, ORDERS, ManualClock, cleaner_of, manager_on
from tests.unit.storage.log_builder import records

RETENTION_MS = 1000
TOPICS: dict[str, dict[str, object]] = {"orders": {**COMPACT, "delete.retention.ms": str(RETENTION_MS)}}

batches = st.tuples(
    st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 60)), min_size=1, max_size=5),
    st.sampled_from(CompressionType),
    st.booleans(),
)
rounds = st.tuples(
    st.lists(batches, max_size=4), st.sampled_from(["clean", "roll", "restart"]), st.sampled_from([0, 1, 600, 1100])
)


class Model:
    """What compaction promises: the last of each key stays, tombstones until their horizon, nothing moves."""

    def __init__(self) -> None:
        self.records: list[RecordTuple] = []
        self._horizons: dict[int, int] = {}

    def clean(self, clean_offset: int, now_ms: int) -> None:
        last = {key: offset for offset, _, key, _, _ in self.records if offset < clean_offset}
        self.records = [
            record
            for record in self.records
            if record[0] >= clean_offset
            or (last[record[2]] == record[0] and (record[3] is not None or now_ms < self._horizon(record[0], now_ms)))
        ]

    def _horizon(self, offset: int, now_ms: int) -> int:
        return self._horizons.setdefault(offset, now_ms + RETENTION_MS)


@contextmanager
def twin(name: str) -> Iterator[None]:
    module = key_map_plain if name == "plain" else key_map
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "KeyMap", module.KeyMap)
        patch.setattr(batch_filter, "rewrite", module.rewrite)
        yield


def append(log: Log, model: Model, batch: list[tuple[int, int | None]], options: BatchOptions, now_ms: int) -> None:
    found: list[RecordTuple] = [
        (index, now_ms - index, b"key-%d" % key, None if size is None else b"v" * size, (("n", b"%d" % index),))
        for index, (key, size) in enumerate(batch)
    ]
    first = log.append_as_leader(write_batch(found, options), 0, now_ms).first_offset
    log.update_high_watermark(log.log_end_offset)
    model.records += [(first + index, *rest) for index, *rest in found]


@pytest.mark.parametrize("name", ["plain", "compiled"])
@settings(max_examples=60, deadline=None)
@given(steps=st.lists(rounds, max_size=12))
def test_compaction_keeps_what_the_model_keeps(name: str, steps: list[Any]) -> None:
    with twin(name):
        run(steps)


def run(steps: list[Any]) -> None:
    disk, clock, model = SimulatedDisk(), ManualClock(), Model()
    manager = manager_on(disk, clock, TOPICS)
    log = manager.get_or_create(ORDERS, None)
    sequence = 0
    for appended, ending, wait_ms in steps:
        for batch, codec, is_idempotent in appended:
            options = BatchOptions(compression=codec)
            if is_idempotent:
                options = BatchOptions(compression=codec, producer_id=9, producer_epoch=0, base_sequence=sequence)
                sequence += len(batch)
            append(log, model, batch, options, clock.time_ms)
        clock.time_ms += wait_ms
        if ending == "restart":
            manager.shutdown()
            manager = manager_on(disk, clock, TOPICS)
            log = manager.get_or_create(ORDERS, None)
        else:
            log.roll(clock.time_ms)
        if ending == "clean":
            finished = cleaner_of(manager, disk).clean_filthiest(clock.time_ms)
            if finished is not None:
                model.clean(finished.clean_offset, clock.time_ms)
        assert records(log) == model.records
    end = log.log_end_offset
    manager.shutdown()
    assert manager_on(disk, clock, TOPICS).get_or_create(ORDERS, None).log_end_offset == end
