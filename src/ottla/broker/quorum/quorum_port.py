"""The quorum as the controller sees it: the driver behind the controller's `Quorum` port."""

from collections.abc import Callable, Collection, Sequence

from ottla.broker.quorum.raft_driver import RaftDriver
from ottla.metadata.batch import record_values
from ottla.protocol.errors import NotControllerError, NotLeaderOrFollowerError
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.raft.errors import AppendBufferFullError


class QuorumPort:
    """Writes through the driver of the same node."""

    def __init__(self, driver: RaftDriver, on_overflow: Callable[[int], None]) -> None:
        """`on_overflow` hears the epoch in which the disk fell so far behind that nothing more can be taken."""
        self._driver = driver
        self._on_overflow = on_overflow

    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._driver.core.next_offset

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        """Appends one atomic batch; a quorum that has moved on is NOT_CONTROLLER to the controller.

        So is one that takes nothing more: who cannot write cannot decide, and another may do better.
        """
        try:
            return self._driver.append(epoch, record_values(records))
        except NotLeaderOrFollowerError as error:
            raise NotControllerError(error.message) from error
        except AppendBufferFullError as error:
            self._on_overflow(epoch)
            raise NotControllerError(str(error)) from error

    def leader_id(self) -> int | None:
        """The leader, as far as this node knows."""
        return self._driver.core.leader.leader_id

    def voter_ids(self) -> Collection[int]:
        """The voters that count now."""
        return self._driver.core.voters.ids

    def kraft_version(self) -> int:
        """The kraft.version that counts now."""
        return self._driver.core.kraft_version

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        """Raises kraft.version, or says why not."""
        self._driver.upgrade_kraft_version(epoch, level, validate_only=validate_only)
