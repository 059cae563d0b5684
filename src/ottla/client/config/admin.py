"""All settings of an admin client."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, INT, LIST, LONG, MINUTE_MS, Items
from ottla.client.config.client_key import key
from ottla.client.config.network import NETWORK_KEYS, RETRIES
from ottla.client.config.security import SECURITY_KEYS

_ADMIN_KEYS: Final = ConfigKeys((
    key("bootstrap.servers", LIST, (), Items(),
        "Brokers to ask for all the others: `host:port`, separated by commas; two or three are enough."),
    key("bootstrap.controllers", LIST, (), Items(),
        "Controllers to talk to instead of brokers (KIP-919): `host:port`, separated by commas."),
    key("connections.max.idle.ms", LONG, 5 * MINUTE_MS, None, "Time after which an unused connection is closed."),
    key("receive.buffer.bytes", INT, 65_536, Range(-1),
        "Size of the socket's receive buffer; the system's own growing buffer at -1, and unless this is given."),
    key("enable.metrics.push", BOOLEAN, False, None,
        "Whether brokers may collect the client's metrics (KIP-714); accepted, none are sent."),
    key("default.api.timeout.ms", INT, MINUTE_MS, Range(0), "How long a call takes at most that names no time-out."),
    RETRIES,
))  # fmt: skip

ADMIN_KEYS: Final = _ADMIN_KEYS | NETWORK_KEYS | SECURITY_KEYS
