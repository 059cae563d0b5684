"""A worker and connectors that log in as different principals, on a broker that knows who may do what."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.client.admin.value.topic import NewTopic
from tests.clients.server import APACHE, CLUSTER_ID, OTTLA, make_server
from tests.integration.pipelines.committed import committed_values
from tests.integration.web.connect_process import ConnectProcess
from tests.integration.web.service_process import eventually
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytestmark = pytest.mark.long
SLOW_S = 300
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
STRING = "org.apache.kafka.connect.storage.StringConverter"
POLICY = "connector.client.config.override.policy"
PASSWORDS = {"worker": "worker-word", "writer": "writer-word", "reader": "reader-word"}
RIGHTS = (
    ("worker", ResourceType.TOPIC, "own-", AclOperation.ALL),
    ("worker", ResourceType.GROUP, "own-", AclOperation.ALL),
    ("worker", ResourceType.TOPIC, "lines", AclOperation.DESCRIBE),
    ("writer", ResourceType.TOPIC, "lines", AclOperation.WRITE),
    ("reader", ResourceType.TOPIC, "lines", AclOperation.READ),
    ("reader", ResourceType.GROUP, "connect-out", AclOperation.READ),
)


def log_in(user: str, password: str | None = None) -> str:
    return f'{MODULE} username="{user}" password="{password or PASSWORDS[user]}";'


@pytest.fixture(scope="module", params=[OTTLA, APACHE])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A broker, and the address at which one has to log in."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
    server = make_server(request.param, tmp_path_factory.mktemp("secured") / request.param)
    port = free_port()
    endpoints = f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port},SECURED://127.0.0.1:{port}"
    users = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    server.configure(**{
        "listeners": endpoints,
        "advertised.listeners": endpoints,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": f"{MODULE} {users};",
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": "User:ANONYMOUS",
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
    })  # fmt: skip
    server.format(CLUSTER_ID)
    server.start()
    with Admin(bootstrap_servers=server.bootstrap) as operator:
        operator.create_topics([NewTopic("lines", 1, 1)])
        operator.create_acls([binding(*right) for right in RIGHTS])
    yield server, f"127.0.0.1:{port}"
    server.kill()


def binding(user: str, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    pattern = ResourcePattern(kind, name, PatternType.PREFIXED if name.endswith("-") else PatternType.LITERAL)
    return AclBinding(pattern, AccessControlEntry(f"User:{user}", operation, AclPermissionType.ALLOW))


def worker_of(directory: Path, address: str, **more: str) -> ConnectProcess:
    """A worker that logs in as `worker`, with all of its topics and groups beginning with `own-`."""
    given: dict[str, Any] = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": log_in("worker"),
        "group.id": "own-group", "pipelines.group.id": "own-pipelines", "pipelines.specs.topic": "own-specs",
        "pipelines.status.topic": "own-pipeline-status", "pipelines.directory": str(directory / "data"),
        **{f"{kind}.storage.topic": f"own-{kind}" for kind in ("config", "offset", "status")},
        "value.converter": STRING, "offset.flush.interval.ms": "300", "config.providers": "dir",
        "config.providers.dir.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
        "config.providers.dir.param.allowed.paths": str(directory), **more,
    }  # fmt: skip
    options = [word for name, value in given.items() for word in ("-X", f"{name}={value}")]
    return ConnectProcess(directory, address, *options, has_runner=True)


def test_each_is_who_it_says(secured: tuple[Server, str], tmp_path: Path) -> None:
    server, address = secured
    file, copy = tmp_path / "in.txt", tmp_path / "out.txt"
    file.write_text("one\ntwo\n")
    (tmp_path / "worker").mkdir()
    (tmp_path / "worker" / "word").write_text(PASSWORDS["writer"])
    worker = worker_of(tmp_path / "worker", address, **{POLICY: "Principal"})
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines", "tasks.restart.max": "0"}
    sink = {"connector.class": "FileStreamSink", "file": str(copy), "topics": "lines", "tasks.restart.max": "0"}
    placeholder = f"${{dir:{tmp_path / 'worker'}:word}}"
    try:
        worker.start()
        status, refused = create(worker, "fast", {**source, "producer.override.linger.ms": "5"})
        assert (status, "The 'Principal' policy does not allow 'linger.ms'" in refused["message"]) == (400, True)
        # Who does not say who it is, is the worker, which may not write here.
        assert create(worker, "as-worker", source)[0] == 201
        eventually(lambda: worker.task_states("as-worker") == ["FAILED"], worker, SLOW_S)
        trace = worker.ask("GET", "/connectors/as-worker/tasks/0/status")[1]["trace"]
        assert "lines" in trace
        assert "uthoriz" in trace
        wrong = {**source, "producer.override.sasl.jaas.config": log_in("writer", "no-word-of-ours")}
        assert create(worker, "wrong", wrong)[0] == 201
        eventually(lambda: worker.task_states("wrong") == ["FAILED"], worker, SLOW_S)
        assert "no-word-of-ours" not in worker.ask("GET", "/connectors/wrong/tasks/0/status")[1]["trace"]
        named = {**source, "producer.override.sasl.jaas.config": log_in("writer", placeholder)}
        assert create(worker, "in", named)[0] == 201
        assert create(worker, "out", {**sink, "consumer.override.sasl.jaas.config": log_in("reader")})[0] == 201
        eventually(lambda: copy.exists() and copy.read_text() == "one\ntwo\n", worker, SLOW_S)
        assert committed_values(server.bootstrap, "lines") == [b"one", b"two"]
        where = {"partition": {"filename": str(file)}, "offset": {"position": 8}}
        eventually(lambda: worker.ask("GET", "/connectors/in/offsets")[1] == {"offsets": [where]}, worker, SLOW_S)
        assert PASSWORDS["writer"] not in str(worker.ask("GET", "/connectors/in")[1])
    finally:
        worker.stop()
    told = worker.output() + "".join(str(path.read_text()) for path in (tmp_path / "worker").rglob("*.log"))
    for secret in (PASSWORDS["worker"], PASSWORDS["writer"], "no-word-of-ours"):
        assert secret not in told
    topics = [*committed_values(server.bootstrap, "own-specs"), *committed_values(server.bootstrap, "own-config")]
    assert not [value for value in topics if PASSWORDS["worker"].encode() in (value or b"")]
    assert not [value for value in topics if PASSWORDS["writer"].encode() in (value or b"")]


def create(worker: ConnectProcess, name: str, config: dict[str, str]) -> tuple[int, Any]:
    return worker.ask("POST", "/connectors", {"name": name, "config": config})
