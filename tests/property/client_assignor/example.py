"""Groups drawn at random, written as JSON so that Java's assignors and ours can be given the same.

An example has an assignor's name, topics (each partition as the racks of its replicas) and members with what they
claim to own: mostly what an earlier assignment gave them, sometimes the same partition twice or from an old generation.
"""

import random
from typing import Any

from ottla.client.consumer.assignor import assignor_table, sticky_user_data
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.record import TopicPartition

Example = dict[str, Any]
Answer = dict[str, list[list[Any]]]
_NEWEST = 7


def draw(seed: int) -> Example:
    """The example of a seed."""
    rng = random.Random(seed)
    name = rng.choice(["range", "roundrobin", "sticky", "sticky", "cooperative-sticky", "cooperative-sticky"])
    racks = [f"rack-{letter}" for letter in "abc"[: rng.randint(1, 3)]] if rng.random() < 0.5 else []
    topics = {f"topic-{rng.randrange(1000)}": _partitions(rng, racks) for _ in range(rng.randint(1, 5))}
    members = _members(rng, list(topics), racks)
    _claim(rng, name, topics, members)
    return {"assignor": name, "topics": topics, "members": members}


def _partitions(rng: random.Random, racks: list[str]) -> list[list[str]]:
    whole = rng.random() < 0.2
    count = rng.choice([1, 2, 3, 3, 3, 6, 9, 14])
    return [racks if whole else rng.sample(racks, rng.randint(0, len(racks))) for _ in range(count)]


def _members(rng: random.Random, topics: list[str], racks: list[str]) -> dict[str, Any]:
    alike = rng.random() < 0.5
    shared = rng.sample(topics, rng.randint(1, len(topics)))
    members = {}
    for number in range(rng.choice([1, 2, 3, 4, 5, 8, 14])):
        wanted = shared if alike else rng.sample(topics, rng.randint(1, len(topics)))
        members[f"consumer-{number}-{rng.randrange(1 << 32):08x}"] = {
            "topics": sorted([*wanted, *(["absent"] if rng.random() < 0.05 and not alike else [])]),
            "instance": f"instance-{rng.randrange(1000)}-{number}" if rng.random() < 0.2 else None,
            "rack": rng.choice(racks) if racks and rng.random() < 0.9 else None,
            "owned": [],
            "generation": -1,
            "user_data": None,
        }
    return members


def _claim(rng: random.Random, name: str, topics: dict[str, list[list[str]]], members: dict[str, Any]) -> None:
    """Deals partitions to members that look back on an earlier generation."""
    if rng.random() < 0.2:
        return
    claims: dict[str, list[list[Any]]] = {member: [] for member in members if rng.random() < 0.8}
    old = {member for member in claims if rng.random() < 0.15}
    twice = 0.05 if rng.random() < 0.3 else 0.0
    favourite = rng.choice([*claims, None])
    for topic, partitions in topics.items():
        for number in range(len(partitions)):
            # Java moves partitions back to older owners even if those don't want the topic any more; we don't.
            owners = [member for member in claims if topic in members[member]["topics"]]
            for _ in range(2 if rng.random() < twice else 1):
                if owners and rng.random() < 0.85:
                    owner = favourite if favourite in owners and rng.random() < 0.4 else rng.choice(owners)
                    if [topic, number] not in claims[owner]:
                        claims[owner].append([topic, number])
    for member, claim in claims.items():
        generation = _NEWEST - rng.randint(1, 2) if member in old else _NEWEST
        _write_claim(name, members[member], claim, generation)


def _write_claim(name: str, member: dict[str, Any], claim: list[list[Any]], generation: int) -> None:
    if name == "sticky":
        partitions = [TopicPartition(topic, number) for topic, number in claim]
        member["user_data"] = sticky_user_data.encode_claim(partitions, generation).hex()
        member["generation"] = generation
    elif name == "cooperative-sticky":
        member["owned"], member["generation"] = claim, generation
        member["user_data"] = sticky_user_data.encode_generation(generation).hex()


def solve(example: Example) -> Answer:
    """Our answer, in the form of Java's."""
    assignor: PartitionAssignor = assignor_table.built_in(example["assignor"])
    topics = {topic: [frozenset(racks) for racks in every] for topic, every in example["topics"].items()}
    members = {member: subscription_of(given) for member, given in example["members"].items()}
    wanted = {topic for subscription in members.values() for topic in subscription.topics}
    present = {topic: racks for topic, racks in topics.items() if topic in wanted}
    assigned = assignor.assign(present, members)
    return {member: [[*partition] for partition in assignment.partitions] for member, assignment in assigned.items()}


def subscription_of(given: dict[str, Any]) -> MemberSubscription:
    """One member of an example."""
    return MemberSubscription(
        topics=tuple(given["topics"]),
        user_data=None if given["user_data"] is None else bytes.fromhex(given["user_data"]),
        owned_partitions=tuple(TopicPartition(topic, number) for topic, number in given["owned"]),
        generation_id=given["generation"] if given["generation"] >= 0 else None,
        rack_id=given["rack"],
        group_instance_id=given["instance"],
    )
