"""What Java's tools would call an error: they print class names, and scripts look for them."""

import sys
import time
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ToolError
from ottla.protocol.errors import MessageTooLargeError

_PACKAGE: Final = "org.apache.kafka.common.errors."
_EXECUTION: Final = "java.util.concurrent.ExecutionException: "

_OTHER_NAMES: Final = {
    "ConfigError": "org.apache.kafka.common.config.ConfigException",
    "ClusterAuthorizationFailedError": "ClusterAuthorizationException",
    "CorruptMessageError": "CorruptRecordException",
    "DelegationTokenAuthDisabledError": "DelegationTokenDisabledException",
    "DelegationTokenAuthorizationFailedError": "DelegationTokenAuthorizationException",
    "DelegationTokenRequestNotAllowedError": "UnsupportedByAuthenticationException",
    "DuplicateSequenceNumberError": "DuplicateSequenceException",
    "GroupAuthorizationFailedError": "GroupAuthorizationException",
    "InvalidConfigError": "InvalidConfigurationException",
    "InvalidProducerIdMappingError": "InvalidPidMappingException",
    "InvalidRegularExpressionError": "InvalidRegularExpression",
    "InvalidTransactionTimeoutError": "InvalidTxnTimeoutException",
    "KafkaTimeoutError": "TimeoutException",
    "MessageTooLargeError": "RecordTooLargeException",
    "NoBrokersAvailableError": "TimeoutException",
    "NonEmptyGroupError": "GroupNotEmptyException",
    "OffsetMetadataTooLargeError": "OffsetMetadataTooLarge",
    "OutOfOrderSequenceNumberError": "OutOfOrderSequenceException",
    "PrincipalDeserializationFailureError": "PrincipalDeserializationException",
    "RecordListTooLargeError": "RecordBatchTooLargeException",
    "RequestTimedOutError": "TimeoutException",
    "SaslAuthenticationFailedError": "SaslAuthenticationException",
    "StaleControllerEpochError": "ControllerMovedException",
    "TopicAlreadyExistsError": "TopicExistsException",
    "TopicAuthorizationFailedError": "TopicAuthorizationException",
    "TransactionalIdAuthorizationFailedError": "TransactionalIdAuthorizationException",
}


def java_name(error: OttlaError) -> str:
    """The class that Kafka has for the error.

    >>> from ottla.protocol.errors import NonEmptyGroupError, UnknownTopicOrPartitionError
    >>> java_name(NonEmptyGroupError())
    'org.apache.kafka.common.errors.GroupNotEmptyException'
    >>> java_name(UnknownTopicOrPartitionError())
    'org.apache.kafka.common.errors.UnknownTopicOrPartitionException'
    """
    if isinstance(error, ToolError):
        return error.java_class
    name = type(error).__name__
    java = _OTHER_NAMES.get(name, f"{name.removesuffix('Error')}Exception")
    return java if "." in java else _PACKAGE + java


def java_text(error: OttlaError) -> str:
    """Class and message, as Java prints an exception.

    >>> from ottla.protocol.errors import SecurityDisabledError
    >>> java_text(SecurityDisabledError("No Authorizer is configured."))
    'org.apache.kafka.common.errors.SecurityDisabledException: No Authorizer is configured.'
    """
    return f"{java_name(error)}: {java_message(error)}"


def java_message(error: BaseException | None) -> str:
    """The message as Java has it, where our clients say more than Kafka's.

    >>> java_message(MessageTooLargeError("a batch of 69 bytes for orders-0 is larger than the broker takes"))
    'The request included a message larger than the max message size the server will accept.'
    """
    return str(MessageTooLargeError()) if isinstance(error, MessageTooLargeError) else str(error)


def java_execution_text(error: OttlaError) -> str:
    """An error as Java's futures wrap it."""
    return _EXECUTION + java_text(error)


def failed_call(what: str, error: OttlaError) -> ToolError:
    """The server's refusal in the words of the tools that log on the side."""
    return ToolError(f"{what}: {error}. Enable debug logging for additional detail.")


def log_error(message: str, logger: str) -> None:
    """Prints a line on the error output as Java's tools log it: time, level, message, and logger."""
    now = time.time()
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    print(f"[{moment},{int(now * 1000) % 1000:03d}] ERROR {message} ({logger})", file=sys.stderr, flush=True)
