"""Which settings count for a listener, and which keep a node from starting."""

import asyncio
import base64
import hmac
from pathlib import Path

import pytest
from immutables import Map

from ottla.base.config import ConfigError
from ottla.broker.authentication.credential import Credentials
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.authentication.node_login import begin_login
from ottla.broker.authentication.server_security import ServerSecurity, exposed_mechanisms
from ottla.broker.config.server_config import ServerConfig
from ottla.metadata.image.delegation_token import DelegationToken
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.net.sasl.client_login import BeginLogin, ClientExchange
from ottla.net.sasl.jaas_file import allowed_urls, jaas_path, read_file
from ottla.net.sasl.oauthbearer import oauthbearer_exchange
from ottla.net.sasl.scram_server import ScramName
from ottla.net.security import ListenerSecurity
from tests.bearer.signing_key import SigningKey, key_set, unsigned_part

MODULES = "org.apache.kafka.common.security"
NOW_MS = 1_000


def config(**given: str) -> ServerConfig:
    return ServerConfig(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": "A://:9092,CONTROLLER://:9093",
            "listener.security.protocol.map": "A:SASL_SSL,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "A",
            "controller.quorum.bootstrap.servers": "localhost:9093",
        }
        | {name.replace("__", "-").replace("_", "."): value for name, value in given.items()}
    )


def settings(**given: str) -> ListenerSettings:
    return ListenerSettings(config(**given), "A")


def made(protocol: str, jaas: JaasEntries | None = None, **given: str) -> ListenerSecurity | None:
    credentials = Credentials(lambda: NOW_MS, None)
    return ServerSecurity(jaas or JaasEntries({}), credentials, lambda: NOW_MS).make(settings(**given), protocol)


def test_prefixes() -> None:
    found = settings(
        ssl_client_auth="requested",
        listener_name_a_ssl_client_auth="required",
        connections_max_reauth_ms="5",
        listener_name_a_plain_connections_max_reauth_ms="7",
        ssl_key_password="hush",
    )
    assert found.tls().client_auth == "required"
    assert (found.session_ms_max("PLAIN"), found.session_ms_max("SCRAM-SHA-256")) == (7, 5)
    assert found.tls().key_password == "hush"
    assert "hush" not in repr(found.tls())
    assert ListenerSettings(config(ssl_client_auth="requested"), "CONTROLLER").tls().client_auth == "requested"


