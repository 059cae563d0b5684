import pytest

from ottla.base.java import order as java_order
from ottla.client.consumer.assignor.claim import Claim
from ottla.client.consumer.assignor.sticky_user_data import (
    decode_claim,
    decode_generation,
    encode_claim,
    encode_generation,
)
from ottla.client.consumer.assignor.subscription import (
    MemberAssignment,
    MemberSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from ottla.client.record import TopicPartition
from ottla.protocol.consumer_protocol import ConsumerProtocolSubscription
from ottla.protocol.errors import DecodeError

OWNED = (TopicPartition("a", 1), TopicPartition("a", 4), TopicPartition("b", 0))


def test_a_subscription_comes_back_whole() -> None:
    subscription = MemberSubscription(("a", "b"), b"mine", OWNED, 7, "rack", "instance")
    assert decode_subscription(encode_subscription(subscription), "instance") == subscription


def test_older_members_are_read() -> None:
    old = (0).to_bytes(2) + ConsumerProtocolSubscription(topics=["a"], user_data=None).encode(0)
    assert decode_subscription(old) == MemberSubscription(("a",))


def test_newer_members_are_read_as_far_as_they_are_known() -> None:
    newer = (9).to_bytes(2) + encode_subscription(MemberSubscription(("a",)))[2:] + b"more"
    assert decode_subscription(newer) == MemberSubscription(("a",))


def test_an_assignment_comes_back_and_nothing_is_nothing() -> None:
    assignment = MemberAssignment(OWNED, b"yours")
    assert decode_assignment(encode_assignment(assignment)) == assignment
    assert decode_assignment(b"") == MemberAssignment()


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", b"\x00\x01\x7f"])
def test_bytes_that_are_no_subscription_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_subscription(data)


def test_what_sticky_members_had() -> None:
    assert decode_claim(encode_claim(OWNED, 3)) == Claim(OWNED, 3)
    assert decode_claim(encode_claim(OWNED, 3)[:-4]) == Claim(OWNED, None), "version 0 has no generation"
    assert decode_claim(b"\x7f") == Claim((), -1)
    assert decode_claim(None) == Claim()
    assert decode_generation(encode_generation(9)) == 9
    assert (decode_generation(None), decode_generation(b"")) == (None, -1)


def test_javas_hashes_and_order() -> None:
    assert java_order.string_hash("hello") == 99162322
    assert java_order.string_hash("polygenelubricants") == 0x80000000
    assert sorted(["\U0001f600", "\ufffd"], key=java_order.sort_key) == ["\U0001f600", "\ufffd"]
    put = "banana apple cherry date elder fig grape hazel iris juniper kiwi lemon mango nectar"
    walked = "banana date cherry iris kiwi fig nectar elder grape juniper hazel mango apple lemon"
    assert java_order.hash_order(put.split(), java_order.string_hash) == walked.split()
