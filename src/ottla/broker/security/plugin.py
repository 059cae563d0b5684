"""`authorizer.class.name`: Kafka's own authorizer by its Java name, or a Python class of the operator.

A Python class is written `module:Class`. An object of it is made when the node starts. It needs a method `authorize`,
which gets an `AuthorizationRequest` and answers True, False, or None to leave the decision to the access control lists.
`configure(settings)`, if there is one, gets the settings of the node first. `authorize` runs on the thread that serves
all clients and must not wait for anything. One that fails denies.
"""

import logging
from typing import Any, Final, NamedTuple, Protocol

from ottla.base.config import ConfigError
from ottla.broker.config.older import AUTHORIZER, OLDER_AUTHORIZERS, STANDARD_AUTHORIZER
from ottla.broker.config.operator_class import GivenSettings, OperatorClass
from ottla.metadata.acl.decision import AclSettings, Question, parse_super_users
from ottla.protocol.acl import AclOperation, AclResourceType

_log = logging.getLogger(__name__)

SUPER_USERS: Final = "super.users"
_CLASS: Final = OperatorClass(
    AUTHORIZER,
    ("authorize",),
    f"write {STANDARD_AUTHORIZER}, or module:Class. Other authorizers for Apache Kafka are Java and don't run here",
)
ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"


class NodeSettings(GivenSettings, Protocol):
    """The part of a node's config that is read here."""

    def string(self, name: str) -> str:
        """The value of a key that has one."""
        ...


class AuthorizationRequest(NamedTuple):
    """The question to a Python authorizer."""

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
        """The plugin's decision; None if it leaves that to the access control lists."""
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
    made = _CLASS.make(_named(config), config.given)
    return None if made is None else PluginAuthorizer(made)


def check_authorizer(config: NodeSettings) -> None:
    """Raises a `ConfigError` if the settings name no authorizer that can be had: a node without it would mislead."""
    if has_authorizer(config):
        _CLASS.find(_named(config))
        acl_settings(config)


def _named(config: NodeSettings) -> str | None:
    """The operator's class; None for Kafka's own."""
    named = config.string(AUTHORIZER)
    if named in OLDER_AUTHORIZERS:
        reason = f"this one kept its rules in ZooKeeper; write {STANDARD_AUTHORIZER}, and add the rules again"
        raise ConfigError(AUTHORIZER, named, reason)
    return None if named in ("", STANDARD_AUTHORIZER) else named
