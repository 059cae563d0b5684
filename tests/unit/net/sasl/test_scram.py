"""SCRAM with the worked examples of RFC 5802's successors, and with brokers that lie."""

import base64

import pytest

from ottla.net.errors import LoginFailedError
from ottla.net.sasl.scram import ScramLogin, scram_exchange

# RFC 7677, section 3.
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
LOGIN = ScramLogin("SCRAM-SHA-256", "user", "pencil")


def test_the_example_of_rfc_7677() -> None:
    exchange = scram_exchange(LOGIN, NONCE)
    assert next(exchange) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert exchange.send(SERVER_FIRST) == CLIENT_FINAL
    with pytest.raises(StopIteration):
        exchange.send(SERVER_FINAL)


def test_a_name_with_signs_of_the_grammar_is_escaped() -> None:
    login = ScramLogin("SCRAM-SHA-512", "a=b,c", "secret")
    assert next(scram_exchange(login, NONCE)) == b"n,,n=a=3Db=2Cc,r=rOprNGfwEbeRWgbNEkqO"


def test_a_delegation_token_says_so() -> None:
    login = ScramLogin("SCRAM-SHA-256", "id", "hmac", is_token=True)
    assert next(scram_exchange(login, NONCE)).endswith(b",tokenauth=true")


def test_nonces_differ() -> None:
    assert next(scram_exchange(LOGIN)) != next(scram_exchange(LOGIN))


@pytest.mark.parametrize(
    ("challenge", "text"),
    [
        (b"r=somebodyElse,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not continue ours"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not continue ours"),
        (SERVER_FIRST.replace(b"i=4096", b"i=100"), "asks for 100 SCRAM iterations"),
        (SERVER_FIRST.replace(b"i=4096", b"i=many"), "no number of iterations"),
        (SERVER_FIRST.replace(b"i=4096", b"i=" + b"9" * 5_000), "no number of iterations"),
        (SERVER_FIRST.replace(b"i=4096", b"i=2000000000"), "asks for 2000000000 SCRAM iterations"),
        (SERVER_FIRST.replace(b"s=W22", b"s=!!!"), "not base64"),
        (b"e=unknown-user", "the broker refused: unknown-user"),
        (b"", "lacks a part"),
    ],
)
def test_a_bad_challenge_is_refused(challenge: bytes, text: str) -> None:
    exchange = scram_exchange(LOGIN, NONCE)
    next(exchange)
    with pytest.raises(LoginFailedError, match=text):
        exchange.send(challenge)


def test_a_broker_that_does_not_know_the_password_is_refused() -> None:
    exchange = scram_exchange(LOGIN, NONCE)
    next(exchange)
    exchange.send(SERVER_FIRST)
    with pytest.raises(LoginFailedError, match="not who it claims to be"):
        exchange.send(b"v=" + base64.b64encode(bytes(32)))
