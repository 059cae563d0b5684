"""The power goes at every single operation of a run; the log that comes back keeps its promises.

`OTTLA_STORAGE_SEEDS=200` runs more of them; a failure names its seed and cut.
"""

import os
from dataclasses import replace
from random import Random

import pytest

from ottla.storage.disk.simulated import PowerCut, SimulatedDisk
from ottla.storage.log.loader import Shutdown
from tests.simulation.storage.workload import Workload, check_recovered
from tests.unit.storage.append_thread import Thread
from tests.unit.storage.log_builder import NOW_MS, SMALL, append, data_batch, open_log

SEEDS = int(os.environ.get("OTTLA_STORAGE_SEEDS", "8"))
STEPS = 28


def workload(seed: int) -> Workload:
    disk = SimulatedDisk()
    disk.make_directory("/data")
    disk.flush_directory("/")
    thread = Thread() if seed % 4 >= 2 else None
    return Workload(disk, Random(seed), config=replace(SMALL, preallocate=seed % 2 == 1), thread=thread)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_log_survives_a_power_cut_at_every_operation(seed: int) -> None:
    whole = workload(seed)
    before = whole.disk.operations
    whole.run(STEPS)
    for cut in range(whole.disk.operations - before):
        run = workload(seed)
        run.disk.cut_after(cut)
        with pytest.raises(PowerCut):
            run.run(STEPS)
        try:
            _recover(run, Random(seed * 1_000 + cut))
        except Exception as error:
            error.add_note(f"replay: seed {seed}, cut {cut}")
            raise


def _recover(run: Workload, random: Random) -> None:
    run.disk.crash(random)
    if random.random() < 0.4:
        _cut_recovery(run, random)
    log = run.opened()
    stored = check_recovered(log, run.history, run.recovery_point, run.log_start_seen)
    batch = data_batch(2)
    info = append(log, batch, run.epoch + 1)
    assert info.first_offset == log.log_end_offset - 2
    stored.append(bytes(batch))
    log.flush(NOW_MS)
    log.close(NOW_MS)
    run.disk.crash(random)
    bounds = {"recovery_point": log.recovery_point, "log_start_offset": log.log_start_offset}
    again = open_log(run.disk, run.config, shutdown=Shutdown.CLEAN, **bounds)
    check_recovered(again, stored, log.log_end_offset, run.log_start_seen)


def _cut_recovery(run: Workload, random: Random) -> None:
    """The power goes again while the log is being repaired."""
    run.disk.cut_after(random.randint(0, 12))
    try:
        run.opened()
    except PowerCut:
        run.disk.crash(random)
    else:
        run.disk.cut_after(10**9)
