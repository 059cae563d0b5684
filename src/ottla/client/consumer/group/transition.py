"""Raised by a state machine for a transition that its table does not have."""

from ottla.base.errors import OttlaError


class TransitionError(OttlaError):
    """A member was about to do what its state does not allow: the code is wrong."""
