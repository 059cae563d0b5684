"""Why a directory is not formatted."""

from ottla.base.errors import OttlaError


class FormatError(OttlaError):
    """What was asked for cannot be: the message says why, in Kafka's words where it has some."""
