"""Finds out which protocol a port speaks if ours fails: tries TLS, plaintext Kafka and HTTP in turn.

A client can only tell what it met with its own settings. The doctor may knock again in other ways.
"""

import asyncio
import ssl
from collections.abc import Mapping

from ottla.base.errors import OttlaError
from ottla.client.cluster.address import Address
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings

_HTTP_REQUEST = b"GET / HTTP/1.0\r\n\r\n"


async def spoken(address: Address, given: Mapping[str, object], timeout_s: float) -> tuple[str, str] | None:
    """The port's protocol with advice; None if our own settings were not the trouble."""
    protocol = str(given.get("security.protocol", "PLAINTEXT")).upper()
    prefix = "SASL_" if protocol.startswith("SASL_") else ""
    if not protocol.endswith("SSL") and await _speaks_tls(address, timeout_s):
        return (
            f"{address} speaks TLS, and we don't",
            f"add -X security.protocol={prefix}SSL, or set it in the file for --command-config",
        )
    if protocol != "PLAINTEXT" and await _speaks_kafka(address, given):
        return (
            f"{address} speaks Kafka's protocol without {'TLS' if protocol.endswith('SSL') else 'SASL'}",
            "add -X security.protocol=PLAINTEXT, or give the port of the listener that has it",
        )
    if await _speaks_http(address, timeout_s):
        return f"{address} speaks HTTP: a web server's port, not a broker's", "give the broker's port, mostly 9092"
    return None


async def _speaks_tls(address: Address, timeout_s: float) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    # Nothing is sent over this connection: what matters is whether there is TLS, not who is behind it.
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(*address, ssl=context)
    except ssl.SSLError as error:
        # An alert is an answer, too: only a TLS server refuses in TLS.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
    writer.close()
    return True


async def _speaks_kafka(address: Address, given: Mapping[str, object]) -> bool:
    plain = {name: value for name, value in given.items() if not name.startswith(("ssl.", "sasl."))}
    settings = {**plain, "bootstrap.servers": str(address), "security.protocol": "PLAINTEXT"}
    cluster = ClusterClient(ClientSettings.of(ADMIN_KEYS, settings))
    try:
        await cluster.start()
    except OttlaError:
        return False
    await cluster.close()
    return True


async def _speaks_http(address: Address, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(*address)
            try:
                writer.write(_HTTP_REQUEST)
                return (await reader.read(5)).startswith(b"HTTP/")
            finally:
                writer.close()
    except OSError:
        return False
