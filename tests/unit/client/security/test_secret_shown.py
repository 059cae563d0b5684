"""What holds a secret does not show it: tracebacks and logs of users' programs have the text of objects."""

import pytest

from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.security.token_endpoint import TokenEndpoint
from ottla.client.security.token_source import Token
from ottla.net.sasl.jaas import parse_entry
from ottla.net.sasl.scram import ScramLogin
from ottla.net.tls.setting import TlsSettings
from ottla.net.tls.store import KeyStore

SECRET = "unmistakable"
CREDENTIALS = "sasl_oauthbearer_client_credentials_client"


def settings() -> ClientSettings:
    given = {f"{CREDENTIALS}_id": "shop", f"{CREDENTIALS}_secret": SECRET, "sasl_password": SECRET}
    return ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", **given)


@pytest.mark.parametrize(
    "holder",
    [
        ScramLogin("SCRAM-SHA-512", "alice", SECRET),
        parse_entry(f'a.Module required username="alice" password="{SECRET}";'),
        KeyStore(SECRET),
        TlsSettings(keystore_password=SECRET, key_password=SECRET, truststore_password=SECRET, keystore_key=SECRET),
        Token(SECRET),
        settings(),
        TokenEndpoint.of(settings(), {}, "http://localhost/token"),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_it_is_not_shown(holder: object) -> None:
    assert SECRET not in f"{holder} {holder!r} {[holder]}"
    assert "Basic" not in repr(holder)
