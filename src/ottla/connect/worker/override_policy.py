"""Which settings of its clients a connector may override: `connector.client.config.override.policy`.

Kafka's four policies by their names or classes, with their refusals. A policy is asked about every setting behind
`producer.override.`, `consumer.override.` and `admin.override.`, since a task may make clients of all three; Kafka asks
about those that its own task would make.
"""

from collections.abc import Callable, Collection
from typing import Final

from ottla.connect.errors import InvalidConfigError

Policy = Callable[[str], str | None]
"""What is wrong with overriding a setting; None if it may be."""
SETTING: Final = "connector.client.config.override.policy"
ALLOWLIST: Final = "connector.client.config.override.allowlist"
_PRINCIPAL: Final = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_NAMES: Final = ("All", "None", "Principal", "Allowlist")
_CLASS_END: Final = "ConnectorClientConfigOverridePolicy"


def override_policy(given: str, allowed: Collection[str]) -> Policy:
    """The policy of that name or class; `allowed` is the list of Allowlist.

    >>> principal = override_policy("Principal", ())
    >>> principal("sasl.jaas.config")
    >>> principal("linger.ms")
    "The 'Principal' policy does not allow 'linger.ms' to be overridden in the connector configuration."
    """
    name = given.strip().rpartition(".")[2].removesuffix(_CLASS_END)
    if name not in _NAMES:
        raise InvalidConfigError.of(SETTING, given, f"String must be one of: {', '.join(_NAMES)}")
    if name == "All":
        return lambda setting: None
    open_settings = {"None": frozenset[str](), "Principal": _PRINCIPAL, "Allowlist": frozenset(allowed)}[name]
    return lambda setting: None if setting in open_settings else _refusal(name, setting)


def _refusal(name: str, setting: str) -> str:
    return f"The '{name}' policy does not allow '{setting}' to be overridden in the connector configuration."
