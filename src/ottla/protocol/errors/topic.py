"""Errors of topics and partitions: whether they exist, who leads them, how they may be changed."""

from ottla.protocol.errors.api_error import ApiError
from ottla.protocol.errors.code import ErrorCode


class UnknownTopicOrPartitionError(ApiError):
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    default_message = "This server does not host this topic-partition."
    retriable = True
    refreshes_metadata = True


class LeaderNotAvailableError(ApiError):
    code = ErrorCode.LEADER_NOT_AVAILABLE
    default_message = "There is no leader for this topic-partition as we are in the middle of a leadership election."
    retriable = True
    refreshes_metadata = True


class NotLeaderOrFollowerError(ApiError):
    code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    default_message = (
        "For requests intended only for the leader, this error indicates that the broker is not the current "
        "leader. For requests intended for any replica, this error indicates that the broker is not a replica"
        " of the topic partition."
    )
    retriable = True
    refreshes_metadata = True


class ReplicaNotAvailableError(ApiError):
    code = ErrorCode.REPLICA_NOT_AVAILABLE
    default_message = (
        "The replica is not available for the requested topic-partition. Produce/Fetch requests and other "
        "requests intended only for the leader or follower return NOT_LEADER_OR_FOLLOWER if the broker is not"
        " a replica of the topic-partition."
    )
    retriable = True
    refreshes_metadata = True


class InvalidTopicError(ApiError):
    code = ErrorCode.INVALID_TOPIC_EXCEPTION
    default_message = "The request attempted to perform an operation on an invalid topic."


class NotEnoughReplicasError(ApiError):
    code = ErrorCode.NOT_ENOUGH_REPLICAS
    default_message = "Messages are rejected since there are fewer in-sync replicas than required."
    retriable = True


class NotEnoughReplicasAfterAppendError(ApiError):
    code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    default_message = "Messages are written to the log, but to fewer in-sync replicas than required."
    retriable = True


class TopicAlreadyExistsError(ApiError):
    code = ErrorCode.TOPIC_ALREADY_EXISTS
    default_message = "Topic with this name already exists."


class InvalidPartitionsError(ApiError):
    code = ErrorCode.INVALID_PARTITIONS
    default_message = "Number of partitions is below 1."


class InvalidReplicationFactorError(ApiError):
    code = ErrorCode.INVALID_REPLICATION_FACTOR
    default_message = "Replication factor is below 1 or larger than the number of available brokers."


class InvalidReplicaAssignmentError(ApiError):
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    default_message = "Replica assignment is invalid."


class ReassignmentInProgressError(ApiError):
    code = ErrorCode.REASSIGNMENT_IN_PROGRESS
    default_message = "A partition reassignment is in progress."


class ListenerNotFoundError(ApiError):
    code = ErrorCode.LISTENER_NOT_FOUND
    default_message = (
        "There is no listener on the leader broker that matches the listener on which metadata request was processed."
    )
    retriable = True
    refreshes_metadata = True


class TopicDeletionDisabledError(ApiError):
    code = ErrorCode.TOPIC_DELETION_DISABLED
    default_message = "Topic deletion is disabled."


class FencedLeaderEpochError(ApiError):
    code = ErrorCode.FENCED_LEADER_EPOCH
    default_message = "The leader epoch in the request is older than the epoch on the broker."
    retriable = True
    refreshes_metadata = True


class UnknownLeaderEpochError(ApiError):
    code = ErrorCode.UNKNOWN_LEADER_EPOCH
    default_message = "The leader epoch in the request is newer than the epoch on the broker."
    retriable = True


class PreferredLeaderNotAvailableError(ApiError):
    code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    default_message = "The preferred leader was not available."
    retriable = True
    refreshes_metadata = True


class EligibleLeadersNotAvailableError(ApiError):
    code = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    default_message = "Eligible topic partition leaders are not available."
    retriable = True
    refreshes_metadata = True


class ElectionNotNeededError(ApiError):
    code = ErrorCode.ELECTION_NOT_NEEDED
    default_message = "Leader election not needed for topic partition."
    retriable = True
    refreshes_metadata = True


class NoReassignmentInProgressError(ApiError):
    code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    default_message = "No partition reassignment is in progress."


class UnknownTopicIdError(ApiError):
    code = ErrorCode.UNKNOWN_TOPIC_ID
    default_message = "This server does not host this topic ID."
    retriable = True
    refreshes_metadata = True


class InconsistentTopicIdError(ApiError):
    code = ErrorCode.INCONSISTENT_TOPIC_ID
    default_message = "The log's topic ID did not match the topic ID in the request."
    retriable = True
    refreshes_metadata = True


class IneligibleReplicaError(ApiError):
    code = ErrorCode.INELIGIBLE_REPLICA
    default_message = "The new ISR contains at least one ineligible replica."


class NewLeaderElectedError(ApiError):
    code = ErrorCode.NEW_LEADER_ELECTED
    default_message = "The AlterPartition request successfully updated the partition state but the leader has changed."
