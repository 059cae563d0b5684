"""Where a client finds what it logs in with."""

import asyncio
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.security import sasl
from ottla.net.sasl.client_login import ClientExchange


def first_message(**given: object) -> bytes:
    settings = ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", sasl_mechanism="PLAIN", **given)
    return next(asyncio.run(_begun(settings)))


async def _begun(settings: ClientSettings) -> ClientExchange:
    return await sasl.login_of(settings, "PLAIN")("a")


def test_the_file_that_java_would_be_started_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "client.conf"
    path.write_text(
        'KafkaClient { a.ScramLoginModule required; a.PlainLoginModule required username=u password="p"; };'
    )
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={path}")
    assert first_message() == b"\0u\0p"
    assert first_message(sasl_username="alice", sasl_password="secret") == b"\0alice\0secret"
    assert first_message(sasl_jaas_config="a.B required username=s password=t;") == b"\0s\0t"
    path.write_text("KafkaClient { a.PlainLoginModule required; username=u; };")
    with pytest.raises(ConfigError, match="line 1, column 52"):
        first_message()
