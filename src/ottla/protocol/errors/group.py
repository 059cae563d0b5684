"""Errors of groups of every kind (classic, consumer, share, streams) and of their offsets."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class OffsetMetadataTooLargeError(ApiError):
    code = ErrorCode.OFFSET_METADATA_TOO_LARGE
    default_message = "The metadata field of the offset request was too large."


class CoordinatorLoadInProgressError(ApiError):
    code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    default_message = "The coordinator is loading and hence can't process requests."
    retriable = True


class CoordinatorNotAvailableError(ApiError):
    code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    default_message = "The coordinator is not available."
    retriable = True


class NotCoordinatorError(ApiError):
    code = ErrorCode.NOT_COORDINATOR
    default_message = "This is not the correct coordinator."
    retriable = True


class IllegalGenerationError(ApiError):
    code = ErrorCode.ILLEGAL_GENERATION
    default_message = "Specified group generation id is not valid."


class InconsistentGroupProtocolError(ApiError):
    code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    default_message = (
        "The group member's supported protocols are incompatible with those of existing members or first "
        "group member tried to join with empty protocol type or empty protocol list."
    )


class InvalidGroupIdError(ApiError):
    code = ErrorCode.INVALID_GROUP_ID
    default_message = "The group id is invalid."


class UnknownMemberIdError(ApiError):
    code = ErrorCode.UNKNOWN_MEMBER_ID
    default_message = "The coordinator is not aware of this member."


class InvalidSessionTimeoutError(ApiError):
    code = ErrorCode.INVALID_SESSION_TIMEOUT
    default_message = (
        "The session timeout is not within the range allowed by the broker (as configured by "
        "group.min.session.timeout.ms and group.max.session.timeout.ms)."
    )


class RebalanceInProgressError(ApiError):
    code = ErrorCode.REBALANCE_IN_PROGRESS
    default_message = "The group is rebalancing, so a rejoin is needed."


class InvalidCommitOffsetSizeError(ApiError):
    code = ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    default_message = "The committing offset data size is not valid."


class NonEmptyGroupError(ApiError):
    code = ErrorCode.NON_EMPTY_GROUP
    default_message = "The group is not empty."


class GroupIdNotFoundError(ApiError):
    code = ErrorCode.GROUP_ID_NOT_FOUND
    default_message = "The group id does not exist."


class MemberIdRequiredError(ApiError):
    code = ErrorCode.MEMBER_ID_REQUIRED
    default_message = "The group member needs to have a valid member id before actually entering a consumer group."


class GroupMaxSizeReachedError(ApiError):
    code = ErrorCode.GROUP_MAX_SIZE_REACHED
    default_message = "The group has reached its maximum size."


class FencedInstanceIdError(ApiError):
    code = ErrorCode.FENCED_INSTANCE_ID
    default_message = (
        "The broker rejected this static consumer since another consumer with the same group.instance.id has "
        "registered with a different member.id."
    )


class GroupSubscribedToTopicError(ApiError):
    code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    default_message = "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it."


class UnstableOffsetCommitError(ApiError):
    code = ErrorCode.UNSTABLE_OFFSET_COMMIT
    default_message = "There are unstable offsets that need to be cleared."
    retriable = True


class FencedMemberEpochError(ApiError):
    code = ErrorCode.FENCED_MEMBER_EPOCH
    default_message = (
        "The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin."
    )


class UnreleasedInstanceIdError(ApiError):
    code = ErrorCode.UNRELEASED_INSTANCE_ID
    default_message = (
        "The instance ID is still used by another member in the consumer group. That member must leave first."
    )


class UnsupportedAssignorError(ApiError):
    code = ErrorCode.UNSUPPORTED_ASSIGNOR
    default_message = "The assignor or its version range is not supported by the consumer group."


class StaleMemberEpochError(ApiError):
    code = ErrorCode.STALE_MEMBER_EPOCH
    default_message = (
        "The member epoch is stale. The member must retry after receiving its updated member epoch via the "
        "ConsumerGroupHeartbeat API."
    )


class InvalidRecordStateError(ApiError):
    code = ErrorCode.INVALID_RECORD_STATE
    default_message = "The record state is invalid. The acknowledgement of delivery could not be completed."


class ShareSessionNotFoundError(ApiError):
    code = ErrorCode.SHARE_SESSION_NOT_FOUND
    default_message = "The share session was not found."
    retriable = True


class InvalidShareSessionEpochError(ApiError):
    code = ErrorCode.INVALID_SHARE_SESSION_EPOCH
    default_message = "The share session epoch is invalid."
    retriable = True


class FencedStateEpochError(ApiError):
    code = ErrorCode.FENCED_STATE_EPOCH
    default_message = "The share coordinator rejected the request because the share-group state epoch did not match."


class InvalidRegularExpressionError(ApiError):
    code = ErrorCode.INVALID_REGULAR_EXPRESSION
    default_message = "The regular expression is not valid."


class StreamsInvalidTopologyError(ApiError):
    code = ErrorCode.STREAMS_INVALID_TOPOLOGY
    default_message = "The supplied topology is invalid."


class StreamsInvalidTopologyEpochError(ApiError):
    code = ErrorCode.STREAMS_INVALID_TOPOLOGY_EPOCH
    default_message = "The supplied topology epoch is invalid."


class StreamsTopologyFencedError(ApiError):
    code = ErrorCode.STREAMS_TOPOLOGY_FENCED
    default_message = "The supplied topology epoch is outdated."


class ShareSessionLimitReachedError(ApiError):
    code = ErrorCode.SHARE_SESSION_LIMIT_REACHED
    default_message = "The limit of share sessions has been reached."
    retriable = True
