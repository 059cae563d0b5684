"""ElectLeaders, and the elections that the controller holds of itself: preferred leaders, and unclean ones.

A partition that needs no election is ELECTION_NOT_NEEDED, and is left out where all were asked for (null). KIP-183,
KIP-460.
"""

from collections import Counter
from typing import Final

from ottla.base.ids import Uuid
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded
from ottla.metadata.controller.topic.partition_change import Election, PartitionChangeBuilder
from ottla.metadata.image.partition import NO_LEADER
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.errors import (
    ApiError,
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    InvalidRequestError,
    PreferredLeaderNotAvailableError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from ottla.protocol.metadata_log.log import VersionedRecord

ELECTIONS_PER_RUN_MAX: Final = 1_000
"""How many partitions one run of the automatic elections changes; the next run follows at once."""
_BY_TYPE: Final = {0: Election.PREFERRED, 1: Election.UNCLEAN}


def elect_leaders(context: ControllerContext, request: ElectLeadersRequest) -> ControllerResult[ElectLeadersResponse]:
    """Elects the preferred leader, or any, for the named partitions, or for all that need one."""
    if request.topic_partitions is not None and not request.topic_partitions:
        return ControllerResult(ElectLeadersResponse())
    election = _BY_TYPE.get(request.election_type)
    if election is None:
        raise InvalidRequestError(f"Unknown election type {request.election_type}")
    wanted = _all_needed(context, election) if request.topic_partitions is None else request.topic_partitions
    counts = Counter((topic.topic, index) for topic in wanted for index in topic.partitions)
    records: list[VersionedRecord] = []
    results = []
    for topic in wanted:
        result = ReplicaElectionResult(topic=topic.topic)
        for index in topic.partitions:
            outcome = PartitionResult(partition_id=index, error_message=None)
            try:
                found = _find(context, topic.topic, index)
                record = _elect(context, found, index, election)
                if counts[topic.topic, index] > 1:
                    raise InvalidRequestError("Duplicate partition.")
                records.append(record)
            except ApiError as error:
                outcome.error_code, outcome.error_message = error.code, error.message
            bounded(records)
            result.partition_result.append(outcome)
        results.append(result)
    return ControllerResult(ElectLeadersResponse(replica_election_results=results), records)


def balance_leaders(context: ControllerContext) -> ControllerResult[bool]:
    """Gives partitions back to their preferred leaders; the response tells whether there may be more to do."""
    return _elect_many(context, context.index.imbalanced(), Election.PREFERRED)


def elect_unclean_leaders(context: ControllerContext) -> ControllerResult[bool]:
    """Elects leaders for leaderless partitions of topics that rather lose records than stay without one."""
    by_id = context.image.topics.by_id
    allowed = [key for key in context.index.leaderless() if context.rules_of(by_id[key[0]]).unclean]
    return _elect_many(context, allowed, Election.UNCLEAN)


def _elect_many(
    context: ControllerContext, partitions: list[tuple[Uuid, int]], election: Election
) -> ControllerResult[bool]:
    records: list[VersionedRecord] = []
    for topic_id, index in partitions:
        if len(records) >= ELECTIONS_PER_RUN_MAX:
            break
        record = _change(context, context.image.topics.by_id[topic_id], index, election)
        if record is not None:
            records.append(record)
    return ControllerResult(len(records) >= ELECTIONS_PER_RUN_MAX, records)


def _all_needed(context: ControllerContext, election: Election) -> list[TopicPartitions]:
    """Every topic by name, with the partitions that the election could change: as Kafka, also where there are none."""
    index, topics = context.index, context.image.topics
    by_topic: dict[str, list[int]] = {name: [] for name in topics.ids}
    for topic_id, partition in index.imbalanced() if election is Election.PREFERRED else index.leaderless():
        by_topic[topics.by_id[topic_id].name].append(partition)
    return [TopicPartitions(topic=name, partitions=partitions) for name, partitions in sorted(by_topic.items())]


def _find(context: ControllerContext, name: str, index: int) -> TopicImage:
    topic = context.image.topics.topic(name)
    if topic is None:
        raise UnknownTopicOrPartitionError(f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        raise UnknownTopicOrPartitionError(f"No such partition as {name}-{index}")
    return topic


def _elect(context: ControllerContext, topic: TopicImage, index: int, election: Election) -> VersionedRecord:
    partition = topic.partitions[index]
    if election is Election.PREFERRED:
        needed = partition.leader != partition.preferred_leader
    else:
        needed = partition.leader == NO_LEADER
    if not needed:
        raise ElectionNotNeededError
    record = _change(context, topic, index, election)
    if record is not None:
        return record
    if election is Election.PREFERRED:
        raise PreferredLeaderNotAvailableError
    raise EligibleLeadersNotAvailableError


def _change(context: ControllerContext, topic: TopicImage, index: int, election: Election) -> VersionedRecord | None:
    builder = PartitionChangeBuilder(context, topic, index, context.rules_of(topic))
    builder.election = election
    return builder.build()
