"""How long an admin client tries to connect."""

import asyncio

import pytest

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.cluster.cluster_client import ClusterClient


@pytest.mark.parametrize(
    ("settings", "patience_ms"),
    [
        ({}, 10_000),
        ({"socket_connection_setup_timeout_ms": 3_000}, 3_000),
        ({"default_api_timeout_ms": 1_500, "request_timeout_ms": 1_000}, 1_500),
    ],
)
def test_connecting_takes_no_longer_than_a_call(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], patience_ms: int
) -> None:
    asked: list[int] = []

    async def start(_cluster: ClusterClient, *, timeout_ms: int) -> None:
        asked.append(timeout_ms)

    async def main() -> None:
        monkeypatch.setattr(ClusterClient, "start", start)
        async with AsyncAdmin(bootstrap_servers="127.0.0.1:1", **settings):
            pass
        await AsyncAdmin(bootstrap_servers="127.0.0.1:1").start(timeout_ms=7)

    asyncio.run(main())
    assert asked == [patience_ms, 7]
