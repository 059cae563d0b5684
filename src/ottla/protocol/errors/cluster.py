"""Errors of the controller, the quorum, brokers and their registration, and features."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class BrokerNotAvailableError(ApiError):
    code = ErrorCode.BROKER_NOT_AVAILABLE
    default_message = "The broker is not available."


class StaleControllerEpochError(ApiError):
    code = ErrorCode.STALE_CONTROLLER_EPOCH
    default_message = "The controller moved to another broker."


class NotControllerError(ApiError):
    code = ErrorCode.NOT_CONTROLLER
    default_message = "This is not the correct controller for this cluster."
    retriable = True


class StaleBrokerEpochError(ApiError):
    code = ErrorCode.STALE_BROKER_EPOCH
    default_message = "Broker epoch has changed."


class InconsistentVoterSetError(ApiError):
    code = ErrorCode.INCONSISTENT_VOTER_SET
    default_message = (
        "Indicates that the either the sender or recipient of a voter-only request is not one of the expected voters."
    )


class InvalidUpdateVersionError(ApiError):
    code = ErrorCode.INVALID_UPDATE_VERSION
    default_message = "The given update version was invalid."


class FeatureUpdateFailedError(ApiError):
    code = ErrorCode.FEATURE_UPDATE_FAILED
    default_message = "Unable to update finalized features due to an unexpected server error."


class SnapshotNotFoundError(ApiError):
    code = ErrorCode.SNAPSHOT_NOT_FOUND
    default_message = "Requested snapshot was not found."


class PositionOutOfRangeError(ApiError):
    code = ErrorCode.POSITION_OUT_OF_RANGE
    default_message = "Requested position is not greater than or equal to zero, and less than the size of the snapshot."


class DuplicateBrokerRegistrationError(ApiError):
    code = ErrorCode.DUPLICATE_BROKER_REGISTRATION
    default_message = "This broker ID is already in use."


class BrokerIdNotRegisteredError(ApiError):
    code = ErrorCode.BROKER_ID_NOT_REGISTERED
    default_message = "The given broker ID was not registered."


class InconsistentClusterIdError(ApiError):
    code = ErrorCode.INCONSISTENT_CLUSTER_ID
    default_message = "The clusterId in the request does not match that found on the server."


class UnknownControllerIdError(ApiError):
    code = ErrorCode.UNKNOWN_CONTROLLER_ID
    default_message = "This controller ID is not known."


class InvalidRegistrationError(ApiError):
    code = ErrorCode.INVALID_REGISTRATION
    default_message = "The controller has considered the broker registration to be invalid."


class InvalidVoterKeyError(ApiError):
    code = ErrorCode.INVALID_VOTER_KEY
    default_message = "The voter key doesn't match the receiving replica's key."


class DuplicateVoterError(ApiError):
    code = ErrorCode.DUPLICATE_VOTER
    default_message = "The voter is already part of the set of voters."


class VoterNotFoundError(ApiError):
    code = ErrorCode.VOTER_NOT_FOUND
    default_message = "The voter is not part of the set of voters."
