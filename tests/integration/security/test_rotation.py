"""A certificate is replaced while the node runs: who comes later sees the new one, and slips are refused."""

import asyncio
import shutil
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import (
    AlterConfigOp,
    AlterConfigOpType,
    ConfigResource,
    ConfigResourceType,
)
from ottla.protocol.errors import ApiError
from tests.integration.client.certificate import Certificate
from tests.integration.node.nodes import PATIENCE_S
from tests.integration.security.secured_node import SecuredNode

KEY = "listener.name.tls.ssl.keystore.location"
BROKER = ConfigResource(ConfigResourceType.BROKER, "1")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("rotated")) as found:
        yield found


def change(node: SecuredNode, location: Path, resource: ConfigResource = BROKER) -> None:
    """Names the listener's key store."""

    async def main() -> None:
        async with AsyncAdmin(bootstrap_servers=node.address("PLAINTEXT", "127.0.0.1")) as admin:
            operation = AlterConfigOp(KEY, str(location), AlterConfigOpType.SET)
            await admin.incremental_alter_configs({resource: [operation]})

    asyncio.run(main())


def connect(node: SecuredNode) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(node.authority.certificate))
    plain = socket.create_connection(("localhost", node.port("TLS")), timeout=PATIENCE_S)
    return context.wrap_socket(plain, server_hostname="localhost")


def serial(sock: ssl.SSLSocket) -> str:
    """Which certificate the node showed."""
    found = sock.getpeercert()
    assert found is not None
    return str(found["serialNumber"])


def serial_now(node: SecuredNode) -> str:
    with connect(node) as sock:
        return serial(sock)


def wait_for_another(node: SecuredNode, before: str) -> str:
    for _ in range(600):
        now = serial_now(node)
        if now != before:
            return now
        asyncio.run(asyncio.sleep(0.1))
    raise AssertionError("the certificate is the old one")


def renewed(node: SecuredNode, *names: str) -> Certificate:
    return node.authority.sign("localhost", *(names or ("DNS:localhost", "IP:127.0.0.1")))


def test_another_file_and_the_same_file_with_another_content(node: SecuredNode, tmp_path: Path) -> None:
    first = serial_now(node)
    store = tmp_path / "store.pem"
    shutil.copy(renewed(node).both, store)
    with connect(node) as living:
        change(node, store)
        second = wait_for_another(node, first)
        # Who was connected before is not disturbed.
        living.sendall(bytes.fromhex("0000000a 0012 0000 00000007 ffff".replace(" ", "")))
        assert living.recv(4)
    shutil.copy(renewed(node).both, store)
    change(node, store)
    assert wait_for_another(node, second) != first


@pytest.mark.parametrize(
    ("names", "common_name", "text"),
    [
        (("DNS:localhost",), "localhost", "SubjectAltNames do not match"),
        (("DNS:localhost", "IP:127.0.0.1"), "other", "DistinguishedName does not match"),
    ],
)
def test_a_certificate_for_somebody_else_is_refused(
    node: SecuredNode, tmp_path: Path, names: tuple[str, ...], common_name: str, text: str
) -> None:
    before = serial_now(node)
    store = shutil.copy(node.authority.sign(common_name, *names).both, tmp_path / "wrong.pem")
    with pytest.raises(ApiError, match=text):
        change(node, Path(store))
    assert serial_now(node) == before


def test_a_store_that_can_not_be_read_is_refused(node: SecuredNode, tmp_path: Path) -> None:
    before = serial_now(node)
    with pytest.raises(ApiError, match="can't be read"):
        change(node, tmp_path / "nowhere.pem")
    with pytest.raises(ApiError):
        change(node, node.broker.both, ConfigResource(ConfigResourceType.BROKER, ""))
    assert serial_now(node) == before