def test_plaintext_asks_for_nothing() -> None:
    assert made("PLAINTEXT") is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "gssapi.sasl.jaas.config: Kerberos needs a login module"),
        ({"sasl_enabled_mechanisms": "PLAIN,NTLM"}, "Expected some of PLAIN, SCRAM"),
        ({"sasl_enabled_mechanisms": "PLAIN", "sasl_users_file": "/nowhere"}, "can't be read"),
        ({"sasl_enabled_mechanisms": "PLAIN", "listener_name_a_plain_sasl_jaas_config": "x required"}, "line 1"),
        ({"sasl_enabled_mechanisms": "PLAIN", "sasl_server_callback_handler_class": "x.Y"}, "no such Python class"),
    ],
)
def test_sasl_that_can_not_be_served(given: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        made("SASL_PLAINTEXT", **given)


def test_tls_without_a_certificate() -> None:
    with pytest.raises(ConfigError, match="needs a key and its certificate"):
        made("SSL")


def test_the_file_that_kafka_opts_names(tmp_path: Path) -> None:
    path = tmp_path / "jaas.conf"
    path.write_text(
        'KafkaServer { a.PlainLoginModule required username="x"; a.ScramLoginModule required username="y"; };\n'
        'a.KafkaServer { a.PlainLoginModule required username="z"; };\n'
    )
    entries = JaasEntries.of_environment({"KAFKA_OPTS": f'-Xmx1g -Djava.security.auth.login.config="{path}"'})
    assert entries.find(settings(), "PLAIN").options == {"username": "z"}
    assert entries.find(settings(), "SCRAM-SHA-256").options == {"username": "y"}
    other = ListenerSettings(config(), "CONTROLLER")
    assert entries.find(other, "PLAIN").options == {"username": "x"}
    given = settings(listener_name_a_plain_sasl_jaas_config="a.B required username=settings;")
    assert entries.find(given, "PLAIN").options == {"username": "settings"}
    assert entries.find(settings(), "OAUTHBEARER").options == {}


def test_a_stray_semicolon_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "jaas.conf"
    path.write_text('KafkaClient {\n  a.PlainLoginModule required;\n  username="u"\n  password="hush";\n};\n')
    with pytest.raises(ConfigError, match="line 3, column 11") as refused:
        read_file(path)
    assert "hush" not in str(refused.value)
    assert jaas_path("-Xmx1g") is None
    twice = "-Djava.security.auth.login.config=a -Djava.security.auth.login.config=b"
    assert jaas_path(twice) == Path("b")


def test_mechanisms_that_others_can_listen_to() -> None:
    given = {"sasl_enabled_mechanisms": "PLAIN,OAUTHBEARER"}
    assert exposed_mechanisms(settings(**given), "SASL_PLAINTEXT", "") == ["PLAIN"]
    for protocol, host in (("SASL_SSL", ""), ("SASL_PLAINTEXT", "localhost"), ("SASL_PLAINTEXT", "127.0.0.1")):
        assert exposed_mechanisms(settings(**given), protocol, host) == []


def test_a_node_needs_something_to_log_in_with() -> None:
    with pytest.raises(ConfigError, match="needs username and password"):
        begin_login(settings(), "PLAIN", JaasEntries({}))
    given = {"listener_name_a_plain_sasl_jaas_config": "a.B required username=u password=p;"}
    mechanism, exchange = asyncio.run(_begun(begin_login(settings(**given), "PLAIN", JaasEntries({}))))
    assert (mechanism, next(exchange)) == ("PLAIN", b"\0u\0p")


async def _begun(begin: BeginLogin) -> tuple[str, ClientExchange]:
    return await begin("localhost")


def test_a_delegation_token_is_its_owner() -> None:
    def image() -> MetadataImage:
        token = DelegationToken("id", "User:owner", "User:owner", (), 0, 5_000, expires_ms)
        return MetadataImage(
            **{name: getattr(EMPTY_IMAGE, name) for name in EMPTY_IMAGE.__slots__ if name != "delegation_tokens"},
            delegation_tokens=Map({"id": token}),
        )

    credentials, expires_ms = Credentials(lambda: NOW_MS, "master"), 3_000
    credentials.image = image
    name = ScramName("SCRAM-SHA-256", "id", True)
    found = credentials.find(name, None)
    assert found is not None
    assert (found.identity.principal, found.identity.is_token, found.identity.expires_at_ms) == (
        "User:owner",
        True,
        3_000,
    )
    assert credentials.find(name, None) is found
    password = base64.b64encode(hmac.digest(b"master", b"id", "sha512")).decode()
    assert password not in repr(found)
    assert credentials.find(ScramName("SCRAM-SHA-256", "id", False), None) is None
    expires_ms = NOW_MS - 1
    assert credentials.find(name, None) is None


KAFKA_HANDLER = f"{MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"sasl_server_callback_handler_class": "x.Y"}, "no such Python class"),
        ({"listener_name_a_oauthbearer_sasl_server_callback_handler_class": "x.Y"}, "no such Python class"),
        ({"sasl_server_callback_handler_class": KAFKA_HANDLER}, "the place of the keys is needed"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "ftp://a/keys"}, "Expected https"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "https:///keys"}, "Expected https"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "http://[/keys"}, "Expected https"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "file:///nowhere"}, "no keys there"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "file:///dev/null"}, "no keys there"),
        (
            {"sasl_oauthbearer_jwks_endpoint_url": "http://a", "sasl_oauthbearer_jwt_validator_class": "x.Y"},
            "DefaultJwtValidator",
        ),
        ({"sasl_oauthbearer_jwks_endpoint_url": "http://a", "sasl_oauthbearer_sub_claim_name": " "}, "name of a claim"),
        ({"sasl_oauthbearer_jwks_endpoint_url": "http://a", "sasl_oauthbearer_clock_skew_seconds": "-1"}, "at least 0"),
        (
            {"sasl_oauthbearer_jwks_endpoint_url": "http://a", "sasl_oauthbearer_jwks_endpoint_refresh_ms": "0"},
            "at least 1",
        ),
    ],
)
def test_signed_tokens_that_can_not_be_checked(given: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        made("SASL_PLAINTEXT", sasl_enabled_mechanisms="OAUTHBEARER", **given)


def test_kafkas_handler_is_for_its_mechanism_alone() -> None:
    with pytest.raises(ConfigError, match="are not served"):
        made("SASL_PLAINTEXT", sasl_enabled_mechanisms="PLAIN", sasl_server_callback_handler_class=KAFKA_HANDLER)


@pytest.mark.parametrize(
    "handler", [{}, {"listener_name_a_oauthbearer_sasl_server_callback_handler_class": KAFKA_HANDLER}]
)
def test_signed_tokens_with_keys_in_a_file(tmp_path: Path, handler: dict[str, str]) -> None:
    key, path = SigningKey("k"), tmp_path / "the keys.json"
    path.write_bytes(key_set(key))
    url = path.as_uri()
    given = handler | {
        "sasl_enabled_mechanisms": "OAUTHBEARER",
        "listener_name_a_sasl_oauthbearer_jwks_endpoint_url": url,
        "sasl_oauthbearer_expected_audience": "nobody",
        "listener_name_a_oauthbearer_sasl_oauthbearer_expected_audience": "kafka,other",
    }
    found = made("SASL_PLAINTEXT", **given)
    assert found is not None
    assert found.login is not None
    claims = {"sub": "alice", "aud": "kafka", "iat": 0, "exp": 600}
    try:
        exchange = found.login.mechanisms["OAUTHBEARER"]()
        next(exchange)
        with pytest.raises(StopIteration) as ended:
            exchange.send(next(oauthbearer_exchange(key.token(claims), {})))
        assert ended.value.value.identity.principal == "User:alice"
        exchange = found.login.mechanisms["OAUTHBEARER"]()
        next(exchange)
        unsigned = unsigned_part({"alg": "none"}, claims) + "."
        assert exchange.send(next(oauthbearer_exchange(unsigned, {}))) == b'{"status":"invalid_token"}'
    finally:
        found.close()


def test_places_that_the_options_of_java_do_not_name() -> None:
    allowed = allowed_urls(
        {"KAFKA_OPTS": '-Xmx1g -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="https://a/k,file:/b"'}
    )
    assert allowed == {"https://a/k", "file:/b"}
    assert allowed_urls({"KAFKA_OPTS": "-Xmx1g"}) is None
    security = ServerSecurity(JaasEntries({}), Credentials(lambda: NOW_MS, None), lambda: NOW_MS, allowed)
    given = {"sasl_enabled_mechanisms": "OAUTHBEARER", "sasl_oauthbearer_jwks_endpoint_url": "https://c/k"}
    with pytest.raises(ConfigError, match="in KAFKA_OPTS does not name it"):
        security.make(settings(**given), "SASL_PLAINTEXT")


def test_certificates_are_not_asked_of_those_who_log_in_unless_the_listener_says_so() -> None:
    log_in = {"ssl_client_auth": "required"}
    assert settings(**log_in).tls().client_auth == "none"
    assert settings(**log_in).loses_client_auth
    own = settings(**log_in, listener_name_a_ssl_client_auth="requested")
    assert own.tls().client_auth == "requested"
    assert not own.loses_client_auth
    without_log_in = settings(**log_in, listener_security_protocol_map="A:SSL,CONTROLLER:PLAINTEXT")
    assert without_log_in.tls().client_auth == "required"


@pytest.mark.parametrize(
    ("mechanisms", "secret", "is_apart"),
    [("PLAIN,SCRAM-SHA-256", "", True), ("PLAIN", "", False), ("SCRAM-SHA-512", "secret", True)],
)
def test_keys_are_derived_beside_the_loop(mechanisms: str, secret: str, is_apart: bool, tmp_path: Path) -> None:
    """SCRAM's, from the passwords of a file or of delegation tokens."""
    users = tmp_path / "users"
    users.write_text("alice: secret\n")
    users.chmod(0o600)
    given = {"sasl_enabled_mechanisms": mechanisms} | ({} if secret else {"sasl_users_file": str(users)})
    security = ServerSecurity(JaasEntries({}), Credentials(lambda: NOW_MS, secret or None), lambda: NOW_MS).make(
        settings(**given), "SASL_PLAINTEXT"
    )
    assert security is not None
    assert (security.apart is not None) is is_apart
    security.close()
