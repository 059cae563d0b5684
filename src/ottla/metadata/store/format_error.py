"""Why a directory is not formatted."""

from ottla.base.errors import OttlaError


class FormatError(OttlaError):
    """The request can't be carried out; the message has the reason, in Kafka's words where it has some."""
