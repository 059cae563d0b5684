"""What can be wrong with state on a disk."""

from ottla.streams.errors import StreamsError


class StateMismatchError(StreamsError):
    """The state is not the one that a batch has to start from: ahead, behind, or of another topology."""


class StateUnavailableError(StreamsError):
    """The state cannot be opened or written: no LMDB, a full disk, a directory that cannot be made."""


def unwritable(error: Exception) -> StateUnavailableError:
    """What to say where LMDB cannot write: most of the time the disk is full."""
    return StateUnavailableError(
        f"the state cannot be written: {error}. Free some space below state.dir, or move it to a larger disk: nothing "
        f"is lost, and the records come again"
    )
