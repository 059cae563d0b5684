"""The Spark settings that Ottla's pipelines run with, each with what it buys.

`python -m tests.bench spark_profile` measures each setting against Spark's default; docs/PERFORMANCE.md has the
ratios. A setting that shows no effect, or is Spark's own default, has no place here. `TUNED` is for any cluster,
`LOCAL` in addition for a driver and its checkpoints on one machine.
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
        "no full garbage collection after each task of a reused worker",
    ),
    Setting(
        "spark.python.unix.domain.socket.enabled",
        "true",
        "the JVM and its Python workers talk without TCP",
    ),
    Setting(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "state outside of the heap, at the price of slower micro-batches; frozen into a checkpoint at its first start",
    ),
    Setting(
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
        "true",
        "a batch uploads the changes of the state, not the state; lets `readChangeFeed` show them",
    ),
    Setting(
        "spark.sql.session.timeZone",
        "UTC",
        "timestamps mean the same on every machine",
    ),
    Setting(
        "spark.scheduler.mode",
        "FAIR",
        "a large batch of one query does not hold the others up",
    ),
)

LOCAL: Final[Sequence[Setting]] = (
    Setting(
        "spark.sql.streaming.checkpointFileManagerClass",
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
        "faster notes of a micro-batch in its checkpoint; for local directories alone",
    ),
    Setting(
        "spark.sql.shuffle.partitions",
        "2",
        "one task for each core of a small machine; frozen into a checkpoint",
    ),
    Setting(
        "spark.driver.host",
        "127.0.0.1",
        "no name is looked up, and the two ports that Spark opens are on loopback, not public",
    ),
    Setting(
        "spark.ui.enabled",
        "false",
        "no port and threads for the web page; `spark.ui.enabled=true` shows it at :4040",
    ),
)
