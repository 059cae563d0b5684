"""Why a node cannot start, in one line that says what to do about it."""

from ottla.base.errors import OttlaError


class StartError(OttlaError):
    """The node cannot start; the message is one line for the operator."""
