"""Errors with which metadata can't go on, or a directory is not formatted."""

from ottla.base.errors import OttlaError


class MetadataError(OttlaError):
    """The metadata log says something that cannot be true: a change to what is not there, a second begin, a gap.

    It is not a client's fault and has no code in the protocol. A node that meets it must stop rather than serve or
    write on from an image that no longer is what the log says.
    """


class UnwritableMetadataError(OttlaError):
    """An image holds something that the records of the asked metadata.version have no place for."""


class FormatError(OttlaError):
    """A directory can't be formatted; the message has the reason, in Kafka's words where it has some."""
