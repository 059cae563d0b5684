"""`client.quota.callback.class`: an operator's Python class that decides on the quotas of clients.

It needs a method `quota`, which gets a `QuotaRequest` and answers with a limit for this user's client, with a limit and
the name of those who share it, or with None to leave the decision to the quotas that are stored. `configure(settings)`,
if there is one, gets the settings of the node first. `quota` runs on the thread that serves all clients and must not
wait for anything; it is asked again about a client once a second at most. Where it fails the stored quotas count.
"""

import logging
from typing import Any, Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.log_limit import LimitedLog
from ottla.broker.config.operator_class import GivenSettings, OperatorClass
from ottla.broker.quota.precedence import Applied, Share

_log = logging.getLogger(__name__)

QUOTA_CALLBACK: Final = OperatorClass(
    "client.quota.callback.class",
    ("quota",),
    "write module:Class. Apache Kafka's callbacks are Java and don't run here",
)


class QuotaRequest(NamedTuple):
    """The input of the class."""

    key: str
    """`producer_byte_rate`, `consumer_byte_rate`, `request_percentage` or `controller_mutation_rate`."""
    user: str
    """The user without its type, such as `alice`; `ANONYMOUS` without a log-in."""
    client_id: str
    stored: float | None
    """The limit of the stored quotas; None for no limit."""


class QuotaCallback:
    """Asks an operator's object."""

    def __init__(self, asked: Any, clock: Clock) -> None:
        self._asked: Final = asked
        self._complaints: Final = LimitedLog(_log, clock)

    def applied(self, key: str, client: Share, stored: Applied | None) -> Applied | None:
        """The limit of a client."""
        request = QuotaRequest(key, client.user, client.client_id, None if stored is None else stored.limit)
        try:
            said = self._asked.quota(request)
            if said is None:
                return stored
            limit, share = (said[0], Share("", str(said[1]))) if isinstance(said, tuple) else (said, client)
            if not float(limit) > 0:
                raise ValueError(f"{limit!r} is no limit: one is larger than 0")
            return Applied(float(limit), share)
        except Exception as error:  # noqa: BLE001 - An operator's code: the stored quotas count, and the node goes on.
            name = type(self._asked).__qualname__
            self._complaints.warning(name, "the quota callback %s failed, so stored quotas count: %r", name, error)
            return stored


def make_quota_callback(config: GivenSettings, clock: Clock) -> QuotaCallback | None:
    """The operator's class, made and configured; None if the stored quotas decide alone. Raises `ConfigError`."""
    made = QUOTA_CALLBACK.make(config.optional_string(QUOTA_CALLBACK.key), config.given)
    return None if made is None else QuotaCallback(made, clock)


def check_quota_callback(config: GivenSettings) -> None:
    """Raises a `ConfigError` if the settings name a class that cannot be had."""
    QUOTA_CALLBACK.find(config.optional_string(QUOTA_CALLBACK.key))
