"""The text forms of addresses in settings: `NAME://host:port` of listeners, `id@host:port` of voters, `host:port`.

Owns the grammar alone: a `ValueError` says what is wrong with a text. Which of them go together is checked by
`rule`.
"""

import re
from typing import Final, NamedTuple

_LISTENER: Final = re.compile(r"(?P<name>.*)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>-?[0-9]+)")
_HOST_PORT: Final = re.compile(r"(?:[A-Za-z0-9_]+://)?\[?(?P<host>[0-9a-zA-Z\-%._:]+)\]?:(?P<port>[0-9]+)")
_HOST: Final = re.compile(r"[0-9a-zA-Z\-%._:]*")
PORT_MAX: Final = 65_535


class ListenerAddress(NamedTuple):
    """A listener's name and where it is: `host` is `""` for all interfaces, an IPv6 address has no brackets.

    >>> parse_listener("plaintext://[::1]:9092")
    ListenerAddress(name='PLAINTEXT', host='::1', port=9092)
    >>> str(parse_listener("CONTROLLER://:9093")), str(parse_listener("A://[::1]:1"))
    ('CONTROLLER://:9093', 'A://[::1]:1')
    """

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


class QuorumVoter(NamedTuple):
    """A voter of a static quorum (`controller.quorum.voters`)."""

    id: int
    host: str
    port: int


class HostPort(NamedTuple):
    """A plain address.

    >>> parse_host_port("[::1]:9093"), str(parse_host_port("localhost:80"))
    (HostPort(host='::1', port=9093), 'localhost:80')
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def normalised(name: str) -> str:
    """A listener's name in the one case that all its spellings share."""
    return name.strip().upper()


def parse_listener(text: str) -> ListenerAddress:
    """The address that an entry of `listeners` or `advertised.listeners` stands for."""
    found = _LISTENER.fullmatch(text)
    if found is None or not found["name"]:
        raise ValueError(f"Unable to parse {text} to a broker endpoint: it should read NAME://host:port")
    return ListenerAddress(normalised(found["name"]), found["host"], _port(found["port"], text))


def parse_voter(text: str) -> QuorumVoter:
    """The voter that an entry of `controller.quorum.voters` stands for.

    >>> parse_voter("1@controller:9093")
    QuorumVoter(id=1, host='controller', port=9093)
    """
    node_id, at, address = text.partition("@")
    if not at or "@" in address:
        raise ValueError(f"{text}: each entry should be in the form `{{id}}@{{host}}:{{port}}`")
    if not re.fullmatch(r"[0-9]{1,10}", node_id):
        raise ValueError(f"Failed to parse voter ID as an integer from {node_id}")
    host, port = parse_host_port(address)
    return QuorumVoter(int(node_id), host, port)


def parse_host_port(text: str) -> HostPort:
    """The address that `host:port` stands for."""
    found = _HOST_PORT.fullmatch(text)
    if found is None:
        raise ValueError(f"Failed to parse {text}: each entry should be in the form `{{host}}:{{port}}`")
    return HostPort(found["host"], _port(found["port"], text))


def parse_pairs(text: str) -> dict[str, str]:
    """`a:1, b:2` by the last colon of each, so that IPv6 addresses need no brackets.

    >>> parse_pairs("INTERNAL:SSL, ::1:5")
    {'INTERNAL': 'SSL', '::1': '5'}
    """
    pairs = {}
    for part in text.split(",") if text.strip() else ():
        name, colon, value = part.rpartition(":")
        if not colon:
            raise ValueError(f"{part.strip() or text} is not of the form name:value")
        pairs[name.strip()] = value.strip()
    return pairs


def is_host(text: str) -> bool:
    """Whether a text looks like a host name or an address."""
    return _HOST.fullmatch(text) is not None


def _port(digits: str, text: str) -> int:
    port = int(digits)
    if not 0 <= port <= PORT_MAX:
        raise ValueError(f"{text}: there is no port {port}")
    return port
