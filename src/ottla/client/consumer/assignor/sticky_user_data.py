"""The bytes in which sticky assignors tell the leader what their member had.

`sticky` sends its partitions and their generation (v0 had no generation, and no version stands before either);
`cooperative-sticky` sends the generation alone, for leaders that don't know the field of KIP-792.
"""

from collections.abc import Sequence

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.claim import NO_GENERATION, Claim
from ottla.client.consumer.assignor.subscription import by_topic
from ottla.client.record import TopicPartition
from ottla.protocol.definition import Message, Struct
from ottla.protocol.errors import DecodeError
from ottla.protocol.field import array, int32, string

_GENERATION_BYTES = 4


class PreviousTopicPartition(Struct):
    topic: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class StickyUserData(Message, versions="0-1"):
    previous_assignment: list[PreviousTopicPartition] = array(PreviousTopicPartition, "0+")
    generation: int = int32("1+", default=NO_GENERATION, ignorable=True)


def encode_claim(partitions: Sequence[TopicPartition], generation: int) -> bytes:
    """The user data of `sticky`."""
    topics = by_topic(partitions)
    previous = [
        PreviousTopicPartition(topic=topic, partitions=topics[topic])
        for topic in java_order.hash_order(topics, java_order.string_hash)
    ]
    return StickyUserData(previous_assignment=previous, generation=generation).encode(1)


def decode_claim(data: bytes | None) -> Claim:
    """Reads user data of another member's `sticky`; malformed bytes claim nothing."""
    if not data:
        return Claim()
    for version in (1, 0):
        try:
            message, _ = StickyUserData.decode_from(data, 0, version)
        except DecodeError:
            continue
        partitions = tuple(
            TopicPartition(previous.topic, number)
            for previous in message.previous_assignment
            for number in previous.partitions
        )
        return Claim(partitions, message.generation if version else None)
    return Claim((), NO_GENERATION)


def encode_generation(generation: int) -> bytes:
    """The user data of `cooperative-sticky`."""
    return generation.to_bytes(_GENERATION_BYTES, signed=True)


def decode_generation(data: bytes | None) -> int | None:
    """Reads user data of another member's `cooperative-sticky`; None if there is none."""
    if data is None:
        return None
    if len(data) < _GENERATION_BYTES:
        return NO_GENERATION
    return int.from_bytes(data[:_GENERATION_BYTES], signed=True)
