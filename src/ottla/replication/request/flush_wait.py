"""Appends that count only once they are on the disk: `flush.on.ack` (ours) and `flush.messages`.

The flush runs on a thread of the log directory, and its outcome is brought back to the loop.
"""

from collections.abc import Callable
from typing import Final

from ottla.protocol.errors import ErrorCode
from ottla.replication.partition.partition import Partition
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.errors import StorageError
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition


class FlushWait:
    """Begins flushes. `failed` hears on the loop of each that went wrong."""

    def __init__(self, logs: LogManager, mailbox: Mailbox, failed: Callable[[StorageError], None]) -> None:
        self._logs: Final = logs
        self._mailbox: Final = mailbox
        self._failed: Final = failed

    def begin(self, partition: Partition, end_offset: int, flushed: Callable[[int], None]) -> bool:
        """Has everything below the offset flushed if the topic's settings ask for it by now.

        If so `flushed` is called on the loop, with an error code.
        """
        log = self._logs.get(TopicPartition(partition.topic, partition.index))
        if log is None:
            return False

        def on_loop(error: StorageError | None) -> None:
            if error is not None:
                self._failed(error)
            flushed(ErrorCode.NONE if error is None else error.code)

        def done(error: StorageError | None) -> None:
            self._mailbox.post(lambda: on_loop(error))

        return self._logs.maintenance.flush_after_append(log, end_offset, done)
