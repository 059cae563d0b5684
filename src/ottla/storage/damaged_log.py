"""A log that could not be opened because its files hold what cannot be, though the disk had confirmed them.

Apache Kafka cuts such a log at the damage, and what came after is lost without a word. Here the partition is offline
and its files stay as they are; the rest of the directory serves. The directory's checkpoints keep what they said about
the log, and the file `damaged-log-checkpoint` names it, so that a clean stop does not make the next start trust it.
Each start examines it again, and takes it in if it was mended.
"""

from typing import Final

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.storage.errors import CorruptFileError

DAMAGED_CHECKPOINT: Final = "damaged-log-checkpoint"


@frozen(kw_only=True)
class DamagedLog:
    """A damaged log: its place, the error, and its entries in the checkpoints."""

    directory: str
    error: CorruptFileError
    topic_id: Uuid | None
    recovery_point: int
    log_start_offset: int
    high_watermark: int
