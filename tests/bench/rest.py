"""The REST proxy as a process: batches of 100 records over 8 connections, and the latency of one record.

The broker, the proxy and the load share the machine's cores. A plain client sends the same records beside it.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.client import AsyncProducer
from ottla.testing import EmbeddedBroker
from tests.bench.measure import Figure
from tests.bench.registry import cpu_s, run_requests
from tests.integration.web.rest_process import RestProcess, type_of

_CONNECTIONS = 8
_BATCH = 100
_TOPIC = "bench"


def figures(*, seconds: float) -> Iterator[Figure]:
    """Batches by version 2, single records by version 2, and by a plain client."""
    with tempfile.TemporaryDirectory() as directory, EmbeddedBroker(process=True) as broker:
        proxy = RestProcess(Path(directory), broker.bootstrap_servers, access_log_enable="false")
        try:
            proxy.start()
            wish = {"topic_name": _TOPIC, "partitions_count": 2, "replication_factor": 1}
            created = proxy.v3("POST", "/topics", wish)
            assert created[0] == 201, created
            batches = [_request(_BATCH)] * round(400 * seconds)
            before = cpu_s(proxy.pid)
            rate, times = asyncio.run(run_requests(proxy.port, [batches] * _CONNECTIONS))
            yield Figure("produce, batches of 100, 8 connections", "records", rate * _BATCH, target="≥ 15,000")
            spent = cpu_s(proxy.pid) - before
            yield Figure("the same, of the proxy's CPU time", "records", len(times) * _BATCH / spent)
            yield Figure("a batch of 100, p99", "ms", _p99(times), per="")
            _, times = asyncio.run(run_requests(proxy.port, [[_request(1)] * round(1000 * seconds)]))
            plain = asyncio.run(_plain(broker.bootstrap_servers, round(1000 * seconds)))
            yield Figure("one record, one connection, p99", "ms", _p99(times), {"plain client": _p99(plain)}, per="")
            yield Figure("one record, one connection, p50", "ms", _p50(times), {"plain client": _p50(plain)}, per="")
            proxy.stop()
        finally:
            proxy.kill()


def _request(records: int) -> bytes:
    body = json.dumps({"records": [{"value": {"id": index, "name": "x" * 60}} for index in range(records)]}).encode()
    head = f"POST /topics/{_TOPIC} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {type_of('json')}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _plain(bootstrap: str, count: int) -> list[float]:
    """How long each record took, one after the other."""
    times = []
    value = json.dumps({"id": 1, "name": "x" * 60}).encode()
    async with AsyncProducer(bootstrap_servers=bootstrap, linger_ms=0) as producer:
        for _ in range(count):
            began = time.perf_counter()
            await producer.send(_TOPIC, value)
            times.append(time.perf_counter() - began)
    return times


def _p99(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100] * 1000


def _p50(times: list[float]) -> float:
    return sorted(times)[len(times) // 2] * 1000
