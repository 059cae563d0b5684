"""Host and port, as users write them in `bootstrap.servers` and as brokers advertise them."""

import re
from typing import Final, NamedTuple

from ottla.base.config import ConfigError

_WRITTEN: Final = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+._-]*://)?(?:\[(?P<ipv6>[^\]\s]+)\]|(?P<name>[^\s:\[\]/]+)):(?P<port>\d+)"
)


class Address(NamedTuple):
    """The host and port of a node.

    >>> str(Address("::1", 9092)), str(Address("kafka", 9092))
    ('[::1]:9092', 'kafka:9092')
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(setting: str, text: str) -> Address:
    """The address that an item of `setting` names; Kafka's `PROTOCOL://` before it is allowed, and means nothing.

    >>> parse_address("bootstrap.servers", "[::1]:9092")
    Address(host='::1', port=9092)
    >>> parse_address("bootstrap.servers", "localhost")
    Traceback (most recent call last):
    ottla.base.config.key.ConfigError: Invalid value localhost for configuration bootstrap.servers: \
Expected host:port, for example localhost:9092
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        example = text.strip() if re.fullmatch(r"[\w.-]+", text.strip()) else "localhost"
        raise ConfigError(setting, text, f"Expected host:port, for example {example}:9092")
    port = int(found["port"])
    if not 0 < port < 65_536:
        raise ConfigError(setting, text, "A port is a number from 1 to 65535")
    return Address(found["ipv6"] or found["name"], port)
