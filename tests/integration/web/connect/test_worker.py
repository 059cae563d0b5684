"""Workers as processes, with a broker: any of them answers, one decides, and another goes on when that one dies."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.client import Admin, Consumer, Producer
from ottla.client.admin.value.topic import NewTopic
from ottla.connect.offset_record import encode
from ottla.connect.worker.offset_file import decode_offsets, encode_offsets
from tests.clients.server import OTTLA, start_server
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.web.connect_process import ConnectProcess
from tests.integration.web.service_process import eventually
from tests.kafka.port import free_port
from tests.kafka.server import Server

SOURCE = {"connector_class": "FileStreamSource", "file": "/no/such/file", "topic": "lines"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(OTTLA, tmp_path_factory.mktemp("broker"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def worker(broker: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProcess]:
    process = ConnectProcess(
        tmp_path_factory.mktemp("worker"), broker.bootstrap, group_id="shared", access_log_enable="false"
    )
    try:
        yield process.start()
    finally:
        process.kill()


def records(server: Server, topic: str) -> dict[str, object]:
    """The last value of each key."""
    found: dict[str, object] = {}
    with Consumer(bootstrap_servers=server.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, number) for number in consumer.partitions_for(topic).partitions])
        ends = consumer.end_offsets(consumer.assignment())
        while any(consumer.position(place) < end for place, end in ends.items()):
            for record in consumer.poll(1.0):
                found[bytes(record.key or b"").decode()] = (
                    None if record.value is None else json.loads(bytes(record.value))
                )
    return found


@pytest.mark.long
def test_any_worker_answers_and_another_one_leads_when_the_leader_dies(broker: Server, tmp_path: Path) -> None:
    settings = {"group_id": "pair", "session_timeout_ms": "6000", "heartbeat_interval_ms": "500"}
    workers = [ConnectProcess(tmp_path / name, broker.bootstrap, **settings) for name in ("a", "b")]
    try:
        for process in workers:
            process.start(wait=False)
        for process in workers:
            eventually(process.is_ready, process)
        for number, process in enumerate(workers):
            assert process.create(f"c{number}", **SOURCE)[0] == 201
            # What a worker was told, it shows at once, whoever decided it.
            assert sorted(process.ask("GET", "/connectors")[1])[number] == f"c{number}"
        for process in workers:
            process.wait_for_tasks("c0", "UNASSIGNED")
            process.wait_for_tasks("c1", "UNASSIGNED")
        leader = workers[0].ask("GET", "/connectors/c0/status")[1]["connector"]["worker_id"]
        dying = next(process for process in workers if leader.endswith(f":{process.port}"))
        left = next(process for process in workers if process is not dying)
        dying.kill()
        eventually(lambda: left.ask("PUT", "/connectors/c0/pause")[0] == 202, left)
        left.wait_for("c0", "PAUSED")
        new = left.ask("GET", "/connectors/c0/status")[1]["connector"]["worker_id"]
        assert new.endswith(f":{left.port}")
    finally:
        for process in workers:
            process.kill()


@pytest.mark.long
def test_a_worker_that_starts_again_knows_all_and_tells_runners_nothing_twice(broker: Server, tmp_path: Path) -> None:
    worker = ConnectProcess(tmp_path, broker.bootstrap, group_id="again")
    try:
        worker.start()
        assert worker.create("kept", **SOURCE)[0] == 201
        worker.wait_for_tasks("kept", "UNASSIGNED")
        eventually(lambda: "connect-again@kept" in records(broker, "__ottla_pipeline_specs"), worker)
        spec = records(broker, "__ottla_pipeline_specs")["connect-again@kept"]
        assert worker.stop() == 0
        worker.start()
        worker.wait_for("kept", "RUNNING")
        assert worker.ask("PUT", "/connectors/kept/pause")[0] == 202
        worker.wait_for("kept", "PAUSED")
        eventually(lambda: records(broker, "__ottla_pipeline_specs")["connect-again@kept"] != spec, worker)
        assert records(broker, "__ottla_pipeline_specs")["connect-again@kept"] == {**dict(spec), "wanted": "paused"}  # type: ignore[call-overload]
        assert worker.ask("DELETE", "/connectors/kept")[0] == 204
        eventually(lambda: records(broker, "__ottla_pipeline_specs")["connect-again@kept"] is None, worker)
    finally:
        worker.kill()


@pytest.mark.long
def test_secrets_stay_placeholders_everywhere(broker: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.txt").write_text("a line\n")
    monkeypatch.setenv("OTTLA_TEST_FILE", str(tmp_path / "in.txt"))
    worker = ConnectProcess(
        tmp_path / "worker", broker.bootstrap, "-X", "config.providers=env",
        "-X", "config.providers.env.class=EnvVarConfigProvider",
        "-X", "config.providers.env.param.allowlist.pattern=OTTLA_TEST_.*", group_id="secrets",
    )  # fmt: skip
    try:
        worker.start()
        given = {**SOURCE, "file": "${env:OTTLA_TEST_FILE}"}
        status, made = worker.create("hidden", **given)
        assert (status, made["config"]["file"]) == (201, "${env:OTTLA_TEST_FILE}")
        worker.wait_for_tasks("hidden", "UNASSIGNED")
        assert worker.ask("GET", "/connectors/hidden/tasks")[1][0]["config"]["file"] == "${env:OTTLA_TEST_FILE}"
        shown = worker.ask(
            "PUT", "/connector-plugins/FileStreamSource/config/validate",
            {"name": "x", "connector.class": "FileStreamSource", "topic": "t", "file": "${env:OTTLA_TEST_FILE}",
             "batch.size": "${env:OTTLA_TEST_FILE}"},
        )  # fmt: skip
        assert str(tmp_path / "in.txt") not in json.dumps(shown)
        assert "Invalid value ${env:OTTLA_TEST_FILE} for configuration batch.size" in json.dumps(shown)
        eventually(lambda: "connect-secrets@hidden" in records(broker, "__ottla_pipeline_specs"), worker)
        for topic in ("secrets-configs", "__ottla_pipeline_specs"):
            assert str(tmp_path / "in.txt") not in json.dumps(records(broker, topic))
        status, refused = worker.create("outside", **{**SOURCE, "file": "${env:HOME}"})
        assert (status, "not in the allow-list" in refused["message"]) == (400, True)
        assert str(tmp_path / "in.txt") not in worker.log.read_text()
    finally:
        worker.kill()


@pytest.mark.long
def test_a_connector_that_raises_or_exits_fails_alone(
    broker: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text(
        "import sys, time\n"
        "from ottla.connect.connector import SourceConnector, SourceTask\n"
        "class Raises(SourceConnector):\n"
        "    def start(self, settings): raise ValueError('not today')\n"
        "    def task_class(self): return SourceTask\n"
        "class Exits(Raises):\n"
        "    def start(self, settings): sys.exit(3)\n"
        "class Hangs(Raises):\n"
        "    def validate(self, settings): time.sleep(3600)\n"
        "class Tells(Raises):\n"
        "    def validate(self, settings): raise KeyError(settings['password'])\n"
        "class Lists(Raises):\n"
        "    def validate(self, settings): return ['no']\n"
        "class Leaves(Raises):\n"
        "    def validate(self, settings): sys.exit(4)\n"
        "class Numbers(Raises):\n"
        "    def start(self, settings): pass\n"
        "    def task_configs(self, tasks_max): return [{'a': 5, 'b': None}]\n"
        "    def stop(self): time.sleep(3600)\n"
        "class Garbles(Numbers):\n"
        "    def task_configs(self, tasks_max): return [{'a': '\\ud800'}]\n"
    )
    monkeypatch.setenv("OTTLA_TEST_SECRET", "hunter2")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = ConnectProcess(
        tmp_path / "worker", broker.bootstrap, "-X", "config.providers=env",
        "-X", "config.providers.env.class=EnvVarConfigProvider",
        group_id="evil", connector_call_timeout_ms="3000", task_shutdown_graceful_timeout_ms="1000",
    )  # fmt: skip
    try:
        worker.start()
        for name in ("Raises", "Exits"):
            assert worker.create(name, connector_class=f"evil:{name}")[0] == 201
            worker.wait_for(name, "FAILED")
        trace = worker.ask("GET", "/connectors/Raises/status")[1]["connector"]["trace"]
        assert trace.startswith("java.lang.IllegalArgumentException: not today\n\tat start(")
        status, answer = worker.create("hangs", connector_class="evil:Hangs")
        assert (status, "did not answer within 3 s" in answer["message"]) == (500, True)
        status, answer = worker.create("tells", connector_class="evil:Tells", password="${env:OTTLA_TEST_SECRET}")
        assert (status, answer["message"]) == (500, "Tells.validate failed: KeyError: '${env:OTTLA_TEST_SECRET}'")
        status, answer = worker.create("lists", connector_class="evil:Lists")
        assert (status, answer["message"]) == (500, "Lists.validate failed: TypeError: it returned no dict, but list")
        status, answer = worker.create("leaves", connector_class="evil:Leaves")
        assert (status, answer["message"]) == (500, "The validation of the connector ended with SystemExit: 4")
        for name in ("Garbles", "Numbers"):
            assert worker.create(name, connector_class=f"evil:{name}")[0] == 201
        worker.wait_for_tasks("Numbers", "UNASSIGNED")
        assert worker.ask("GET", "/connectors/Numbers/tasks")[1][0]["config"]["a"] == "5"
        assert worker.create("fine", **SOURCE)[0] == 201
        worker.wait_for_tasks("fine", "UNASSIGNED")
        # It is tried again, and one that was mended runs.
        (tmp_path / "evil.py").write_text("")
        assert (
            worker.ask("PUT", "/connectors/Raises/config", {"connector.class": "FileStreamSource", "topic": "t"})[0]
            == 200
        )
        worker.wait_for("Raises", "RUNNING")
        for name in ("Garbles", "Numbers"):
            # Their stop hangs, and nothing waits for it for long.
            assert worker.ask("DELETE", f"/connectors/{name}")[0] == 204
        assert worker.stop() == 0
        assert "hunter2" not in worker.log.read_text()
    finally:
        worker.kill()


def test_hostile_requests_are_refused_and_the_worker_serves_on(worker: ConnectProcess) -> None:
    deep = b'{"name":"a","config":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    for raw in (b"\x00", b"\xff" * 100, deep, b'{"name":"a","config":{"a":NaN}}', b'{"name":"\\ud800","config":{}}'):
        assert worker.ask("POST", "/connectors", raw=raw)[0] == 400
    assert worker.ask("POST", "/connectors", raw=b"x" * (17 << 20))[0] == 413
    for path in (
        "/connectors/%ff",
        "/connectors/a%00b/status",
        f"/connectors/{'x' * 5000}",
        "/connectors/..%2f../config",
    ):
        assert worker.ask("GET", path)[0] in (400, 404)
    assert worker.ask("GET", "/connectors?expand=%ff")[0] == 400
    assert worker.ask("PUT", "/admin/loggers/root", {"level": ["INFO"]})[0] == 400
    assert worker.ask("GET", "/health")[0] == 200


def test_offsets_of_a_sink_are_those_of_its_group(broker: Server, worker: ConnectProcess) -> None:
    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_topics([NewTopic("sunk", 2, 1)])
    config = {"connector.class": "FileStreamSink", "topics": "sunk", "file": "/dev/null"}
    assert worker.ask("POST", "/connectors", {"name": "k", "config": config, "initial_state": "STOPPED"})[0] == 201
    where = {"kafka_topic": "sunk", "kafka_partition": 1}
    changes = {"offsets": [{"partition": where, "offset": {"kafka_offset": 7}}]}
    assert worker.ask("PATCH", "/connectors/k/offsets", changes)[0] == 200
    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        committed = admin.list_consumer_group_offsets({"connect-k": None})["connect-k"]
    assert [(place.partition, found.offset) for place, found in committed.items() if found is not None] == [(1, 7)]
    assert worker.ask("DELETE", "/connectors/k/offsets")[0] == 200
    assert worker.ask("GET", "/connectors/k/offsets") == (200, {"offsets": []})


@pytest.mark.long
def test_a_level_of_the_cluster_is_taken_by_every_worker(
    broker: Server, worker: ConnectProcess, tmp_path: Path
) -> None:
    second = ConnectProcess(tmp_path, broker.bootstrap, group_id="shared")
    try:
        second.start()
        assert second.ask("PUT", "/admin/loggers/ottla.web?scope=cluster", {"level": "error"})[0] == 204
        for process in (worker, second):
            eventually(lambda of=process: of.ask("GET", "/admin/loggers/ottla.web")[1].get("level") == "ERROR", process)  # type: ignore[misc]
    finally:
        second.kill()


@pytest.mark.long
def test_a_standalone_worker_has_the_connectors_of_its_files(broker: Server, tmp_path: Path) -> None:
    (tmp_path / "worker.properties").write_text(
        f"bootstrap.servers={broker.bootstrap}\nlisteners=http://127.0.0.1:0\n"
        "key.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.storage.StringConverter\n"
        f"offset.storage.file.filename={tmp_path}/connect.offsets\nconfig.storage.replication.factor=1\n"
    )
    (tmp_path / "one.properties").write_text("name=one\nconnector.class=FileStreamSource\nfile=/no/file\ntopic=lines\n")
    (tmp_path / "two.json").write_text(
        json.dumps({"name": "two", "config": {"connector.class": "FileStreamSink", "topics": "lines"}})
    )
    first = standalone(tmp_path, "one.properties", "two.json")
    assert "Created connector one" in first
    assert "Created connector two" in first
    second = standalone(tmp_path, "two.json")
    assert "Created connector one" not in second
    groups = [
        name for name in topics_of(broker) if name.startswith("connect-standalone-") and name.endswith("-configs")
    ]
    assert len(groups) == 1
    found = records(broker, groups[0])
    assert found["connector-one"] is None
    assert found["connector-two"] is not None


def test_a_standalone_workers_sources_go_on_where_its_file_says(broker: Server, tmp_path: Path) -> None:
    file, key = tmp_path / "connect.offsets", encode("in", {"filename": "a"}, {})[0]
    (tmp_path / "worker.properties").write_text(
        f"bootstrap.servers={broker.bootstrap}\nlisteners=http://127.0.0.1:0\ngroup.id=filed\n"
        f"offset.storage.file.filename={file}\nconfig.storage.replication.factor=1\n"
    )
    (tmp_path / "in.properties").write_text("name=in\nconnector.class=FileStreamSource\nfile=a\ntopic=lines\n")
    file.write_bytes(encode_offsets({key: b'{"position":8}'}))

    def a_task_stores_more() -> None:
        assert records(broker, "filed-offsets") == {key.decode(): {"position": 8}}
        with Producer(bootstrap_servers=broker.bootstrap) as producer:
            producer.send("filed-offsets", b'{"position":12}', key).result()

    standalone(tmp_path, "in.properties", then=a_task_stores_more)
    assert decode_offsets(file.read_bytes()) == {key: b'{"position":12}'}
    file.unlink()
    standalone(tmp_path, "in.properties")
    assert records(broker, "filed-offsets") == {key.decode(): None}
    file.write_bytes(b"no map")
    assert "not one that Kafka Connect writes" in standalone(tmp_path, "in.properties", code=1)


def standalone(directory: Path, *connectors: str, then: Callable[[], None] = lambda: None, code: int = 0) -> str:
    """What a standalone worker says until it serves; it is ended then."""
    command = ["connect", "standalone", "--no-runner", "worker.properties", *connectors]
    said = ""
    with subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", *command],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if "Connect serves at" in line:
                then()
                os.kill(process.pid, signal.SIGTERM)
        assert process.wait(60) == code, said
    return said


def topics_of(server: Server) -> list[str]:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        return list(admin.list_topics())


def test_dead_letters_go_back_to_where_they_came_from(broker: Server) -> None:
    context = [("__connect.errors.topic", b"orders"), ("__connect.errors.stage", b"VALUE_CONVERTER"), ("own", b"1")]
    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, 1, 1) for name in ("orders", "dead", "elsewhere")])
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        for number in range(5):
            producer.send("dead", value=f"v{number}".encode(), key=b"k", headers=context).result()
    assert redrive(broker, "dead", "--max", "2") == "Sent 2 dead letters of dead back\n"
    assert redrive(broker, "dead") == "Sent 3 dead letters of dead back\n"
    assert redrive(broker, "dead") == "Sent 0 dead letters of dead back\n"
    with Consumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([("orders", 0)])
        found = []
        while len(found) < 5:
            found += list(consumer.poll(1.0))
    assert [(bytes(each.key or b""), bytes(each.value or b"")) for each in found] == [
        (b"k", f"v{number}".encode()) for number in range(5)
    ]
    assert [list(each.headers) for each in found] == [[("own", b"1")]] * 5
    assert redrive(broker, "dead", "--to", "elsewhere", "--group", "other") == "Sent 5 dead letters of dead back\n"
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        producer.send("dead", value=b"without context").result()
    assert "does not say where it came from" in redrive(broker, "dead", code=1)


def redrive(server: Server, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "ottla.cli.main", "connect", "redrive", "-b", server.bootstrap, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_the_commands_that_talk_to_a_worker(worker: ConnectProcess, tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    file.write_text(json.dumps({"name": "told", "config": {"connector.class": "FileStreamSource", "topic": "t"}}))
    assert tell(worker, "create", str(file)) == "Connector told is created\n"
    worker.wait_for_tasks("told", "UNASSIGNED")
    assert tell(worker, "create", str(file)) == "Connector told has new settings\n"
    listed = tell(worker, "list").splitlines()
    assert listed[0].split() == ["NAME", "TYPE", "STATE", "TASKS"]
    assert ["told", "source", "RUNNING", "1", "UNASSIGNED"] in [line.split() for line in listed]
    assert json.loads(tell(worker, "show", "told"))["config"]["topic"] == "t"
    assert tell(worker, "status", "told").splitlines()[0].startswith("told: source, ")
    assert json.loads(tell(worker, "status", "told", "--json"))["progress"] == {
        "records_per_s": 0.0, "lag": 0, "tasks": [],
    }  # fmt: skip
    assert tell(worker, "pause", "told") == "Connector told is asked to pause\n"
    worker.wait_for("told", "PAUSED")
    assert tell(worker, "delete", "told") == "Connector told is deleted; its offsets stay\n"
    assert "Connector told not found" in tell(worker, "show", "told", code=1)


def tell(worker: ConnectProcess, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "ottla.cli.main", "connect", *arguments, "--url", worker.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_new_connectors_pass_their_own_tests(tmp_path: Path) -> None:
    make = [sys.executable, "-m", "ottla.cli.main", "connect", "new"]
    for words in (["my-source"], ["my-sink", "--sink"]):
        made = subprocess.run([*make, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert made.returncode == 0, made.stderr
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my-source", "my-sink"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, "3 passed" in done.stdout) == (0, True), done.stdout


def test_the_labs_answers_and_topics(broker: Server, tmp_path: Path) -> None:
    names = {f"{kind}_storage_topic": f"truck-connect-{kind}" for kind in ("config", "offset", "status")}
    lab = ConnectProcess(tmp_path, broker.bootstrap, group_id="truck", **names)
    try:
        lab.start()
        config = {"connector.class": "FileStreamSource", "file": "/no/file", "topic": "truck_position"}
        body = {"name": "mqtt-source", "config": {**config, "name": "MqttSourceConnector"}}
        sentence = (
            "Connector name configuration (MqttSourceConnector) doesn't match connector name in the URL (mqtt-source)"
        )
        assert lab.ask("POST", "/connectors", body) == (400, {"error_code": 400, "message": sentence})
        assert lab.ask("POST", "/connectors", {"name": "mqtt-source", "config": config}) == (
            201, {"name": "mqtt-source", "config": {**config, "name": "mqtt-source"}, "tasks": [], "type": "source"},
        )  # fmt: skip
        assert set(names.values()) <= set(topics_of(broker))
    finally:
        lab.kill()


def test_tls_and_log_in_with_curl_and_between_workers(broker: Server, tmp_path: Path) -> None:
    require_openssl()
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    authority, users = Authority(tmp_path, "authority"), tmp_path / "users"
    mine = authority.sign("worker", "DNS:localhost,IP:127.0.0.1")
    users.write_text("alice: wonder\n")
    settings = {
        "group_id": "secure", "ssl_keystore_location": str(mine.both), "rest_advertised_listener": "https",
        "ssl_truststore_location": str(authority.certificate), "authentication_method": "BASIC",
        "authentication_users_file": str(users), "bootstrap_servers": broker.bootstrap,
    }  # fmt: skip
    workers, urls = [], []
    try:
        for name in ("a", "b"):
            plain, secure = free_port(), free_port()
            workers.append(ConnectProcess(tmp_path / name, broker.bootstrap, **settings))
            workers[-1].listen_at(plain, f"http://127.0.0.1:{plain},https://127.0.0.1:{secure}")
            workers[-1].start()
            urls.append(f"https://localhost:{secure}")
        made = json.dumps({"name": "safe", "config": {"connector.class": "FileStreamSource", "topic": "t"}})
        assert curl(f"{urls[0]}/connectors", authority)[0] == 401
        assert curl(f"{urls[0]}/connectors", authority, "-u", "alice:rabbit")[0] == 401
        # One of the two passes it on to the one that leads.
        for url, name in zip(urls, ("safe", "other"), strict=True):
            body = ("-u", "alice:wonder", "-H", "Content-Type: application/json", "-d", made.replace("safe", name))
            assert curl(f"{url}/connectors", authority, *body)[0] == 201
        assert sorted(curl(f"{urls[1]}/connectors", authority, "-u", "alice:wonder")[1]) == ["other", "safe"]
        command = [sys.executable, "-m", "ottla.cli.main", "connect", "list", "--cacert", str(authority.certificate)]
        for user, code in (("alice:wonder", 0), ("alice:rabbit", 1)):
            url = urls[0].replace("://", f"://{user}@")
            done = subprocess.run([*command, "--url", url], capture_output=True, text=True, timeout=120, check=False)
            assert (done.returncode, "rabbit" in done.stderr) == (code, False), done.stderr
    finally:
        for process in workers:
            process.kill()


def curl(url: str, authority: Authority, *arguments: str) -> tuple[int, Any]:
    """Status and decoded answer."""
    command = ["curl", "-s", "--cacert", str(authority.certificate), "-w", "\n%{http_code}", *arguments, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answer, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(answer) if answer.startswith(("{", "[")) else answer
