"""How instances elect a primary."""

import pytest

from ottla.web.election.identity import (
    Assignment,
    AssignmentError,
    Identity,
    InvalidIdentityError,
    assign,
    decode_assignment,
    decode_identity,
    encode_assignment,
    encode_identity,
)

IDENTITY = b'{"version":1,"host":"h","port":8081,"master_eligibility":true,"scheme":"http","leader":false}'


def test_metadata_has_confluents_bytes() -> None:
    assert encode_identity(Identity("h", 8081)) == IDENTITY
    assert decode_identity(IDENTITY) == Identity("h", 8081)


def test_assignments_have_confluents_bytes() -> None:
    assignment = Assignment(AssignmentError.NONE, "m", Identity("h", 8081))
    data = b'{"version":1,"error":0,"master":"m","master_identity":' + IDENTITY + b"}"
    assert encode_assignment(assignment) == data
    assert decode_assignment(data) == assignment
    assert decode_assignment(b'{"version":1,"error":1,"master":null,"master_identity":null}').primary is None


def test_the_smallest_url_of_those_that_may_is_the_primary() -> None:
    members = {"1": Identity("a", 1, is_eligible=False), "2": Identity("c", 1), "3": Identity("b", 1)}
    assert assign(members).primary_id == "3"
    assert assign({"1": Identity("a", 1, is_eligible=False)}) == Assignment(AssignmentError.NONE)


def test_two_of_one_url_have_no_primary() -> None:
    assert assign({"1": Identity("a", 1), "2": Identity("a", 1)}).error is AssignmentError.DUPLICATE_URLS


@pytest.mark.parametrize("data", [b"", b"[]", b'{"host":"h"}'])
def test_strangers_in_the_group_are_told(data: bytes) -> None:
    with pytest.raises(InvalidIdentityError):
        decode_identity(data)
