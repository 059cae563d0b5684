"""Finds the brokers' port for a user who gave the controller's.

A controller does not tell where the brokers are, so this knocks at the ports where they mostly are: the one before
the controller's, as `ottla broker` chooses it, and 9092. A port is named only if the same cluster answers there.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.cluster.address import Address, parse_address
from ottla.client.errors import ControllerPortError, NoBrokersAvailableError

_USUAL_PORT: Final = 9092
_QUICK: Final = {
    "socket.connection.setup.timeout.ms": "1000",
    "socket.connection.setup.timeout.max.ms": "1000",
    "request.timeout.ms": "1000",
    "default.api.timeout.ms": "1000",
}


async def advice(error: NoBrokersAvailableError, settings: Mapping[str, object]) -> str | None:
    """What to give instead, if one of the addresses that were tried is a controller's; None if none is."""
    for attempt in error.attempts:
        if isinstance(attempt.error, ControllerPortError):
            address = parse_address("bootstrap.servers", attempt.address.partition(" ")[0])
            return await remedy(address, settings)
    return None


async def remedy(controller: Address, settings: Mapping[str, object]) -> str:
    """What to give instead of the controller's address."""
    found = await _broker_beside(controller, settings)
    if found is None:
        return "give a broker's address with -b HOST:PORT: its listeners in server.properties, mostly on port 9092"
    return f"the cluster's broker is at {found}: use -b {found}"


async def _broker_beside(controller: Address, settings: Mapping[str, object]) -> Address | None:
    given = {name: value for name, value in settings.items() if not name.startswith("bootstrap.")} | _QUICK
    cluster_id = await _cluster_id({**given, "bootstrap.controllers": str(controller)})
    for port in dict.fromkeys((controller.port - 1, _USUAL_PORT)):
        candidate = Address(controller.host, port)
        if candidate != controller and port > 0 and cluster_id is not None:
            there = await _cluster_id({**given, "bootstrap.servers": str(candidate)})
            if there == cluster_id:
                return candidate
    return None


async def _cluster_id(settings: Mapping[str, object]) -> str | None:
    admin = AsyncAdmin(settings)
    try:
        await admin.start(timeout_ms=0)
        return (await admin.describe_cluster()).cluster_id
    except OttlaError:
        return None
    finally:
        await admin.close()
