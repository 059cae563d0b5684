"""The options of opening a log, and the parts of an open one."""

from dataclasses import dataclass
from enum import Enum, auto

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.storage.leader_epoch.cache import LeaderEpochCache
from ottla.storage.log.contiguity import Contiguity
from ottla.storage.log.segments import Segments
from ottla.storage.producer_state.snapshot_directory import SnapshotDirectory
from ottla.storage.producer_state.state import ProducerState

_DAY_MS = 86_400_000


class Shutdown(Enum):
    """The way in which the log was closed the last time."""

    CLEAN = auto()
    UNCLEAN = auto()
    DAMAGED = auto()
    """It could not be opened the last time: read as after a crash, but nothing that was flushed may be missing."""


@frozen
class LoadOptions:
    """The checkpoints and settings of a log that is to be opened."""

    topic: str
    partition: int
    now_ms: int
    log_start_offset: int = 0
    recovery_point: int = 0
    shutdown: Shutdown = Shutdown.UNCLEAN
    topic_id: Uuid | None = None
    producer_id_expiration_ms: int = _DAY_MS


@dataclass(slots=True)
class LoadedLog:
    """The parts of a log, consistent with each other."""

    directory: str
    segments: Segments
    epochs: LeaderEpochCache
    producers: ProducerState
    snapshots: SnapshotDirectory
    contiguity: Contiguity
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
