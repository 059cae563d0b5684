"""Operators' own rules: Python classes that may refuse new topics and changed configs.

`create.topic.policy.class.name` and `alter.config.policy.class.name` name them, as `module:Class`. An object of the
class is made when the controller starts. It needs a method `validate`, which gets a `NewTopic` or a `ConfigAlteration`
and raises `PolicyViolationError` with the sentence that the client is to read; `configure(settings)`, if there is one,
gets the settings of the node first. `validate` runs on the thread that serves all clients and must not wait for
anything. A name that leads to no such class refuses the start: a policy that is not enforced is worse than none.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ottla.broker.config.operator_class import GivenSettings, OperatorClass
from ottla.metadata.controller.ports import NewTopic
from ottla.metadata.image.config import ConfigResource
from ottla.protocol.errors import PolicyViolationError, UnknownServerError

_log = logging.getLogger(__name__)

CREATE_TOPIC_POLICY: Final = "create.topic.policy.class.name"
ALTER_CONFIG_POLICY: Final = "alter.config.policy.class.name"

__all__ = ["ConfigAlteration", "NewTopic", "OperatorPolicy", "PolicyViolationError", "check_policies"]


class ConfigAlteration(NamedTuple):
    """The input of a policy for configs: a resource, and its changed configs; None removes one."""

    resource: ConfigResource
    configs: Mapping[str, str | None]


class OperatorPolicy:
    """Both policies of a node, as the controller asks them (`ottla.metadata.controller.ports.Policy`)."""

    def __init__(self, config: GivenSettings) -> None:
        """Makes and configures the policies; `ConfigError` if one cannot be had."""
        self._topics: Final = _made(config, CREATE_TOPIC_POLICY)
        self._configs: Final = _made(config, ALTER_CONFIG_POLICY)

    def check_topic(self, topic: NewTopic) -> None:
        """Raises `PolicyViolationError` if the topic may not be created."""
        _ask(self._topics, topic)

    def check_configs(self, resource: ConfigResource, configs: Mapping[str, str | None]) -> None:
        """Raises `PolicyViolationError` if the resource's configs may not be set so."""
        _ask(self._configs, ConfigAlteration(resource, configs))


def check_policies(config: GivenSettings) -> None:
    """Raises a `ConfigError` if a policy that the settings name is no class that can be had."""
    for key in (CREATE_TOPIC_POLICY, ALTER_CONFIG_POLICY):
        _class(key).find(config.optional_string(key))


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


def _made(config: GivenSettings, key: str) -> Any:
    return _class(key).make(config.optional_string(key), config.given)


def _class(key: str) -> OperatorClass:
    return OperatorClass(key, ("validate",), "write module:Class. Apache Kafka's policies are Java and don't run here")
