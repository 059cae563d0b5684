"""Bearer tokens of a provider, which the broker asks for its keys: who gets in, and what happens when keys change."""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.broker.authentication.bearer_setting import BearerListener
from ottla.broker.authentication.key_source import KeyPlace, KeySource
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.config.server_config import ServerConfig
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.errors import AuthenticationFailedError
from ottla.net.sasl.jaas import JaasConfig
from ottla.net.sasl.oauthbearer import oauthbearer_exchange
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.bearer.signing_key import SigningKey
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.client.cluster import cluster_client
from tests.integration.client.test_security import ask, trouble
from tests.integration.net.served import PATIENCE_S, is_closed_by_server, receive_frame
from tests.integration.node.nodes import properties
from tests.integration.security.pair import pair
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_attack import connect, request
from tests.integration.security.test_clients import round_trip, unsigned
from tests.integration.security.token_provider import CLIENT, TokenProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[TokenProvider]:
    with TokenProvider() as found:
        yield found


@pytest.fixture(scope="module")
def node(provider: TokenProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("signed"), **provider.broker_settings("sasl")) as found:
        yield found


def log_in(sock: socket.socket, token: str) -> SaslAuthenticateResponse:
    """The broker's last word on a token."""
    request(sock, SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
    response = _authenticate(sock, next(oauthbearer_exchange(token, {})))
    return _authenticate(sock, b"\x01") if response.auth_bytes else response


def _authenticate(sock: socket.socket, message: bytes) -> SaslAuthenticateResponse:
    frame = request(sock, SaslAuthenticateRequest(auth_bytes=message), 2)
    response = decode_response(frame, ApiKey.SASL_AUTHENTICATE, 2)[1]
    assert isinstance(response, SaslAuthenticateResponse)
    return response


def is_accepted(node: SecuredNode, token: str) -> bool:
    """Whether the broker knows the bearer; what it says of others is always the same."""
    with connect(node, "SASL") as sock:
        said = log_in(sock, token)
    if said.error_code == ErrorCode.NONE:
        return True
    assert (said.error_code, said.error_message) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        '{"status":"invalid_token"}',
    )
    return False


