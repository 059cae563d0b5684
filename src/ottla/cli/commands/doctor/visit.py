"""The order of the examination: what depends on something that is broken is not looked at.

Connects as a client does, one bootstrap address at a time, so that each address gets its own explanation.
"""

import argparse
import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from ottla.base.errors import OttlaError
from ottla.cli import controller_port
from ottla.cli.commands.doctor import cluster as doctor_cluster
from ottla.cli.commands.doctor import data as doctor_data
from ottla.cli.commands.doctor.finding import Finding, Report, fine, wrong
from ottla.cli.commands.doctor.probe import spoken
from ottla.cli.connection import bootstrap, client_settings
from ottla.cli.output.quantity import counted
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.cluster.address import Address, parse_address
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.diagnosis import explain
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import NoBrokersAvailableError


async def visit(options: argparse.Namespace, report: Report) -> None:
    """Makes all checks that can be made."""
    if options.data is not None:
        for finding in doctor_data.examine(options.data):
            report.add(finding)
    if options.data_only:
        return
    given = client_settings(options, ADMIN_KEYS)
    patience_ms = round(options.timeout * 1000)
    given |= {
        "socket.connection.setup.timeout.ms": str(patience_ms),
        "socket.connection.setup.timeout.max.ms": str(patience_ms),
        "request.timeout.ms": str(patience_ms),
        "default.api.timeout.ms": str(patience_ms),
    }
    addresses = str(given.get("bootstrap.servers") or bootstrap(options)).split(",")
    can_go_on = False
    for text in addresses:
        with _quiet():
            can_go_on |= await _visit_address(text.strip(), given, report)
    if can_go_on:
        await _visit_cluster(options, given, report)


@contextmanager
def _quiet() -> Iterator[None]:
    """The client's own warnings would come between the lines that explain them."""
    import logging

    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)


async def _visit_address(text: str, given: dict[str, object], report: Report) -> bool:
    address = parse_address("bootstrap.servers", text)
    return (
        report.add(await examine_name(address))
        and report.add(await examine_port(address, _seconds(given)))
        and await _speak(address, given, report)
    )


def _seconds(given: dict[str, object]) -> float:
    return int(str(given["request.timeout.ms"])) / 1000


async def examine_name(address: Address) -> Finding:
    """Whether the name leads to an address."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = explain(error, address, "PLAINTEXT")
        return wrong("name", reason, f"correct the name, or add a line `ADDRESS {address.host}` to /etc/hosts")
    places = dict.fromkeys(str(place[4][0]) for place in found)
    if list(places) == [address.host]:
        return fine("name", f"{address.host} is an address, no name to resolve")
    return fine("name", f"{address.host} resolves to {', '.join(places)}")


async def examine_port(address: Address, timeout_s: float) -> Finding:
    """Whether a process listens there."""
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(*address)
    except TimeoutError:
        return wrong(
            "port", f"{address} does not answer", "a firewall is in the way, or the machine is down: ask its owner"
        )
    except ConnectionRefusedError:
        return wrong(
            "port",
            f"{address} refuses: nothing listens on port {address.port} there",
            f"start the broker (ottla broker --listen {address}), or correct the port",
        )
    except OSError as error:
        return wrong("port", f"{address}: {explain(error, address, 'PLAINTEXT')}", "check network and firewall")
    writer.close()
    return fine("port", f"{address} accepts connections")


async def _speak(address: Address, given: dict[str, object], report: Report) -> bool:
    """Whether Kafka's protocol is spoken, with our security; then who else is in the cluster."""
    settings = ClientSettings.of(ADMIN_KEYS, {**given, "bootstrap.servers": str(address)})
    cluster = ClusterClient(settings)
    protocol = settings.string("security.protocol")
    try:
        await cluster.start()
    except OttlaError as error:
        return report.add(await _protocol_trouble(error, address, given))
    try:
        count = len(cluster.view.brokers)
        report.add(
            fine("protocol", f"{address} speaks Kafka's protocol over {protocol} and knows {counted(count, 'broker')}")
        )
        are_fine = True
        for node in cluster.view.brokers:
            are_fine &= report.add(await doctor_cluster.examine_advertised(cluster, node, address))
        return are_fine
    finally:
        await cluster.close()


async def _protocol_trouble(error: OttlaError, address: Address, given: dict[str, object]) -> Finding:
    if isinstance(error, NoBrokersAvailableError):
        remedy = await controller_port.advice(error, given)
        if remedy is not None:
            return wrong("protocol", f"{address} is a controller's port, which serves no clients of brokers", remedy)
    found = await spoken(address, given, _seconds(given))
    if found is not None:
        return wrong("protocol", *found)
    text = " ".join(str(error).split())
    if isinstance(error, NoBrokersAvailableError) and error.attempts:
        text = error.attempts[0].reason
    fix = "compare the client's security settings with the listener's; pass them with -X KEY=VALUE or --command-config"
    return wrong("protocol", text, fix)


async def _visit_cluster(options: argparse.Namespace, given: dict[str, object], report: Report) -> None:
    admin = AsyncAdmin(given)
    try:
        await admin.start()
        for finding in await doctor_cluster.examine(admin, options.topic):
            report.add(finding)
    except OttlaError as error:
        report.add(wrong("cluster", " ".join(str(error).split()), "look at the brokers' logs"))
    finally:
        await admin.close()
