"""The Spark settings that Ottla's pipelines run with, each with what it buys.

The effects are those of `python -m tests.bench spark_profile`, which runs small work with and without one setting in
turn: how much is left of the time, or of the CPU. A setting that shows no effect, or is Spark's own default, has no
place here. `TUNED` is for any cluster, `LOCAL` in addition for a driver and its checkpoints on one machine.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Setting(NamedTuple):
    """One Spark setting."""

    name: str
    value: str
    effect: str


TUNED: Final[Sequence[Setting]] = (
    Setting(
        "spark.python.daemon.module",
        "ottla.pipelines.daemon",
        "no full garbage collection after each task of a reused worker: 0.57 of the time and 0.64 of the CPU for a "
        "job of eight small tasks in Python; nothing for our source and sink alone, which put aside what they load",
    ),
    Setting(
        "spark.python.unix.domain.socket.enabled",
        "true",
        "the JVM and its Python workers talk without TCP: 0.87 of the time and 0.85 of the CPU of the same job",
    ),
    Setting(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "state outside of the heap, of which 0.08 is left (2.8 of 34 MB for 200,000 keys at most); it is paid for: "
        "1.75 times the time and 1.46 times the CPU of a micro-batch that counts them. Frozen into a checkpoint at "
        "its first start, so it is there from the first day",
    ),
    Setting(
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
        "true",
        "a batch uploads what changed, not the state: 0.43 of the bytes, 0.83 of the time of that micro-batch, and as"
        " much CPU; lets `readChangeFeed` show it",
    ),
    Setting(
        "spark.sql.session.timeZone",
        "UTC",
        "timestamps mean the same on every machine; not for speed",
    ),
    Setting(
        "spark.scheduler.mode",
        "FAIR",
        "a large batch of one query does not hold the others up: 0.38 of the time for a small job beside one that has"
        " more tasks than there are cores",
    ),
)

LOCAL: Final[Sequence[Setting]] = (
    Setting(
        "spark.sql.streaming.checkpointFileManagerClass",
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
        "0.22 of the time for the two notes of a micro-batch in its checkpoint, 0.53 of the CPU of one that has "
        "little else to do; for local directories alone",
    ),
    Setting(
        "spark.sql.shuffle.partitions",
        "2",
        "one task for each core of a small machine: 0.19 of the time and 0.13 of the CPU of that micro-batch with "
        "Spark's 200; frozen into a checkpoint",
    ),
    Setting(
        "spark.driver.host",
        "127.0.0.1",
        "no name is looked up, and the two ports that Spark opens on the machine's public address otherwise are on "
        "loopback",
    ),
    Setting(
        "spark.ui.enabled",
        "false",
        "one port and its threads less: 0.93 of the time and 0.91 of the CPU of a session's start; "
        "`spark.ui.enabled=true` shows the web page at :4040",
    ),
)