def becomes_accepted(node: SecuredNode, token: str) -> bool:
    """Whether it is, once the broker has fetched the keys."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := is_accepted(node, token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_librdkafka(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    settings = {
        "bootstrap.servers": node.address("SASL"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _: (provider.token("alice"), time.time() + 600),
    }
    round_trip(settings, "rd-signed")


def test_ours_with_client_credentials(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    settings: dict[str, object] = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauthbearer_token_endpoint_url": f"{provider.issuer}/token",
        "sasl_oauthbearer_scope": "read write",
        "sasl_oauthbearer_client_credentials_client_id": CLIENT[0],
        "sasl_oauthbearer_client_credentials_client_secret": CLIENT[1],
    }
    assert ask(node.address("SASL"), **settings).brokers
    wrong = settings | {"sasl_oauthbearer_client_credentials_client_secret": "guessed"}
    assert "HTTP 401" in trouble(node.address("SASL"), AuthenticationFailedError, **wrong)


def test_who_does_not_get_in(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    now = time.time()
    claims = {"sub": "alice", "aud": "kafka", "iss": provider.issuer, "iat": now, "exp": now + 600}
    assert is_accepted(node, provider.key.token(claims))
    for token in (
        unsigned("alice"),
        SigningKey(provider.key.id).token(claims),
        provider.token("alice", life_s=-60),
        provider.token("alice", nbf=now + 300),
        provider.token("alice", aud="somebody else"),
        provider.token("alice", iss="https://somebody.else"),
        provider.token(""),
        provider.key.token(claims, alg="none"),
        "not.a.token",
    ):
        assert not is_accepted(node, token)
    text = trouble(
        node.address("SASL"),
        AuthenticationFailedError,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_login_callback_handler_class=lambda: unsigned("alice"),
    )
    assert "the broker refused the token: invalid_token" in text


def test_keys_change_while_a_client_is_connected(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    old = provider.token("alice")

    async def main() -> None:
        settings = {"sasl_mechanism": "OAUTHBEARER", "sasl_login_callback_handler_class": lambda: old}
        async with cluster_client(
            node.address("SASL"), ADMIN_KEYS, security_protocol="SASL_PLAINTEXT", **settings
        ) as client:
            assert isinstance(await client.request(1, MetadataRequest(topics=[])), MetadataResponse)
            provider.rotate("second")
            assert await asyncio.to_thread(becomes_accepted, node, provider.token("alice"))
            assert not is_accepted(node, old)
            assert isinstance(await client.request(1, MetadataRequest(topics=[])), MetadataResponse)

    asyncio.run(main())


def test_a_provider_that_is_away(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    provider.is_away, asked = True, provider.fetches
    try:
        deadline = time.monotonic() + PATIENCE_S
        while provider.fetches == asked and time.monotonic() < deadline:
            assert not is_accepted(node, SigningKey("third").token({"sub": "mallory"}))
        assert provider.fetches > asked
        # What was fetched before still counts.
        assert is_accepted(node, provider.token("alice"))
    finally:
        provider.is_away = False
    provider.rotate("fourth")
    assert becomes_accepted(node, provider.token("alice"))


def test_a_session_ends_with_its_token(node: SecuredNode, provider: TokenProvider) -> None:
    assert becomes_accepted(node, provider.token("alice"))
    ask_more = encode_request(MetadataRequest(topics=[]), 12, correlation_id=2, client_id="me")
    with connect(node, "SASL") as sock:
        assert 1_200 < log_in(sock, provider.token("alice", life_s=600)).session_lifetime_ms <= 600_000
        sock.sendall(ask_more)
        assert receive_frame(sock)
    with connect(node, "SASL") as sock:
        said = log_in(sock, provider.token("alice", life_s=1.2))
        assert 0 <= said.session_lifetime_ms <= 1_200
        time.sleep(1.2)
        sock.sendall(ask_more)
        assert is_closed_by_server(sock)


def test_invented_keys_do_not_trouble_the_provider() -> None:
    with TokenProvider() as other:
        source = KeySource(KeyPlace(f"{other.issuer}/keys", 3_600_000, 100, 3_600_000))
        source.start()
        try:
            _wait_for_keys(source)
            for _ in range(1_000):
                source.want_newer()
            time.sleep(0.3)
            assert other.fetches == 1
        finally:
            source.close()


def test_a_provider_that_comes_later() -> None:
    with TokenProvider() as other:
        other.is_away = True
        source = KeySource(KeyPlace(f"{other.issuer}/keys", 3_600_000, 10, 50))
        source.start()
        try:
            deadline = time.monotonic() + PATIENCE_S
            while other.fetches < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
            assert (other.fetches >= 2, source.keys) == (True, ())
            other.is_away = False
            _wait_for_keys(source)
        finally:
            source.close()


def test_redirects_are_not_followed(provider: TokenProvider) -> None:
    with TokenProvider() as other:
        other.moved_to = f"{provider.issuer}/keys"
        with pytest.raises(OSError, match="HTTP 302"):
            _source(other, {}).read()


def test_credentials_follow_no_redirect(node: SecuredNode, provider: TokenProvider) -> None:
    """The id and the secret are for the address of the settings alone."""
    settings: dict[str, object] = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauthbearer_client_credentials_client_id": CLIENT[0],
        "sasl_oauthbearer_client_credentials_client_secret": CLIENT[1],
    }
    with TokenProvider() as other:
        other.moved_to = f"{provider.issuer}/token"
        settings["sasl_oauthbearer_token_endpoint_url"] = f"{other.issuer}/token"
        fetches = provider.fetches
        assert "HTTP 302" in trouble(node.address("SASL"), AuthenticationFailedError, **settings)
        assert provider.fetches == fetches


def test_keys_over_https(tmp_path: Path) -> None:
    require_openssl()
    authority = Authority(tmp_path, "authority")
    shown = authority.sign("localhost", "DNS:localhost")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(shown.chain, shown.key)
    with TokenProvider(context) as other:
        trusting = _source(other, {"ssl.truststore.location": str(authority.certificate)})
        trusting.read()
        assert [key.id for key in trusting.keys] == [other.key.id]
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            _source(other, {}).read()


def _source(provider: TokenProvider, options: dict[str, str]) -> KeySource:
    url = f"{provider.issuer}/keys"
    config = ServerConfig(properties(Path("unused")) | {"sasl.oauthbearer.jwks.endpoint.url": url})
    settings = ListenerSettings(config, "PLAINTEXT")
    source = BearerListener(settings, JaasConfig("x", options), None, lambda: 0).source
    assert source is not None
    return source


def _wait_for_keys(source: KeySource) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not source.keys and time.monotonic() < deadline:
        time.sleep(0.02)
    assert source.keys


@pytest.mark.long
def test_a_broker_and_its_controller(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nodes get their tokens over https, and new ones before they end."""
    require_openssl()
    authority = Authority(tmp_path, "authority")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.sign("localhost", "DNS:localhost").both)
    with TokenProvider(context) as provider, caplog.at_level("INFO"):
        provider.life_s = 6.0
        asyncio.run(_nodes_with_tokens(provider, tmp_path, authority))
        assert provider.given >= 2
    assert "session has ended" not in caplog.text


async def _nodes_with_tokens(provider: TokenProvider, directory: Path, authority: Authority) -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    settings = {
        "sasl_oauthbearer_token_endpoint_url": f"{provider.issuer}/token",
        "sasl_oauthbearer_client_credentials_client_id": CLIENT[0],
        "sasl_oauthbearer_client_credentials_client_secret": CLIENT[1],
    }
    server = dict(settings)
    for name in ("a", "controller"):
        server |= {key.replace(".", "_"): value for key, value in provider.broker_settings(name).items()}
        trust = f'ssl.truststore.location="{authority.certificate}"'
        server[f"listener_name_{name}_oauthbearer_sasl_jaas_config"] = f"{module} {trust};"
    async with pair(directory, "SASL_PLAINTEXT", "OAUTHBEARER", **server) as broker:
        address = f"localhost:{broker.listener_address('A')[1]}"
        login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER", **settings}
        login["sasl_jaas_config"] = f"{module} {trust};"
        async with cluster_client(address, ADMIN_KEYS, **login) as client:
            ends_at = time.monotonic() + 1.5 * provider.life_s
            while time.monotonic() < ends_at:
                answer = await client.request(2, MetadataRequest(topics=[]))
                assert isinstance(answer, MetadataResponse)
                assert [each.node_id for each in answer.brokers] == [2]
                await asyncio.sleep(0.1)
