"""The errors of state on a disk."""

from typing import Final

from ottla.streams.errors import StreamsError

_MAP_FULL: Final = -30792
"""LMDB's MDB_MAP_FULL: the state itself is too large, whatever room the disk has."""


class StateMismatchError(StreamsError):
    """The state does not fit the start of a batch: it is ahead, behind, or of another topology."""


class StateUnavailableError(StreamsError):
    """The state cannot be opened or written: no LMDB, a directory that cannot be made, a state that is too large."""


class StateUnwritableError(StateUnavailableError):
    """The disk refuses a write, mostly because it is full. This passes once there is space."""


def unwritable(error: Exception, place: str = "the state") -> StateUnavailableError:
    """The error for a write that the disk or LMDB has refused.

    LMDB reports an I/O error if the disk has space for only a part of a write.

    >>> str(unwritable(OSError(28, "No space left on device")))[:63]
    'the state cannot be written: [Errno 28] No space left on device'
    """
    if getattr(error, "code", 0) == _MAP_FULL:
        return StateUnavailableError(f"{place} cannot be written: {error}. It is as large as a state may be")
    return StateUnwritableError(
        f"{place} cannot be written: {error}. Free some space below state.dir, or move it to a larger disk: nothing "
        f"is lost, and the records come again"
    )
