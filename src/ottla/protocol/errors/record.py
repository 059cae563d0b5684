"""Errors of records and batches, and of reading and writing them in a partition's log."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class OffsetOutOfRangeError(ApiError):
    code = ErrorCode.OFFSET_OUT_OF_RANGE
    default_message = "The requested offset is not within the range of offsets maintained by the server."


class CorruptMessageError(ApiError):
    code = ErrorCode.CORRUPT_MESSAGE
    default_message = (
        "This message has failed its CRC checksum, exceeds the valid size, has a null key for a compacted "
        "topic, or is otherwise corrupt."
    )
    retriable = True


class InvalidFetchSizeError(ApiError):
    code = ErrorCode.INVALID_FETCH_SIZE
    default_message = "The requested fetch size is invalid."


class MessageTooLargeError(ApiError):
    code = ErrorCode.MESSAGE_TOO_LARGE
    default_message = "The request included a message larger than the max message size the server will accept."


class RecordListTooLargeError(ApiError):
    code = ErrorCode.RECORD_LIST_TOO_LARGE
    default_message = "The request included message batch larger than the configured segment size on the server."


class InvalidRequiredAcksError(ApiError):
    code = ErrorCode.INVALID_REQUIRED_ACKS
    default_message = "Produce request specified an invalid value for required acks."


class InvalidTimestampError(ApiError):
    code = ErrorCode.INVALID_TIMESTAMP
    default_message = "The timestamp of the message is out of acceptable range."


class UnsupportedForMessageFormatError(ApiError):
    code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    default_message = "The message format version on the broker does not support the request."


class KafkaStorageError(ApiError):
    code = ErrorCode.KAFKA_STORAGE_ERROR
    default_message = "Disk error when trying to access log file on the disk."
    retriable = True
    refreshes_metadata = True


class LogDirNotFoundError(ApiError):
    code = ErrorCode.LOG_DIR_NOT_FOUND
    default_message = "The user-specified log directory is not found in the broker config."


class FetchSessionIdNotFoundError(ApiError):
    code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    default_message = "The fetch session ID was not found."
    retriable = True


class InvalidFetchSessionEpochError(ApiError):
    code = ErrorCode.INVALID_FETCH_SESSION_EPOCH
    default_message = "The fetch session epoch is invalid."
    retriable = True


class UnsupportedCompressionTypeError(ApiError):
    code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    default_message = "The requesting client does not support the compression type of given partition."


class OffsetNotAvailableError(ApiError):
    code = ErrorCode.OFFSET_NOT_AVAILABLE
    default_message = (
        "The leader high watermark has not caught up from a recent leader election so the offsets cannot be "
        "guaranteed to be monotonically increasing."
    )
    retriable = True


class InvalidRecordError(ApiError):
    code = ErrorCode.INVALID_RECORD
    default_message = "This record has failed the validation on broker and hence will be rejected."


class FetchSessionTopicIdError(ApiError):
    code = ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    default_message = "The fetch session encountered inconsistent topic ID usage."
    retriable = True


class OffsetMovedToTieredStorageError(ApiError):
    code = ErrorCode.OFFSET_MOVED_TO_TIERED_STORAGE
    default_message = "The requested offset is moved to tiered storage."
