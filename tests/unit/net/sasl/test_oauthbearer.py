import pytest

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.oauthbearer import oauthbearer_exchange


def test_an_accepted_token_ends_the_exchange() -> None:
    exchange = oauthbearer_exchange("abc", {})
    assert next(exchange) == b"n,,\x01auth=Bearer abc\x01\x01"
    with pytest.raises(StopIteration):
        exchange.send(b"")


@pytest.mark.parametrize(
    ("challenge", "text"),
    [
        (b'{"status":"invalid_token","scope":"write"}', r"refused the token: invalid_token \(scope write\)"),
        (b"no json", "refused the token: no json"),
    ],
)
def test_a_refused_token_says_why(challenge: bytes, text: str) -> None:
    exchange = oauthbearer_exchange("abc", {})
    next(exchange)
    with pytest.raises(LoginFailedError, match=text):
        exchange.send(challenge)
