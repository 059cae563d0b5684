"""The addresses that a client begins with: `bootstrap.servers`, as they are or by their canonical names."""

import asyncio
import socket
from typing import Final

from ottla.base.config import ConfigError
from ottla.client.cluster.address import Address, parse_address
from ottla.client.config.settings import ClientSettings

_NAME: Final = "bootstrap.servers"


def parse_bootstrap(settings: ClientSettings) -> tuple[Address, ...]:
    """The addresses as the user gave them, each once. Raises `ConfigError`."""
    given = settings.list(_NAME)
    if not given:
        raise ConfigError(_NAME, "", "at least one address is needed, for example localhost:9092")
    return tuple(dict.fromkeys(parse_address(_NAME, text) for text in given))


async def bootstrap_addresses(settings: ClientSettings) -> tuple[Address, ...]:
    """The addresses to connect to.

    With `client.dns.lookup=resolve_canonical_bootstrap_servers_only` a name stands for all its addresses, each by the
    name that DNS has for it, which is what Kerberos and certificates go by.
    """
    given = parse_bootstrap(settings)
    if settings.string("client.dns.lookup") == "use_all_dns_ips":
        return given
    found = [name for address in given for name in await _canonical(address)]
    return tuple(dict.fromkeys(found))


async def _canonical(address: Address) -> list[Address]:
    """The canonical names of an address; an unresolvable one stays as it is, and connecting to it gives the reason."""
    loop = asyncio.get_running_loop()
    try:
        places = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        names = [await loop.getnameinfo((str(place[4][0]), address.port)) for place in places]
    except OSError:
        return [address]
    return [Address(name, address.port) for name, _ in names]
