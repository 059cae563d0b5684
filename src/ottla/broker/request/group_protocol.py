"""Which group protocols the operator wants served: `group.coordinator.rebalance.protocols`.

Without `consumer` in it consumer groups are refused as by a broker from before KIP-848; clients that may choose then
take the classic protocol, which is always served.
"""

from typing import TYPE_CHECKING

from ottla.protocol.errors import UnsupportedVersionError

if TYPE_CHECKING:
    from ottla.broker.config.server_config import ServerConfig


def check_consumer_protocol(config: "ServerConfig") -> None:
    """`UnsupportedVersionError` if consumer groups are not served."""
    if "consumer" not in config.strings("group.coordinator.rebalance.protocols"):
        raise UnsupportedVersionError
