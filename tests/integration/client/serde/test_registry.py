"""The registry client: retries, addresses, log-in, caches, and what goes wrong."""

import asyncio
import itertools
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client import AvroDeserializer, AvroSerializer, Consumer, Producer, SchemaRegistry, TopicPartition
from ottla.client.config.settings import UnknownSettingError
from ottla.client.registry.async_registry import AsyncSchemaRegistry
from ottla.client.registry.errors import RegistryError, RegistryUnavailableError
from ottla.client.registry.value import SchemaText
from ottla.client.serde.schema.async_serde import AsyncDeserializer, AsyncSerializer
from ottla.testing import EmbeddedBroker
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.client.serde.registry_server import State, registry_server


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_registry_is_asked_again(registry: SchemaRegistry, state: State, status: int) -> None:
    state.failures[:] = [status, status]
    assert registry.register("s", SchemaText('"string"')).id == 1
    assert len(state.requests) == 3


def test_retries_end(registry: SchemaRegistry, state: State) -> None:
    state.failures[:] = [503] * 9
    with pytest.raises(RegistryError, match=r"busy \(error 50002\)"):
        registry.register("s", SchemaText('"string"'))
    assert len(state.requests) == 4


def test_a_refusal_is_not_repeated(registry: SchemaRegistry, state: State) -> None:
    state.failures[:] = [409]
    with pytest.raises(RegistryError) as caught:
        registry.register("s", SchemaText('"string"'))
    assert (caught.value.status, len(state.requests)) == (409, 1)


def test_the_next_address_is_tried(running: tuple[str, State]) -> None:
    with SchemaRegistry(url=f"http://127.0.0.1:{closed_port()},{running[0]}") as registry:
        assert registry.register("s", SchemaText('"string"')).id == 1


def test_an_unreachable_registry_is_named() -> None:
    port = closed_port()
    registry = SchemaRegistry(url=f"http://127.0.0.1:{port}", max_retries=1, retries_wait_ms=1)
    with pytest.raises(RegistryUnavailableError, match=f"GET /subjects: no answer from http://127.0.0.1:{port}: "):
        registry.subjects()


def test_a_silent_registry_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        registry = SchemaRegistry(url=url, request_timeout_ms=50, max_retries=0)
        with pytest.raises(RegistryUnavailableError, match="timed out"):
            registry.subjects()


@pytest.mark.parametrize(
    ("url", "settings", "expected"),
    [
        ("http://", {"basic_auth_user_info": "ada:s:e"}, "Basic YWRhOnM6ZQ=="),
        ("http://ada:s%3Ae@", {}, "Basic YWRhOnM6ZQ=="),
        ("http://", {"bearer_auth_token": "t0ken"}, "Bearer t0ken"),
        ("http://", {}, None),
    ],
)
def test_log_in(running: tuple[str, State], url: str, settings: dict[str, object], expected: str | None) -> None:
    address = running[0].replace("http://", url)
    with SchemaRegistry({"schema.registry.url": address}, **settings) as registry:
        registry.subjects()
    headers = running[1].requests[-1][2]
    assert headers.get("Authorization") == expected
    assert headers["Accept"].startswith("application/vnd.schemaregistry.v1+json")


def test_tls_with_a_certificate_on_either_side(tmp_path: Path) -> None:
    require_openssl()
    authority, stranger = Authority(tmp_path, "authority"), Authority(tmp_path, "stranger")
    own, client = authority.sign("registry", "IP:127.0.0.1"), authority.sign("client")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.both)
    context.load_verify_locations(authority.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    kafkas = {"ssl.truststore.location": str(authority.certificate), "ssl.keystore.location": str(client.both)}
    short = {"ssl.ca.location": str(authority.certificate), "ssl.certificate.location": str(client.both)}
    with registry_server(context) as (url, _):
        for settings in (kafkas, short):
            with SchemaRegistry(settings, url=url) as registry:
                assert registry.register("s", SchemaText('"string"')).id == 1
        suspicious = SchemaRegistry({**short, "ssl.ca.location": str(stranger.certificate)}, url=url, max_retries=0)
        with pytest.raises(RegistryUnavailableError, match="certificate verify failed"):
            suspicious.subjects()
        nobody = SchemaRegistry({"ssl.ca.location": short["ssl.ca.location"]}, url=url, max_retries=0)
        # The alert about the missing certificate and the closed connection race each other to the client.
        with pytest.raises(RegistryUnavailableError):
            nobody.subjects()


def test_names_are_encoded(registry: SchemaRegistry, state: State) -> None:
    registry.register(":.c:a/b c%ü", SchemaText('"string"'))
    assert list(state.subjects) == [":.c:a/b c%ü"]


@pytest.mark.parametrize("url", ["", "localhost:8081", "ftp://x", "http://x:port", "http://x:0"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        SchemaRegistry(url=url)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(UnknownSettingError, match="did you mean basic_auth_user_info"):
        SchemaRegistry(url="http://x", basic_auth_userinfo="a:b")


def test_threads_share_a_client(registry: SchemaRegistry, state: State) -> None:
    schemas = [SchemaText(f'{{"type":"fixed","name":"F{number}","size":1}}') for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda schema: registry.register("s", schema).id, schemas))
    assert sorted(ids) == list(range(1, 41))


def test_the_latest_version_grows_old(running: tuple[str, State]) -> None:
    url, state = running
    state.register("s", {"schema": '"string"'})
    with SchemaRegistry(url=url) as for_ever, SchemaRegistry(url=url, latest_cache_ttl_sec=0) as fresh:
        assert for_ever.latest("s").version == fresh.latest("s").version == 1
        state.register("s", {"schema": '"long"'})
        assert (for_ever.latest("s").version, fresh.latest("s").version) == (1, 2)


def test_asyncio(running: tuple[str, State]) -> None:
    async def exchange() -> object:
        async with AsyncSchemaRegistry(url=running[0]) as registry:
            serializer = AsyncSerializer(AvroSerializer(registry.blocking, "string"))
            deserializer = AsyncDeserializer(AvroDeserializer(registry.blocking))
            read = []
            for text in ("a", "b", None):
                data = await serializer.serialize("t", [], text)
                read.append(await deserializer.deserialize("t", [], data))
            return read, await registry.subjects()

    assert asyncio.run(exchange()) == (["a", "b", None], ["t-value"])


def test_records_go_through_a_broker(registry: SchemaRegistry) -> None:
    """With the GUID in a header, which the producer sends and the consumer hands on."""
    schema = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}
    with EmbeddedBroker() as broker:
        servers = broker.bootstrap_servers
        keys = AvroSerializer(registry, "string", is_key=True)
        values = AvroSerializer(registry, schema, schema_id_serializer="header")
        with Producer(bootstrap_servers=servers, key_serializer=keys, value_serializer=values) as producer:
            for number in range(3):
                producer.send("numbers", {"n": number}, key=f"k{number}").result(10)
        with Consumer(
            bootstrap_servers=servers,
            auto_offset_reset="earliest",
            key_deserializer=AvroDeserializer(registry, is_key=True),
            value_deserializer=AvroDeserializer(registry),
        ) as consumer:
            consumer.assign([TopicPartition("numbers", 0)])
            records = list(itertools.islice(consumer, 3))
    assert [(record.key, record.value) for record in records] == [(f"k{n}", {"n": n}) for n in range(3)]
