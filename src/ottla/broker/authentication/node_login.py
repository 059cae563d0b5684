"""What a node proves to other nodes that it dials: brokers on the inter-broker listener, controllers on theirs.

The same settings serve both sides: the listener's key store is what the node shows, and the JAAS entry's `username` and
`password` are what it logs in with.
"""

import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Final

from ottla.base.config import ConfigError
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.sasl.client_login import BeginLogin, ClientExchange
from ottla.net.sasl.oauthbearer import oauthbearer_exchange
from ottla.net.sasl.plain import plain_exchange
from ottla.net.sasl.scram import MECHANISMS as SCRAM_MECHANISMS
from ottla.net.sasl.scram import ScramLogin, scram_exchange

_CLAIM: Final = "unsecuredLoginStringClaim_"
_LIFETIME: Final = "unsecuredLoginLifetimeSeconds"


def begin_login(settings: ListenerSettings, mechanism: str, jaas: JaasEntries) -> BeginLogin:
    """What begins a log-in by a mechanism. Raises `ConfigError` if it has nothing to log in with."""
    options = jaas.find(settings, mechanism).options
    begin = _beginning(mechanism, options)
    if begin is None:
        raise ConfigError(
            f"{settings.prefix}{mechanism.lower()}.sasl.jaas.config",
            None,
            f"this node logs in with {mechanism} to others and needs username and password there",
        )
    return lambda: (mechanism, begin())


def _beginning(mechanism: str, options: Mapping[str, str]) -> Callable[[], ClientExchange] | None:
    if mechanism == "OAUTHBEARER" and any(name.startswith(_CLAIM) for name in options):
        return lambda: oauthbearer_exchange(_unsigned(options), {})
    username, password = options.get("username"), options.get("password")
    if username is None or password is None:
        return None
    if mechanism == "PLAIN":
        return lambda: plain_exchange(username, password)
    if mechanism in SCRAM_MECHANISMS:
        return lambda: scram_exchange(ScramLogin(mechanism, username, password))
    return None


def _unsigned(options: Mapping[str, str]) -> str:
    """A token without a signature, for trials: the other node believes it only if it was set up to."""
    now = time.time()
    claims: dict[str, object] = {"iat": now, "exp": now + float(options.get(_LIFETIME, "3600"))}
    claims |= {name.removeprefix(_CLAIM): value for name, value in options.items() if name.startswith(_CLAIM)}
    parts = ({"alg": "none"}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return f"{encoded[0]}.{encoded[1]}."
