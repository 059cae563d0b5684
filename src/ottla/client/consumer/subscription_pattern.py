"""A regular expression that the broker evaluates (KIP-848), as opposed to Python's own, which the client evaluates."""

from ottla.base.frozen import frozen


@frozen
class SubscriptionPattern:
    """Topics whose whole name matches an RE2 expression; needs `group.protocol=consumer`.

    >>> SubscriptionPattern("orders-.*").pattern
    'orders-.*'
    """

    pattern: str

    def __str__(self) -> str:
        return self.pattern
