"""The schema registry as a process: the load of 50,000 schemas, reads and registrations over HTTP.

The broker, the registry and the load share the machine's cores. Schemas are records of six optional strings.
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.client import AsyncProducer
from ottla.testing import EmbeddedBroker
from ottla.web.registry.state.record_key import SchemaKey, encode_key
from ottla.web.registry.state.record_value import encode_schema
from ottla.web.registry.state.stored_schema import SchemaContent, StoredSchema
from tests.bench.measure import Figure
from tests.integration.web.registry_process import TYPE, RegistryProcess

_LOADED = 50_000
_CONNECTIONS = 8


def figures(*, seconds: float) -> Iterator[Figure]:
    """Loads, reads, registers."""
    loaded = _LOADED if seconds >= 1 else _LOADED // 10
    with tempfile.TemporaryDirectory() as directory, EmbeddedBroker() as broker:
        with _registry(Path(directory) / "first", broker.bootstrap_servers):
            pass  # makes the topic
        asyncio.run(_fill(broker.bootstrap_servers, loaded))
        began = time.perf_counter()
        with _registry(Path(directory) / "second", broker.bootstrap_servers) as registry:
            took = time.perf_counter() - began
            yield Figure(f"start with {loaded:,} schemas, of the process", "s", took, target="< 5", per="")
            yield Figure("its CPU time until then", "s", cpu_s(registry.pid), per="")
            yield Figure("its memory", "MB", _resident_mb(registry.pid), target="< 300", per="")
            reads = [_get(f"/schemas/ids/{1 + index % loaded}") for index in range(round(3000 * seconds))]
            yield from _shown("read by id", asyncio.run(run_requests(registry.port, [reads] * _CONNECTIONS)), "≥ 3,000")
            writes = [
                [
                    _post(f"new-{worker}-{index}", _schema(f"New{worker}x{index}"))
                    for index in range(round(200 * seconds))
                ]
                for worker in range(_CONNECTIONS)
            ]
            yield from _shown("register", asyncio.run(run_requests(registry.port, writes)), "≥ 300")


def _shown(what: str, measured: tuple[float, list[float]], target: str) -> Iterator[Figure]:
    rate, times = measured
    times.sort()
    yield Figure(f"{what}, {_CONNECTIONS} connections", "requests", rate, target=target)
    yield Figure(f"{what}, p99", "ms", times[len(times) * 99 // 100] * 1000, per="")


@contextmanager
def _registry(directory: Path, bootstrap: str) -> Iterator[RegistryProcess]:
    registry = RegistryProcess(directory, bootstrap, access_log_enable="false")
    try:
        yield registry.start()
        registry.stop()
    finally:
        registry.kill()


async def _fill(bootstrap: str, count: int) -> None:
    async with AsyncProducer(bootstrap_servers=bootstrap, linger_ms=20, batch_size=500_000) as producer:
        for index in range(1, count + 1):
            subject, content = f"subject-{index}-value", SchemaContent("AVRO", _schema(f"Loaded{index}"))
            value = encode_schema(StoredSchema(subject, 1, index, content, content.digest()))
            await producer.enqueue("_schemas", value, encode_key(SchemaKey(subject, 1)), partition=0)
        await producer.flush()


def _schema(name: str) -> str:
    fields = [{"name": f"field{index}", "type": ["null", "string"], "default": None} for index in range(6)]
    record = {"type": "record", "name": name, "namespace": "com.example", "fields": fields}
    return json.dumps(record, separators=(",", ":"))


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {TYPE}\r\n\r\n".encode()


def _post(subject: str, schema: str) -> bytes:
    body = json.dumps({"schema": schema}).encode()
    head = f"POST /subjects/{subject}/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {TYPE}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def run_requests(port: int, work: list[list[bytes]]) -> tuple[float, list[float]]:
    """Requests a second, and how long each took: one connection for each list, one request at a time on it."""
    times: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(_connection(port, requests, times) for requests in work))
    return len(times) / (time.perf_counter() - began), times


async def _connection(port: int, requests: list[bytes], times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], head
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r")[0]))
        times.append(time.perf_counter() - began)
    writer.close()
    await writer.wait_closed()


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_s(pid: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
