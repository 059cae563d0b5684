"""The quorum's local refusals, and the errors that stop it."""

from ottla.base.errors import OttlaError


class RaftInvariantError(OttlaError):
    """Something that the protocol rules out has happened: the process must stop rather than write on."""


class AppendBufferFullError(OttlaError):
    """More records wait to be written than memory is set aside for; try again when some are."""


class QuorumStateError(OttlaError):
    """The quorum-state file says something that cannot be read."""
