"""Tools for tests against Ottla: a broker for tests, and a simulator of whole clusters.

`EmbeddedBroker` runs in a test's own process; `ottla.testing.pytest_plugin` makes fixtures of it. See docs/TESTING.md.
"""

from ottla.testing.embedded_broker import BrokerClock, BrokerDownError, EmbeddedBroker
from ottla.testing.fault import Fault, Faults

__all__ = ["BrokerClock", "BrokerDownError", "EmbeddedBroker", "Fault", "Faults"]
