"""Errors of a request as such: its form, its version, where it was sent, what the server made of it."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class UnknownServerError(ApiError):
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    default_message = "The server experienced an unexpected error when processing the request."


class RequestTimedOutError(ApiError):
    code = ErrorCode.REQUEST_TIMED_OUT
    default_message = "The request timed out."
    retriable = True


class NetworkError(ApiError):
    code = ErrorCode.NETWORK_EXCEPTION
    default_message = "The server disconnected before a response was received."
    retriable = True
    refreshes_metadata = True


class UnsupportedVersionError(ApiError):
    code = ErrorCode.UNSUPPORTED_VERSION
    default_message = "The version of API is not supported."


class InvalidConfigError(ApiError):
    code = ErrorCode.INVALID_CONFIG
    default_message = "Configuration is invalid."


class InvalidRequestError(ApiError):
    code = ErrorCode.INVALID_REQUEST
    default_message = (
        "This most likely occurs because of a request being malformed by the client library or the message "
        "was sent to an incompatible broker. See the broker logs for more details."
    )


class PolicyViolationError(ApiError):
    code = ErrorCode.POLICY_VIOLATION
    default_message = "Request parameters do not satisfy the configured policy."


class OperationNotAttemptedError(ApiError):
    code = ErrorCode.OPERATION_NOT_ATTEMPTED
    default_message = (
        "The broker did not attempt to execute this operation. This may happen for batched RPCs where some "
        "operations in the batch failed, causing the broker to respond without trying the rest."
    )


class ThrottlingQuotaExceededError(ApiError):
    code = ErrorCode.THROTTLING_QUOTA_EXCEEDED
    default_message = "The throttling quota has been exceeded."
    retriable = True


class ResourceNotFoundError(ApiError):
    code = ErrorCode.RESOURCE_NOT_FOUND
    default_message = "A request illegally referred to a resource that does not exist."


class DuplicateResourceError(ApiError):
    code = ErrorCode.DUPLICATE_RESOURCE
    default_message = "A request illegally referred to the same resource twice."


class MismatchedEndpointTypeError(ApiError):
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
    default_message = "The request was sent to an endpoint of the wrong type."


class UnsupportedEndpointTypeError(ApiError):
    code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    default_message = "This endpoint type is not supported yet."


class UnknownSubscriptionIdError(ApiError):
    code = ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    default_message = "Client sent a push telemetry request with an invalid or outdated subscription ID."


class TelemetryTooLargeError(ApiError):
    code = ErrorCode.TELEMETRY_TOO_LARGE
    default_message = "Client sent a push telemetry request larger than the maximum size the broker will accept."


class RebootstrapRequiredError(ApiError):
    code = ErrorCode.REBOOTSTRAP_REQUIRED
    default_message = "Client metadata is stale. The client should rebootstrap to obtain new metadata."
