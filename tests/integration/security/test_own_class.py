"""Operators' classes decide who clients are; one that raises or hangs costs its client alone."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ottla.base.config import ConfigError
from ottla.net.apart import Apart
from tests.integration.client.test_security import ask, mutual, trouble
from tests.integration.security import own_class
from tests.integration.security.secured_node import SecuredNode, try_listener

_HERE = own_class.__name__
_HANDLER = "sasl.server.callback.handler.class"
_TIMEOUT_S = 3.0


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {
        "own.password": "secret",
        f"listener.name.sasl.plain.{_HANDLER}": f"{_HERE}:Users",
        f"listener.name.sasl.scram-sha-256.{_HANDLER}": f"{_HERE}.Users",
        f"listener.name.sasl.oauthbearer.{_HANDLER}": f"{_HERE}:Tokens",
        f"listener.name.sasltls.plain.{_HANDLER}": f"{_HERE}:Checker",
        "listener.name.sasltls.principal.builder.class": f"{_HERE}:Namer",
        "listener.name.mutual.principal.builder.class": f"{_HERE}:Namer",
        "listener.name.mutual.ssl.principal.mapping.rules": "DEFAULT",
        "listener.name.asking.principal.builder.class": f"{_HERE}:Namer",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Apart.__init__, "__defaults__", (_TIMEOUT_S,))
        with SecuredNode(tmp_path_factory.mktemp("own"), **changes) as found:
            yield found
    own_class.hang.set()


def plain(user: str, password: str = "secret", mechanism: str = "PLAIN") -> dict[str, object]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_username": user,
        "sasl_password": password,
    }


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_passwords(node: SecuredNode, mechanism: str, caplog: pytest.LogCaptureFixture) -> None:
    address = node.address("SASL")
    ask(address, **plain("alice", mechanism=mechanism))
    for user, password in (("alice", "wrong"), ("bob", "secret")):
        assert "Authentication failed" in trouble(address, **plain(user, password, mechanism))
    assert "invalid credentials" in trouble(address, **plain("raises", mechanism=mechanism))
    assert "the directory is broken" in caplog.text
    node_user = {**plain("alice"), "sasl_client_callback_handler_class": f"{_HERE}:login"}
    ask(address, **{**node_user, "sasl_username": "", "sasl_password": ""})


def test_tokens(node: SecuredNode) -> None:
    settings = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    ask(node.address("SASL"), **settings, sasl_login_callback_handler_class=lambda: "letters")
    assert "invalid_token" in trouble(
        node.address("SASL"), **settings, sasl_login_callback_handler_class=lambda: "others"
    )


def test_a_class_that_hangs(node: SecuredNode) -> None:
    """Others log in meanwhile; the one waits, and is sent away."""
    address = node.address("SASL")
    with ThreadPoolExecutor() as pool:
        hanging = pool.submit(trouble, address, **plain("hangs"), socket_connection_setup_timeout_ms=60_000)
        ask(address, **plain("alice"))
        assert not hanging.done()
        assert "closed the connection during SASL authentication" in hanging.result()


def test_principals(node: SecuredNode, caplog: pytest.LogCaptureFixture) -> None:
    tls = {"security_protocol": "SASL_SSL", "ssl_truststore_location": node.authority.certificate}
    with caplog.at_level(logging.DEBUG, "ottla.net"):
        ask(node.address("SASLTLS"), **{**plain("alice"), **tls})
        assert "User:alice-SASLTLS-PLAIN-without logged in" in caplog.text
        trouble(node.address("SASLTLS"), **{**plain("alice", "wrong"), **tls})
    tls["security_protocol"] = "SSL"
    ask(node.address("MUTUAL"), **tls, **mutual(node.client))
    ask(node.address("ASKING"), **tls)
    with caplog.at_level(logging.INFO, "ottla.net"):
        trouble(node.address("MUTUAL"), **tls, **mutual(node.authority.sign("raises")))
    assert "no principal for User:CN=raises: nobody like that" in caplog.text


@pytest.mark.parametrize(
    ("mechanism", "named", "reason"),
    [
        ("plain", f"{_HERE}:Nothing", "no such Python class"),
        ("plain", f"{_HERE}:Tokens", "the class has no method check_password or password"),
        ("plain", f"{_HERE}:Users", "it cannot be made: KeyError"),
        ("gssapi", f"{_HERE}:Users", "GSSAPI takes no handler"),
    ],
)
def test_classes_that_can_not_be_used(mechanism: str, named: str, reason: str) -> None:
    given = {"sasl.enabled.mechanisms": mechanism.upper(), f"listener.name.a.{mechanism}.{_HANDLER}": named}
    with pytest.raises(ConfigError, match=reason):
        try_listener(given)
