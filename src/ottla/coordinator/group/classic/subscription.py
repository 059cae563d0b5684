"""Which topics the members of a classic consumer group are subscribed to.

The broker looks into the members' metadata for one thing only: offsets of topics that are in use must neither expire
nor be deleted (KIP-211, KIP-496). It reads the part that all versions share.
"""

import logging
from collections.abc import Iterable
from typing import Final

from ottla.base.log_limit import repeatable
from ottla.protocol.consumer_protocol import ConsumerProtocolSubscription
from ottla.protocol.errors import DecodeError

CONSUMER_PROTOCOL_TYPE: Final = "consumer"

_log = logging.getLogger(__name__)


def subscribed_topics(group_id: str, metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics in the members' subscriptions; None if one of them can't be read.

    >>> subscribed_topics("orders", [bytes.fromhex("0000" "00000001" "0001" "74" "ffffffff")])
    frozenset({'t'})
    """
    topics: set[str] = set()
    try:
        for subscription in metadata:
            if len(subscription) < 2:
                raise DecodeError("needs 2 bytes for its version", path="subscription", position=0)
            topics.update(ConsumerProtocolSubscription.decode_from(subscription, 2, 0)[0].topics)
    except DecodeError as error:
        said = "[group=%s] A subscription can't be read, so no topic counts as unused: %s"
        _log.warning(said, group_id, error, extra=repeatable("any group"))
        return None
    return frozenset(topics)
