"""The proxy's error numbers, and what failures of Kafka's clients are to HTTP.

Version 3 puts a title before the message of what it refuses itself ("Bad Request: …"); what Kafka refuses has Kafka's
words in both versions.
"""

from typing import Final

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.client.errors import (
    AuthenticationFailedError,
    ClosedError,
    InvalidStateError,
    KafkaTimeoutError,
    RecordTooLargeError,
    SerializationError,
)
from ottla.client.registry.errors import RegistryError
from ottla.protocol import errors
from ottla.protocol.errors import ApiError
from ottla.web.http.errors import HttpError

KAFKA_BAD_REQUEST: Final = 40002
NOT_AUTHENTICATED: Final = 40101
NOT_AUTHORIZED: Final = 40301
TOPIC_NOT_FOUND: Final = 40401
PARTITION_NOT_FOUND: Final = 40402
UNKNOWN_TOPIC_OR_PARTITION: Final = 40403
INVALID_PAYLOAD: Final = 42206
INVALID_SERIALIZATION: Final = 42207
KAFKA_ERROR: Final = 50002
KAFKA_RETRIABLE: Final = 50003

_FORBIDDEN: Final = (
    errors.TopicAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.ClusterAuthorizationFailedError,
    errors.TransactionalIdAuthorizationFailedError,
)
_BAD: Final = (
    errors.InvalidReplicationFactorError,
    errors.InvalidReplicaAssignmentError,
    errors.InvalidPartitionsError,
    errors.InvalidConfigError,
    errors.InvalidRequestError,
    errors.PolicyViolationError,
    errors.SecurityDisabledError,
    errors.TopicAlreadyExistsError,
    errors.TopicDeletionDisabledError,
    errors.UnsupportedVersionError,
    errors.InvalidGroupIdError,
    errors.OffsetMetadataTooLargeError,
    errors.InvalidPrincipalTypeError,
    errors.MessageTooLargeError,
    errors.RecordListTooLargeError,
    errors.InvalidRecordError,
    errors.InvalidTimestampError,
)
_GONE: Final = (errors.UnknownTopicOrPartitionError, errors.UnknownTopicIdError)
_ABSENT: Final = (
    errors.GroupIdNotFoundError,
    errors.ResourceNotFoundError,
    errors.BrokerNotAvailableError,
    errors.UnknownMemberIdError,
)


def topic_not_found() -> HttpError:
    """No such topic, said before Kafka was asked."""
    return HttpError(404, "Topic not found.", TOPIC_NOT_FOUND)


def partition_not_found() -> HttpError:
    """No such partition."""
    return HttpError(404, "Partition not found.", PARTITION_NOT_FOUND)


def bad_request(detail: str) -> HttpError:
    """The request makes no sense."""
    return HttpError(400, f"Bad Request: {detail}")


def invalid_payload(detail: str) -> HttpError:
    """The body lacks what the call needs."""
    return HttpError(422, f"Payload error. {detail}", INVALID_PAYLOAD)


def not_serializable(detail: str) -> HttpError:
    """A schema is not there, or the registry refuses it."""
    return HttpError(422, f"Error serializing message. {detail}", INVALID_SERIALIZATION)


def from_kafka(error: OttlaError) -> HttpError:
    """The HTTP error for a failure of a Kafka client."""
    if isinstance(error, HttpError):
        return error
    if isinstance(error, ApiError):
        return _from_broker(error)
    return _from_client(error)


def _from_broker(error: ApiError) -> HttpError:
    if isinstance(error, _GONE):
        return HttpError(404, error.message, UNKNOWN_TOPIC_OR_PARTITION)
    if isinstance(error, errors.InvalidTopicError):
        return HttpError(422, error.message, INVALID_PAYLOAD)
    if isinstance(error, _BAD):
        return HttpError(400, error.message, KAFKA_BAD_REQUEST)
    if isinstance(error, _ABSENT):
        return HttpError(404, error.message)
    if isinstance(error, _FORBIDDEN):
        return HttpError(403, error.message, NOT_AUTHORIZED)
    if isinstance(error, errors.SaslAuthenticationFailedError):
        return HttpError(401, error.message, NOT_AUTHENTICATED)
    return HttpError(500, error.message, KAFKA_RETRIABLE if error.retriable else KAFKA_ERROR)


def _from_client(error: OttlaError) -> HttpError:
    message = str(error)
    if isinstance(error, AuthenticationFailedError):
        return HttpError(401, message, NOT_AUTHENTICATED)
    if isinstance(error, RegistryError):
        return not_serializable(message)
    if isinstance(error, SerializationError):
        return HttpError(408, message, 40801)
    if isinstance(error, ClosedError):
        return HttpError(503, message)
    if isinstance(error, InvalidStateError):
        return HttpError(409, f"Illegal state: {message}", 40903)
    if isinstance(error, RecordTooLargeError):
        return HttpError(400, message, KAFKA_BAD_REQUEST)
    if isinstance(error, ConfigError):
        return HttpError(422, f"Invalid consumer configuration: {message}", 42204)
    is_retriable = isinstance(error, KafkaTimeoutError) or bool(getattr(error, "retriable", False))
    return HttpError(500, message, KAFKA_RETRIABLE if is_retriable else KAFKA_ERROR)


def record_error_code(error: OttlaError) -> int:
    """The number in a record's entry of an answer of version 2, which knows four."""
    known = from_kafka(error).error_code
    if known in (NOT_AUTHENTICATED, NOT_AUTHORIZED):
        return known
    is_retriable = bool(getattr(error, "retriable", False)) or isinstance(error, KafkaTimeoutError)
    return KAFKA_RETRIABLE if is_retriable else KAFKA_ERROR
