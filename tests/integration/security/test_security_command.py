"""docs/SECURITY.md: from nothing to a secure cluster with the commands that stand there, and `ottla users`."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.cli.kafka import configs
from tests.clients.patience import until
from tests.integration.cli.ottla_command import Ottla
from tests.integration.node.nodes import free_ports

PAGE = Path(__file__).parents[3] / "docs" / "SECURITY.md"
TIMEOUT_S = 120


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory in which the page's commands were run; its broker runs."""
    place = tmp_path_factory.mktemp("page")
    port, controller_port = map(str, free_ports(2))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    server: subprocess.Popen[bytes] | None = None
    try:
        for line in commands():
            line = line.replace("security init secure", f"security init secure --controller-port {controller_port}")
            line = line.replace("--user alice", f"--user alice --port {port}").replace(
                "localhost:9092", f"localhost:{port}"
            )
            words = ["bash", "-c", f"exec {line}" if "server-start" in line else line]
            if "server-start" in line:
                server = subprocess.Popen(words, cwd=place, env=environment)
                continue
            done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
            assert not done.returncode, f"{line}\n{done.stdout}\n{done.stderr}"
        yield place / "secure"
    finally:
        if server is not None:
            server.terminate()
            server.wait(TIMEOUT_S)


def commands() -> list[str]:
    """The five commands of the page, and the one that uses what they made."""
    section = PAGE.read_text().partition("## Five commands")[2].partition("\n## ")[0]
    blocks = [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]
    assert list(map(len, blocks)) == [5, 1]
    return [line for block in blocks for line in block]


def test_the_pages_commands_make_a_cluster_that_clients_can_use(secure: Path) -> None:
    settings = json.loads((secure / "admin.librdkafka.json").read_text())
    consumer = confluent_kafka.Consumer({**settings, "group.id": "readers", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    deadline, message = time.monotonic() + TIMEOUT_S, None
    while message is None and time.monotonic() < deadline:
        message = consumer.poll(0.5)
    assert message is not None
    assert message.value() == b"hello"
    consumer.close()


def test_kcat(secure: Path) -> None:
    """Whatever its librdkafka is, with the file that is made for it."""
    kcat = shutil.which("kcat")
    if kcat is None:
        pytest.skip("needs kcat")
    command = [kcat, "-F", str(secure / "admin.librdkafka.conf"), "-C", "-t", "orders", "-e", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.stdout == "hello\n", done.stderr


def test_users_may_do_what_rules_allow(secure: Path) -> None:
    settings = json.loads((secure / "alice.librdkafka.json").read_text())
    alice = AdminClient(settings)
    until({"orders"}, lambda: set(alice.list_topics(timeout=TIMEOUT_S).topics))
    with pytest.raises(confluent_kafka.KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        alice.create_topics([NewTopic("hers", 1, 1)])["hers"].result(TIMEOUT_S)


def test_secrets_are_their_owners_alone(secure: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in secure.iterdir() if path.is_file()}
    assert {"ca.key", "broker.pem", "users", "server.properties", "alice.properties"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_users(secure: Path) -> None:
    config = ("--command-config", str(secure / "admin.properties"))
    admin = dict(line.split("=", 1) for line in (secure / "admin.properties").read_text().splitlines())
    ottla = Ottla(admin["bootstrap.servers"])
    assert ottla("users", "list", *config).lines == ["There are no SCRAM users."]
    made = ottla("users", "set", "bob", "--generate", "--json", *config).document
    assert ottla("users", "list", "--json", *config).document == [
        {"user": "bob", "mechanism": name, "iterations": 8192} for name in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    ]
    module = admin["sasl.jaas.config"].split(" username=")[0]
    jaas = f'{module} username="bob" password="{made["password"]}";'
    as_bob = (*config, "-X", f"sasl.jaas.config={jaas}")
    assert ottla("topics", "list", *as_bob).code == 0
    assert ottla("users", "set", "bob", "--password-file", "-", *config, stdin=b"another\n").code == 0
    refused = ottla("topics", "list", *as_bob)
    assert refused.code == 1
    assert "invalid credentials" in refused.err
    assert ottla("users", "delete", "bob", "--yes", *config).code == 0
    assert ottla("users", "list", "--json", *config).document == []


def test_users_by_kafkas_own_command(secure: Path) -> None:
    config = ("--command-config", str(secure / "admin.properties"))
    admin = dict(line.split("=", 1) for line in (secure / "admin.properties").read_text().splitlines())
    entity = ("--bootstrap-server", admin["bootstrap.servers"], "--entity-type", "users", "--entity-name", "carol")
    change = "SCRAM-SHA-256=[iterations=8192,password=kafka123],SCRAM-SHA-512=[password=kafka123]"
    assert configs.main([*entity, *config, "--alter", "--add-config", change]) == 0
    module = admin["sasl.jaas.config"].split(" username=")[0]
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        as_carol = ("-X", f"sasl.mechanism={mechanism}")
        as_carol += ("-X", f'sasl.jaas.config={module} username="carol" password="kafka123";')
        done = Ottla(admin["bootstrap.servers"])("topics", "list", *config, *as_carol)
        assert (done.code == 0) == (mechanism == "SCRAM-SHA-512"), done.err  # the only one that is enabled


def test_a_directory_that_holds_something_is_left_alone(secure: Path) -> None:
    before = (secure / "ca.key").read_bytes()
    refused = Ottla("unused:1")("security", "init", str(secure))
    assert refused.code == 1
    assert "is not empty" in refused.err
    assert (secure / "ca.key").read_bytes() == before
