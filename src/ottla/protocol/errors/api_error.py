"""`ApiError`: a refusal that has a code in Kafka's protocol.

Inner layers raise the subclass that says what is wrong; the builder of the response turns it into `code` and message.
Every subclass registers itself under its code, so that a client can turn a code back into an exception. Their default
messages are part of the protocol: clients and tools show them as they come, so they are Kafka's to the letter.
"""

from typing import ClassVar

from ottla.base.errors import OttlaError
from ottla.protocol.errors.code import ErrorCode

_BY_CODE: dict[int, type["ApiError"]] = {}


class ApiError(OttlaError):
    """A refusal with a code of Kafka's.

    >>> from ottla.protocol.errors import UnknownTopicOrPartitionError
    >>> error = UnknownTopicOrPartitionError()
    >>> error.code.name, error.retriable, str(error)
    ('UNKNOWN_TOPIC_OR_PARTITION', True, 'This server does not host this topic-partition.')
    """

    code: ClassVar[ErrorCode]
    default_message: ClassVar[str]
    retriable: ClassVar[bool] = False
    """Whether the same request may succeed later, unchanged."""
    refreshes_metadata: ClassVar[bool] = False
    """Whether a client should fetch fresh metadata before it tries again."""

    def __init_subclass__(cls) -> None:
        if "code" in vars(cls):
            _BY_CODE[cls.code] = cls

    def __init__(self, message: str | None = None) -> None:
        self.message = self.default_message if message is None else message
        super().__init__(self.message)


def error_for(code: int, message: str | None = None) -> ApiError:
    """The exception for a code from a response; an unknown one reads as UNKNOWN_SERVER_ERROR, as in Kafka.

    Brokers leave the message of some answers empty: then it is the code's own.

    >>> error_for(36, "Topic 'orders' already exists.")
    TopicAlreadyExistsError("Topic 'orders' already exists.")
    >>> error_for(30, "")
    GroupAuthorizationFailedError('Group authorization failed.')
    """
    if code == ErrorCode.NONE:
        raise ValueError("code 0 is success, not an error")
    known = _BY_CODE.get(code)
    if known is not None:
        return known(message or None)
    unknown = _BY_CODE[ErrorCode.UNKNOWN_SERVER_ERROR]
    return unknown(f"error code {code}: {message}" if message else f"error code {code}")
