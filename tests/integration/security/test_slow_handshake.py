"""500 clients that shake hands a few bytes at a time, and one in nobody's way who is served all along."""

import asyncio
import contextlib
import ssl
import statistics
import time
from collections.abc import Iterator

import pytest

from ottla.client.config.admin import ADMIN_KEYS
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.cluster import cluster_client
from tests.integration.client.test_security import ALICE
from tests.integration.security.secured_node import SecuredNode

SLOW = 500
_REQUESTS = 100
_ROUNDS = 5


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("slow")) as found:
        yield found


def _hello(node: SecuredNode) -> bytes:
    """What a client says first."""
    context = ssl.create_default_context(cafile=str(node.authority.certificate))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


async def _shake_slowly(port: int, hello: bytes, go: asyncio.Event) -> asyncio.StreamWriter:
    """All but the last byte, in pieces."""
    _, writer = await asyncio.open_connection("localhost", port)
    step = len(hello) // _ROUNDS
    for at in range(0, step * (_ROUNDS - 1), step):
        writer.write(hello[at : at + step])
        await go.wait()
        await asyncio.sleep(0.02)
    return writer


def test_a_bystander(node: SecuredNode) -> None:
    hello = _hello(node)
    login = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "ssl_truststore_location": node.authority.certificate,
        **ALICE,
    }

    async def main() -> tuple[float, float]:
        async with cluster_client(node.address("SASLTLS"), ADMIN_KEYS, **login) as client:

            async def wait_ms() -> float:
                waits = []
                for _ in range(_REQUESTS):
                    began_at = time.perf_counter()
                    assert isinstance(await client.request(1, MetadataRequest(topics=[])), MetadataResponse)
                    waits.append((time.perf_counter() - began_at) * 1000)
                return statistics.median(waits)

            before = await wait_ms()
            go = asyncio.Event()
            shaking = [asyncio.create_task(_shake_slowly(node.port("TLS"), hello, go)) for _ in range(SLOW)]
            await asyncio.sleep(0.1)
            go.set()
            during = await wait_ms()
            writers = await asyncio.gather(*shaking)
            # Others still get in, while none of the 500 has been sent away.
            async with cluster_client(node.address("SASLTLS"), ADMIN_KEYS, **login) as other:
                assert isinstance(await other.request(1, MetadataRequest(topics=[])), MetadataResponse)
            assert not any(writer.is_closing() for writer in writers)
            for writer in writers:
                writer.close()
            return before, during

    before, during = asyncio.run(main())
    print(f"a request takes {before:.2f} ms, among {SLOW} slow handshakes {during:.2f} ms")
