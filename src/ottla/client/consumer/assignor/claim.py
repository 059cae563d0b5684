"""The partitions that members of a sticky group claim to own, and which claims count.

Of two members that claim one partition the one of the newer generation keeps it; in the same generation neither does,
since one of them missed that it lost it (KIP-792).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ottla.base.frozen import frozen
from ottla.client.consumer.assignor.partition_assignor import TopicRacks
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition

NO_GENERATION = -1


@frozen
class Claim:
    """The partitions that one member had, and in which generation; None if it can't know."""

    partitions: tuple[TopicPartition, ...] = ()
    generation: int | None = None


ClaimReader = Callable[[MemberSubscription], Claim]


@dataclass(slots=True)
class Claims:
    """All claims of a group, sorted out."""

    owned: dict[str, dict[TopicPartition, None]] = field(default_factory=dict)
    """The accepted partitions of each member, in the order of its claim."""
    disputed: set[TopicPartition] = field(default_factory=set)
    """Claimed by two members of one generation."""
    outdated: dict[TopicPartition, str] = field(default_factory=dict)
    """The newest owner of a partition in an older generation."""


def read_claims(topics: TopicRacks, members: Mapping[str, MemberSubscription], read: ClaimReader) -> Claims:
    """The claims of all members to partitions that exist."""
    claims = Claims()
    each = {member: read(subscription) for member, subscription in members.items()}
    owners: dict[TopicPartition, str] = {}
    for member, claim in each.items():
        claims.owned[member] = {}
        for partition in claim.partitions:
            if partition.partition < len(topics.get(partition.topic, ())):
                _settle(claims, owners, partition, (member, claim.generation), members)
    _read_outdated(claims, each)
    return claims


def _settle(
    claims: Claims,
    owners: dict[TopicPartition, str],
    partition: TopicPartition,
    claimant: tuple[str, int | None],
    members: Mapping[str, MemberSubscription],
) -> None:
    member, generation = claimant
    rival = owners.get(partition)
    if rival is None:
        claims.owned[member][partition] = None
        owners[partition] = member
        return
    mine, theirs = _number(generation), _number(members[rival].generation_id)
    if mine < theirs:
        return
    claims.owned[rival].pop(partition, None)
    owners[partition] = member
    if mine > theirs:
        claims.owned[member][partition] = None
    else:
        claims.disputed.add(partition)


def _read_outdated(claims: Claims, each: Mapping[str, Claim]) -> None:
    newest = max((_number(claim.generation) for claim in each.values()), default=NO_GENERATION)
    generations: dict[TopicPartition, int] = {}
    for member, claim in each.items():
        generation = _number(claim.generation)
        if generation >= newest:
            continue
        for partition in claim.partitions:
            if generation > generations.get(partition, NO_GENERATION - 1):
                generations[partition] = generation
                claims.outdated[partition] = member


def _number(generation: int | None) -> int:
    return NO_GENERATION if generation is None else generation
