"""One client metrics subscription (KIP-714): which metrics, how often, from which clients.

The controller has checked its configs before they get here. Patterns are regular expressions that the whole attribute
must match, by RE2's rules, so that no pattern and no client id can keep the broker busy (Java's, which Kafka takes,
can). One that is not RE2's, as an older release or Apache Kafka may have stored it, matches no client.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.frozen import frozen
from ottla.base.log_limit import repeatable
from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.broker.config.keys.client_metric import CLIENT_METRIC_KEYS
from ottla.broker.request.client_session import ClientSession

if TYPE_CHECKING:
    from ottla.broker.request.request_context import RequestContext

_log = logging.getLogger(__name__)

_WORK_MAX: Final = 30_000
"""Places of a pattern that may be visited for one client, in about 10 ms. Ordinary patterns take dozens."""

ClientAttributes = Mapping[str, str]
"""A client's attributes, by the names that `match` uses; unknown ones are missing."""


@frozen
class Subscription:
    """The metrics that clients of a certain kind are to push."""

    metrics: tuple[str, ...]
    interval_ms: int
    patterns: tuple[tuple[str, LinearRegex | None], ...]

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> "Subscription":
        """The subscription that has these configs; `ConfigError` if they are no subscription's.

        >>> subscription = Subscription.of({"metrics": "a.,b.", "match": "client_id=app-.*"})
        >>> subscription.metrics, subscription.interval_ms
        (('a.', 'b.'), 300000)
        >>> subscription.matches({"client_id": "app-7"}), subscription.matches({"client_id": "my-app-7"})
        (True, False)
        """
        values = CLIENT_METRIC_KEYS.parse(configs).values
        metrics, interval_ms, match = values["metrics"], values["interval.ms"], values["match"]
        assert isinstance(metrics, tuple)
        assert isinstance(interval_ms, int)
        assert isinstance(match, tuple)
        return cls(metrics, interval_ms, tuple(_pattern(text) for text in match))

    def matches(self, attributes: ClientAttributes) -> bool:
        """Whether a client is meant: every pattern matches."""
        return all(
            pattern is not None and name in attributes and _matches(pattern, attributes[name])
            for name, pattern in self.patterns
        )


def _matches(pattern: LinearRegex, attribute: str) -> bool:
    pattern.allow(_WORK_MAX)
    try:
        return pattern.matches(attribute)
    except RegexError as error:
        _log.warning("A client metrics pattern does not count for a client: %s", error, extra=repeatable("any client"))
        return False


def _pattern(text: str) -> tuple[str, LinearRegex | None]:
    name, _, expression = text.partition("=")
    try:
        return name.strip(), LinearRegex(expression.strip())
    except RegexError as error:
        _log.warning("The client metrics pattern %r matches no client: %s", text, error)
        return name.strip(), None


_SOFTWARE: Final = ("client_software_name", "client_software_version")


def attributes_of(context: "RequestContext") -> dict[str, str]:
    """The client's attributes from a request."""
    host, port = context.connection.peer[:2]
    attributes = {
        "client_id": context.client_id or "",
        "client_source_address": host,
        "client_source_port": str(port),
    }
    session = context.connection.session
    if isinstance(session, ClientSession) and session.software is not None:
        attributes.update(zip(_SOFTWARE, session.software, strict=True))
    return attributes
