"""Who sent a request is told as Kafka tells it, and what cannot be read is refused."""

import pytest

from ottla.broker.request.forwarded_request import decode_address, decode_principal, encode_principal
from ottla.protocol.errors import InvalidRequestError, PrincipalDeserializationFailureError


@pytest.mark.parametrize("principal", ["User:ANONYMOUS", "User:CN=ann,O=x:y", "User:"])
def test_a_principal_survives_the_way(principal: str) -> None:
    assert decode_principal(encode_principal(principal)) == (principal, False)
    assert decode_principal(encode_principal(principal, is_token=True)) == (principal, True)


@pytest.mark.parametrize("data", [None, b"", b"\0", b"\0\1\5User\1\0\0", b"\0\0\5Us"])
def test_a_principal_of_another_kind_is_refused(data: bytes | None) -> None:
    with pytest.raises(PrincipalDeserializationFailureError):
        decode_principal(data)


def test_addresses() -> None:
    assert decode_address(bytes(15) + b"\1") == "::1"
    with pytest.raises(InvalidRequestError):
        decode_address(b"\1\2\3")
