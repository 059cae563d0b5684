"""The commands that talk to a service over HTTP, while the service or the brokers behind it are away."""

import subprocess
import sys
from pathlib import Path

from tests.clients.server import start_server
from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.port import free_port


def refusal(*arguments: str) -> str:
    """The error that a command ends with."""
    ended = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 1, ended
    return ended.stderr.strip()


def test_a_connect_worker_that_is_away_is_named() -> None:
    port = free_port()
    assert refusal("connect", "list", "--url", f"http://127.0.0.1:{port}") == (
        f"ottla: no Connect worker answers at http://127.0.0.1:{port}: nothing listens on port {port} there; "
        "start one with `ottla connect`, or give the address of one with --url"
    )


def test_an_instance_of_streams_that_is_away_is_named() -> None:
    port = free_port()
    said = refusal("streams", "query", "counts", "to", "--url", f"127.0.0.1:{port}")
    assert said.startswith(f"ottla: no Streams instance answers at http://127.0.0.1:{port}: nothing listens")
    assert "query.listeners" in said


def test_a_registry_that_is_away_may_wait_for_its_brokers() -> None:
    port = free_port()
    said = refusal("schemas", "list", "--url", f"http://127.0.0.1:{port}")
    assert said.startswith(f"ottla: no schema registry answers at http://127.0.0.1:{port}: nothing listens on port")
    assert "`ottla registry`" in said
    assert "`ottla doctor -b`" in said


def test_brokers_behind_a_registry_that_are_away_are_the_reason(tmp_path: Path) -> None:
    kafka = start_server("ottla", tmp_path / "kafka")
    registry = RegistryProcess(tmp_path / "registry", kafka.bootstrap, kafkastore_timeout_ms="500")
    try:
        registry.start().wait_until_elected()
        kafka.kill()
        schema = tmp_path / "order.avsc"
        schema.write_text('"string"')
        said = refusal("schemas", "register", "orders-value", str(schema), "--url", registry.url)
        assert "brokers may be away" in said or "its brokers are away" in said, said
        assert "ottla registry" not in said
    finally:
        registry.kill()
        kafka.kill()
