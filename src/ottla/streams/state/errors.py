"""What can be wrong with state on a disk."""

from typing import Final

from ottla.streams.errors import StreamsError

_MAP_FULL: Final = -30792
"""LMDB's MDB_MAP_FULL: the state itself is too large, whatever room the disk has."""


class StateMismatchError(StreamsError):
    """The state is not the one that a batch has to start from: ahead, behind, or of another topology."""


class StateUnavailableError(StreamsError):
    """The state cannot be opened or written: no LMDB, a directory that cannot be made, a state that is too large."""


class StateUnwritableError(StateUnavailableError):
    """The disk does not take what is written, most of the time because it is full: this passes once there is room."""


def unwritable(error: Exception, place: str = "the state") -> StateUnavailableError:
    """What to say where the disk, or LMDB, does not take what is written.

    LMDB calls it an I/O error if a disk has room for a part of a write only.

    >>> str(unwritable(OSError(28, "No space left on device")))[:63]
    'the state cannot be written: [Errno 28] No space left on device'
    """
    if getattr(error, "code", 0) == _MAP_FULL:
        return StateUnavailableError(f"{place} cannot be written: {error}. It is as large as a state may be")
    return StateUnwritableError(
        f"{place} cannot be written: {error}. Free some space below state.dir, or move it to a larger disk: nothing "
        f"is lost, and the records come again"
    )
