"""Connection trouble, and whether its text would help: who was tried, why it failed, what to do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import ClientError, ConnectFailedError, KafkaTimeoutError, NoBrokersAvailableError
from ottla.protocol.messages.metadata import MetadataRequest
from tests.integration.client.cluster import cluster_client
from tests.kafka.port import free_port
from tests.kafka.server import Server


@pytest.fixture(autouse=True, params=["asyncio", "uvloop"])
def policy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whose event loop the user chose."""
    before = asyncio.get_event_loop_policy()
    if request.param == "uvloop":
        asyncio.set_event_loop_policy(pytest.importorskip("uvloop").EventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(before)


async def start(bootstrap: str, **settings: object) -> ClusterClient:
    client = ClusterClient(ClientSettings.of(ADMIN_KEYS, bootstrap_servers=bootstrap, **settings))
    try:
        await client.start()
    finally:
        await client.close()
    return client


def trouble(bootstrap: str, **settings: object) -> str:
    """What a user is told who tries to connect."""
    with pytest.raises(ClientError) as caught:
        asyncio.run(start(bootstrap, **settings))
    return str(caught.value)


@contextlib.asynccontextmanager
async def listening(answer: bytes | None) -> AsyncIterator[str]:
    """A port where `answer` is given to whatever comes, or nothing ever (None); empty: the connection is closed."""
    never = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer is None:
            with contextlib.suppress(asyncio.CancelledError):
                await never.wait()
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        never.set()


def trouble_with(answer: bytes | None, **settings: object) -> str:
    async def main() -> str:
        async with listening(answer) as address:
            with pytest.raises(NoBrokersAvailableError) as caught:
                await start(address, **settings)
            return str(caught.value)

    return asyncio.run(main())


def test_every_address_is_named_with_its_reason() -> None:
    port = free_port()
    text = trouble(f"127.0.0.1:{port},no-such-host.invalid:9092")
    assert f"127.0.0.1:{port} (bootstrap): connection refused: nothing listens on port {port} there" in text
    assert "no-such-host.invalid:9092 (bootstrap): the name no-such-host.invalid can't be resolved" in text


def test_a_process_that_ends_is_a_reason_like_others() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().shutdown_default_executor()
        with pytest.raises(NoBrokersAvailableError, match="no name can be resolved any more"):
            await start("no-such-host.invalid:9092", socket_connection_setup_timeout_ms=10)

    # uvloop resolves names by threads of its own.
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(main())


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP is spoken there"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "something else than Kafka's protocol is spoken there, it said 'SSH-'"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "TLS is spoken there: set security.protocol to SSL"),
        (b"", "the other side closed the connection during asking for the versions that it speaks"),
    ],
)
def test_a_port_that_is_not_a_brokers(answer: bytes, text: str) -> None:
    assert text in trouble_with(answer)


def test_a_port_that_never_answers() -> None:
    text = trouble_with(None, socket_connection_setup_timeout_ms=50)
    assert "it got stuck at asking for the versions that it speaks" in text


def test_a_plaintext_listener_spoken_to_in_tls(server: Server) -> None:
    text = trouble(server.bootstrap, security_protocol="SSL")
    assert "TLS" in text
    assert "security.protocol" in text or "is it a broker's TLS port?" in text


def test_a_good_address_is_enough(server: Server) -> None:
    async def main() -> None:
        async with cluster_client(f"127.0.0.1:{free_port()},{server.bootstrap}") as client:
            assert client.view.brokers

    asyncio.run(main())


def test_an_advertised_address_that_cannot_be_reached(lone_server: Callable[..., Server]) -> None:
    server = lone_server(advertised_listeners="PLAINTEXT://no-such-host.invalid:9092")

    async def main() -> None:
        async with cluster_client(server.bootstrap) as client:
            with pytest.raises(ConnectFailedError) as caught:
                await client.request(1, MetadataRequest(topics=[]))
        text = str(caught.value)
        assert "no-such-host.invalid:9092 (broker 1): the name no-such-host.invalid can't be resolved" in text
        assert "advertised.listeners" in text

    asyncio.run(main())


def test_a_restarted_broker_is_found_again(lone_server: Callable[..., Server]) -> None:
    server = lone_server()

    async def main() -> None:
        async with cluster_client(server.bootstrap) as client:
            server.kill()
            with pytest.raises(KafkaTimeoutError, match=f"{server.bootstrap}.*connection refused"):
                await client.refresh(timeout_ms=500)
            await asyncio.to_thread(server.start)
            await client.refresh(timeout_ms=60_000)
            await client.request(1, MetadataRequest(topics=[]))

    asyncio.run(main())


def test_a_broker_that_moved_is_found_by_bootstrapping_again(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    other_port = free_port()

    async def main() -> None:
        async with cluster_client(f"{server.bootstrap},127.0.0.1:{other_port}") as client:
            server.kill()
            server.port = other_port
            server.configure()
            await asyncio.to_thread(server.start)
            view = await client.refresh(timeout_ms=60_000)
            assert view.brokers[1].port == other_port
            await client.request(1, MetadataRequest(topics=[]))

    asyncio.run(main())


def test_a_broker_that_comes_later_is_waited_for(lone_server: Callable[..., Server]) -> None:
    server = lone_server()
    server.kill()

    async def main() -> None:
        starting = asyncio.create_task(asyncio.to_thread(server.start))
        async with cluster_client(server.bootstrap) as client:
            assert client.view.brokers
        await starting

    asyncio.run(main())


def test_a_request_that_is_not_answered_ends_the_connection() -> None:
    async def main() -> None:
        async with listening(None) as address:
            client = ClusterClient(ClientSettings.of(ADMIN_KEYS, bootstrap_servers=address, request_timeout_ms=100))
            with pytest.raises((NoBrokersAvailableError, KafkaTimeoutError)) as caught:
                await client.start()
            assert "100 ms" in str(caught.value)
            await client.close()

    asyncio.run(main())
