"""Where commands find their cluster, and which settings they give to clients."""

import argparse
from pathlib import Path

import pytest

from ottla.cli.connection import add_connection, bootstrap, client_settings, key_value
from ottla.cli.output.advice import CommandError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.producer import PRODUCER_KEYS


def _options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_connection(parser)
    return parser.parse_args(arguments)


def test_the_option_wins_over_the_environment_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTTLA_BOOTSTRAP", raising=False)
    assert bootstrap(_options()) == "localhost:9092"
    monkeypatch.setenv("OTTLA_BOOTSTRAP", "there:1")
    assert bootstrap(_options()) == "there:1"
    assert bootstrap(_options("-b", "here:2")) == "here:2"


def test_a_file_serves_several_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTTLA_BOOTSTRAP", raising=False)
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=there:1\nacks=1\nsecurity.protocol=SSL\n")
    given = _options("--command-config", str(file), "-X", "security.protocol=PLAINTEXT")
    assert client_settings(given, ADMIN_KEYS) == {"bootstrap.servers": "there:1", "security.protocol": "PLAINTEXT"}
    assert client_settings(given, PRODUCER_KEYS)["acks"] == "1"
    over = _options("--command-config", str(file), "-b", "here:2")
    assert client_settings(over, ADMIN_KEYS)["bootstrap.servers"] == "here:2"


def test_a_setting_that_no_client_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        CommandError, match=r"no client has a setting securty\.protocol; did you mean security\.protocol\?"
    ):
        client_settings(_options("-X", "securty.protocol=SSL"), ADMIN_KEYS)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match="--command-config /none: No such file or directory"):
        client_settings(_options("--command-config", "/none"), ADMIN_KEYS)


@pytest.mark.parametrize("text", ["retention.ms", "=5"])
def test_what_is_no_key_and_value_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="it must have the form KEY=VALUE"):
        key_value(text, "-X")
