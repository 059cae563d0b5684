"""The cleaning process when the broker that started it is gone."""

import subprocess
import sys
from pathlib import Path

from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.cleaner.process import STOPPED
from ottla.storage.cleaner.work_order import WorkOrder
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from tests.unit.storage.cleaner.cleaning import COMPACT, ORDERS, T0, ManualClock, WorkerHere, put


def order_for(directory: Path) -> WorkOrder:
    disk, orders = LocalDisk(), list[WorkOrder]()
    manager = LogManager(LogManagerOptions(directories=(str(directory),), disk=disk, clock=ManualClock()))
    manager.load({"orders": COMPACT})
    log = manager.get_or_create(ORDERS, None)
    put(log, ("a", "1"), ("b", "1"))
    log.roll(T0)

    def start(order: WorkOrder) -> WorkerHere:
        orders.append(order)
        return WorkerHere(disk, order)

    LogCleaner(manager, CleanerConfig(), start).clean_filthiest(T0)
    manager.shutdown()
    return orders[0]


def test_a_process_whose_broker_was_killed_ends_in_silence(tmp_path: Path) -> None:
    order = order_for(tmp_path)
    command = [sys.executable, "-m", "ottla.storage.cleaner.process"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(order.to_json() + "\n")
        process.stdin.flush()
        assert process.stderr.read() == ""
        assert process.wait() == STOPPED
