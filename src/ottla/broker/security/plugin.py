"""`authorizer.class.name`: Kafka's own authorizer by its Java name, or a Python class of the operator.

A Python class is written `module:Class`. An object of it is made when the node starts. It needs a method `authorize`,
which gets an `AuthorizationRequest` and answers True, False, or None to leave the decision to the access control lists.
`configure(settings)`, if there is one, gets the settings of the node first. `authorize` runs on the thread that serves
all clients and must not wait for anything. One that fails denies.
"""

import importlib
import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from ottla.base.config import ConfigError
from ottla.broker.config.older import AUTHORIZER, OLDER_AUTHORIZERS, STANDARD_AUTHORIZER
from ottla.metadata.acl.decision import AclSettings, Question, parse_super_users
from ottla.protocol.acl import AclOperation, AclResourceType

_log = logging.getLogger(__name__)

SUPER_USERS: Final = "super.users"
ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"


class NodeSettings(Protocol):
    """What of a node's config is asked here."""

    @property
    def given(self) -> Mapping[str, str]:
        """The settings of the file."""

    def string(self, name: str) -> str:
        """The value of a key that has one."""
        ...


class AuthorizationRequest(NamedTuple):
    """What a Python authorizer is asked."""

    principal: str
    """As in `User:alice`."""
    host: str
    """The client's address."""
    operation: str
    """As in `READ`."""
    resource_type: str
    """As in `TOPIC`."""
    resource_name: str | None
    """None where any resource of the type will do."""


class PluginAuthorizer:
    """An operator's authorizer."""

    def __init__(self, authorizer: Any) -> None:
        self._authorizer: Final = authorizer

    def decide(self, question: Question, *, any_name: bool = False) -> bool | None:
        """What it says; None if it leaves the decision to the access control lists."""
        principal, host, operation, resource_type, name = question
        request = AuthorizationRequest(
            principal,
            host,
            AclOperation(operation).name,
            AclResourceType(resource_type).name,
            None if any_name else name,
        )
        try:
            said = self._authorizer.authorize(request)
        except Exception:  # noqa: BLE001 - An operator's code: what it can't decide is denied, and the node goes on.
            _log.exception("authorizer %s failed", type(self._authorizer).__qualname__)
            return False
        return None if said is None else bool(said)


def has_authorizer(config: NodeSettings) -> bool:
    """Whether a node asks anybody before it does something."""
    return bool(config.string(AUTHORIZER))


def acl_settings(config: NodeSettings) -> AclSettings:
    """The settings of Kafka's authorizer; `ConfigError` if they can't be understood."""
    given = config.given
    try:
        super_users = parse_super_users(given.get(SUPER_USERS, ""))
    except ValueError as error:
        raise ConfigError(SUPER_USERS, given[SUPER_USERS], str(error)) from error
    return AclSettings(super_users, given.get(ALLOW_EVERYONE, "").strip().lower() == "true")


def make_plugin(config: NodeSettings) -> PluginAuthorizer | None:
    """The operator's authorizer, made and configured; None if the access control lists decide alone."""
    found = _class(config)
    if found is None:
        return None
    try:
        authorizer = found()
        if hasattr(authorizer, "configure"):
            authorizer.configure(dict(config.given))
    except Exception as error:  # An operator's code: the start is refused with its reason.
        raise ConfigError(AUTHORIZER, config.string(AUTHORIZER), f"it cannot be made: {error!r}") from error
    return PluginAuthorizer(authorizer)


def check_authorizer(config: NodeSettings) -> None:
    """Raises a `ConfigError` if the settings name no authorizer that can be had: a node without it would mislead."""
    if has_authorizer(config):
        _class(config)
        acl_settings(config)


def _class(config: NodeSettings) -> Any:
    named = config.string(AUTHORIZER)
    if named in ("", STANDARD_AUTHORIZER):
        return None
    if named in OLDER_AUTHORIZERS:
        reason = f"this one kept its rules in ZooKeeper; write {STANDARD_AUTHORIZER}, and add the rules again"
        raise ConfigError(AUTHORIZER, named, reason)
    advice = f"write {STANDARD_AUTHORIZER}, or module:Class. Other authorizers for Kafka are Java and don't run here"
    found = python_class(AUTHORIZER, named, advice)
    if not callable(getattr(found, "authorize", None)):
        raise ConfigError(AUTHORIZER, named, "the class has no method authorize")
    return found


def python_class(key: str, named: str, advice: str) -> Any:
    """The class that a setting names, as `module:Class` or with dots alone. Raises `ConfigError`."""
    module_name, _, class_name = named.rpartition(":" if ":" in named else ".")
    try:
        return getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(key, named, f"no such Python class ({error}); {advice}") from error
