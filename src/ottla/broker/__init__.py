"""The broker: binds storage, quorum and protocol together into one node that Kafka's clients can use.

Operators' own rules are classes of theirs that a node loads; what these need can be imported from here.
"""

from typing import TYPE_CHECKING

from ottla.base.lazy import lazy_names

if TYPE_CHECKING:
    from ottla.broker.node.operator_policy import ConfigAlteration, NewTopic, PolicyViolationError

_PLACES = {
    "ConfigAlteration": "node.operator_policy",
    "NewTopic": "node.operator_policy",
    "PolicyViolationError": "node.operator_policy",
}

__all__ = ["ConfigAlteration", "NewTopic", "PolicyViolationError"]

__getattr__ = lazy_names(__name__, _PLACES)
