"""Directory ids with a meaning of their own (KIP-858), and when a replica's directory counts as online.

Every log directory has a random id; the first hundred ids are reserved. `UNASSIGNED`: the broker has yet to say where
the replica lives. `MIGRATING`: the cluster did not track directories when the replica was placed. `LOST`: the directory
is gone.
"""

from collections.abc import Collection
from typing import Final

from ottla.base.ids import ZERO_UUID, Uuid

MIGRATING: Final = ZERO_UUID
UNASSIGNED: Final = Uuid((1).to_bytes(16, "big"))
LOST: Final = Uuid((2).to_bytes(16, "big"))


def is_reserved(directory: Uuid) -> bool:
    """Whether `directory` is one of the hundred ids that no real directory may have.

    >>> is_reserved(UNASSIGNED), is_reserved(Uuid((100).to_bytes(16, "big")))
    (True, False)
    """
    # Kafka compares the lower half as a signed number, so an id of eight zero bytes and a set top bit is reserved too.
    return directory[:8] == bytes(8) and int.from_bytes(directory[8:], "big", signed=True) < 100


def is_online(directory: Uuid, online: Collection[Uuid]) -> bool:
    """Whether a replica in `directory` can be served by a broker whose online directories are `online`.

    A broker that named no directories registered before they were tracked: its replicas count as online (KAFKA-16162).
    """
    if directory in (UNASSIGNED, MIGRATING):
        return True
    return directory != LOST and (not online or directory in online)
