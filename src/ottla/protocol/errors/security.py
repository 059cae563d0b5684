"""Errors of authentication, authorisation and delegation tokens."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class TopicAuthorizationFailedError(ApiError):
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    default_message = "Topic authorization failed."


class GroupAuthorizationFailedError(ApiError):
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    default_message = "Group authorization failed."


class ClusterAuthorizationFailedError(ApiError):
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    default_message = "Cluster authorization failed."


class UnsupportedSaslMechanismError(ApiError):
    code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
    default_message = "The broker does not support the requested SASL mechanism."


class IllegalSaslStateError(ApiError):
    code = ErrorCode.ILLEGAL_SASL_STATE
    default_message = "Request is not valid given the current SASL state."


class TransactionalIdAuthorizationFailedError(ApiError):
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    default_message = "Transactional Id authorization failed."


class SecurityDisabledError(ApiError):
    code = ErrorCode.SECURITY_DISABLED
    default_message = "Security features are disabled."


class SaslAuthenticationFailedError(ApiError):
    code = ErrorCode.SASL_AUTHENTICATION_FAILED
    default_message = "SASL Authentication failed."


class DelegationTokenAuthDisabledError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    default_message = "Delegation Token feature is not enabled."


class DelegationTokenNotFoundError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    default_message = "Delegation Token is not found on server."


class DelegationTokenOwnerMismatchError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    default_message = "Specified Principal is not valid Owner/Renewer."


class DelegationTokenRequestNotAllowedError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    default_message = (
        "Delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on delegation token "
        "authenticated channels."
    )


class DelegationTokenAuthorizationFailedError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    default_message = "Delegation Token authorization failed."


class DelegationTokenExpiredError(ApiError):
    code = ErrorCode.DELEGATION_TOKEN_EXPIRED
    default_message = "Delegation Token is expired."


class InvalidPrincipalTypeError(ApiError):
    code = ErrorCode.INVALID_PRINCIPAL_TYPE
    default_message = "Supplied principalType is not supported."


class UnacceptableCredentialError(ApiError):
    code = ErrorCode.UNACCEPTABLE_CREDENTIAL
    default_message = "Requested credential would not meet criteria for acceptability."


class PrincipalDeserializationFailureError(ApiError):
    code = ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE
    default_message = (
        "Request principal deserialization failed during forwarding. This indicates an internal error on the "
        "broker cluster security setup."
    )
