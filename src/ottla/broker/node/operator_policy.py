"""Operators' own rules: Python classes that may refuse new topics and changed configs.

`create.topic.policy.class.name` and `alter.config.policy.class.name` name them, as `module:Class`. An object of the
class is made when the controller starts. It needs a method `validate`, which gets a `NewTopic` or a `ConfigAlteration`
and raises `PolicyViolationError` with the sentence that the client is to read; `configure(settings)`, if there is one,
gets the settings of the node first. `validate` runs on the thread that serves all clients and must not wait for
anything. A name that leads to no such class refuses the start: a policy that is not enforced is worse than none.
"""

import importlib
import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from ottla.base.config import ConfigError
from ottla.metadata.controller.ports import NewTopic
from ottla.metadata.image.config import ConfigResource
from ottla.protocol.errors import PolicyViolationError, UnknownServerError

_log = logging.getLogger(__name__)

CREATE_TOPIC_POLICY: Final = "create.topic.policy.class.name"
ALTER_CONFIG_POLICY: Final = "alter.config.policy.class.name"

__all__ = ["ConfigAlteration", "NewTopic", "OperatorPolicy", "PolicyViolationError", "check_policies"]


class PolicySettings(Protocol):
    """As much of a node's settings as policies need."""

    @property
    def given(self) -> Mapping[str, str]:
        """All that were given, as text."""
        ...

    def optional_string(self, name: str) -> str | None:
        """One of them, None if nobody gave it."""
        ...


class ConfigAlteration(NamedTuple):
    """What a policy for configs is asked: a resource, and its configs that change; None removes one."""

    resource: ConfigResource
    configs: Mapping[str, str | None]


class OperatorPolicy:
    """Both policies of a node, as the controller asks them (`ottla.metadata.controller.ports.Policy`)."""

    def __init__(self, config: PolicySettings) -> None:
        """Makes and configures the policies; `ConfigError` if one cannot be had."""
        self._topics: Final = _made(config, CREATE_TOPIC_POLICY)
        self._configs: Final = _made(config, ALTER_CONFIG_POLICY)

    def check_topic(self, topic: NewTopic) -> None:
        """Raises `PolicyViolationError` if the topic may not be created."""
        _ask(self._topics, topic)

    def check_configs(self, resource: ConfigResource, configs: Mapping[str, str | None]) -> None:
        """Raises `PolicyViolationError` if the resource's configs may not be set so."""
        _ask(self._configs, ConfigAlteration(resource, configs))


def check_policies(config: PolicySettings) -> None:
    """Raises a `ConfigError` if a policy that the settings name is no class that can be had."""
    for key in (CREATE_TOPIC_POLICY, ALTER_CONFIG_POLICY):
        _class(config, key)


def _ask(policy: Any, question: NewTopic | ConfigAlteration) -> None:
    if policy is None:
        return
    try:
        policy.validate(question)
    except PolicyViolationError:
        raise
    except Exception as error:  # An operator's code: the request fails, the controller goes on.
        _log.exception("policy %s failed", type(policy).__qualname__)
        raise UnknownServerError(f"The policy {type(policy).__qualname__} failed: {error!r}") from error


def _made(config: PolicySettings, key: str) -> Any:
    found = _class(config, key)
    if found is None:
        return None
    try:
        policy = found()
        if hasattr(policy, "configure"):
            policy.configure(dict(config.given))
    except Exception as error:  # An operator's code: the start is refused with its reason.
        raise ConfigError(key, config.optional_string(key), f"the policy cannot be made: {error!r}") from error
    return policy


def _class(config: PolicySettings, key: str) -> Any:
    """The class that a setting names; None if it names none."""
    named = config.optional_string(key)
    if not named:
        return None
    module_name, _, class_name = named.rpartition(":" if ":" in named else ".")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        reason = (
            f"no such Python class ({error}); write module:Class. Apache Kafka's policies are Java and don't run here"
        )
        raise ConfigError(key, named, reason) from error
    if not callable(getattr(found, "validate", None)):
        raise ConfigError(key, named, "the class has no method validate")
    return found
