"""Several instances under load: the primary is killed, stopped and frozen, and the broker goes away and comes back.

`OTTLA_TEST_KILLS` says how often; CI kills once.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client import Admin, NewTopic, Producer
from ottla.web.registry.state.record_key import SchemaKey, encode_key
from ottla.web.registry.state.record_value import encode_schema
from ottla.web.registry.state.stored_schema import SchemaContent, StoredSchema
from tests.clients.server import kinds_and_peer, start_server
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.web.registering import Registering
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.service_process import eventually
from tests.kafka.port import free_port
from tests.kafka.server import Server

KILLS = int(os.environ.get("OTTLA_TEST_KILLS", "1"))
SESSION_MS = 6_000
IMPATIENT = {
    "kafkagroup_session_timeout_ms": str(SESSION_MS),
    "kafkagroup_heartbeat_interval_ms": "500",
    "access_log_enable": "false",
}


@pytest.fixture(params=kinds_and_peer())
def lone_kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A cluster of one node that only this test uses."""
    server = start_server(request.param, tmp_path / "kafka", group_initial_rebalance_delay_ms="0")
    yield server
    server.kill()


@pytest.fixture
def instances(lone_kafka: Server, tmp_path: Path) -> Iterator[list[RegistryProcess]]:
    """Three instances of one registry."""
    made = [RegistryProcess(tmp_path / str(index), lone_kafka.bootstrap, **IMPATIENT) for index in range(3)]
    try:
        for each in made:
            each.start(wait=False)
        for each in made:
            each.wait_until_elected()
        yield made
    finally:
        for each in made:
            each.kill()


def primary_of(instances: list[RegistryProcess]) -> RegistryProcess:
    """The one that says so; instances that are down have no say."""
    found: list[RegistryProcess] = []

    def is_found() -> bool:
        found[:] = [each for each in instances if _is_primary(each)]
        return len(found) == 1

    eventually(is_found, instances[0])
    return found[0]


def _is_primary(instance: RegistryProcess) -> bool:
    try:
        return "\nschema_registry_is_primary 1\n" in instance.ask("GET", "/metrics")[1]
    except OSError:
        return False


def test_the_primary_is_killed_under_load(instances: list[RegistryProcess]) -> None:
    with Registering(instances, 4) as load:
        load.wait_for(40)
        for _ in range(KILLS):
            primary = primary_of(instances)
            primary.kill()
            load.wait_for(20)
            primary.start()
    load.check(primary_of(instances))
    for instance in instances:
        eventually(lambda each=instance: _has_all(each, load), instance)  # type: ignore[misc]
    # A stop hands the seat over without waiting for the end of a session.
    primary = primary_of(instances)
    assert primary.stop() == 0
    assert primary_of([each for each in instances if each is not primary]) is not primary


def test_a_primary_that_was_frozen_writes_nothing_that_is_lost(instances: list[RegistryProcess]) -> None:
    with Registering(instances, 4) as load:
        load.wait_for(20)
        primary = primary_of(instances)
        others = [each for each in instances if each is not primary]
        os.kill(primary.pid, signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 60
            while not any(_is_primary(each) for each in others):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            os.kill(primary.pid, signal.SIGCONT)
        load.wait_for(20)
    load.check(primary_of(instances))


def test_the_broker_goes_away_and_comes_back(lone_kafka: Server, tmp_path: Path) -> None:
    registry = RegistryProcess(tmp_path / "one", lone_kafka.bootstrap, kafkastore_timeout_ms="1000", **IMPATIENT)
    try:
        registry.start()
        body = {"schema": '"string"'}
        assert registry.ask("POST", "/subjects/a/versions", body)[0] == 200
        lone_kafka.kill()
        assert registry.ask("GET", "/subjects/a/versions/1")[0] == 200
        assert registry.ask("POST", "/subjects/a/versions", body)[0] == 200
        status, answer = registry.ask("POST", "/subjects/b/versions", {"schema": '"int"'})
        assert (status, answer["error_code"]) in ((500, 50001), (500, 50002), (500, 50004))
        lone_kafka.start()
        eventually(lambda: registry.ask("POST", "/subjects/b/versions", {"schema": '"int"'})[0] == 200, registry)
        assert registry.ask("GET", "/subjects") == (200, ["a", "b"])
        assert registry.stop() == 0
    finally:
        registry.kill()


def test_a_topic_that_is_made_anew_is_read_again(lone_kafka: Server, tmp_path: Path) -> None:
    registry = RegistryProcess(tmp_path / "one", lone_kafka.bootstrap, kafkastore_timeout_ms="2000", **IMPATIENT)

    def register(subject: str, schema: str) -> bool:
        return bool(registry.ask("POST", f"/subjects/{subject}/versions", {"schema": schema})[0] == 200)

    try:
        registry.start()
        assert all(register(name, '"string"') for name in ("a", "b", "c"))
        with Admin(bootstrap_servers=lone_kafka.bootstrap) as admin:
            admin.delete_topics(["_schemas"])
            eventually(lambda: "_schemas" not in admin.list_topics(), registry)
            admin.create_topics([NewTopic("_schemas", 1, 1, configs={"cleanup.policy": "compact"})])
        eventually(lambda: register("d", '"int"'), registry)
        assert registry.ask("GET", "/subjects") == (200, ["d"])
    finally:
        registry.kill()


def test_a_topic_that_another_program_made_anew_and_filled_is_read_again(lone_kafka: Server, tmp_path: Path) -> None:
    registry = RegistryProcess(tmp_path / "one", lone_kafka.bootstrap, **IMPATIENT)
    try:
        registry.start()
        assert registry.ask("POST", "/subjects/a/versions", {"schema": '"string"'})[0] == 200
        # It sees nothing of the topic until there are more records than it has read.
        os.kill(registry.pid, signal.SIGSTOP)
        with Admin(bootstrap_servers=lone_kafka.bootstrap) as admin:
            admin.delete_topics(["_schemas"])
            eventually(lambda: "_schemas" not in admin.list_topics(), registry)
            admin.create_topics([NewTopic("_schemas", 1, 1, configs={"cleanup.policy": "compact"})])
        with Producer(bootstrap_servers=lone_kafka.bootstrap, linger_ms=200) as producer:
            for number in range(1, 31):
                content = SchemaContent("AVRO", f'{{"type":"fixed","name":"F{number}","size":1}}')
                value = encode_schema(StoredSchema(f"s{number}", 1, number, content, content.digest()))
                producer.send("_schemas", value, encode_key(SchemaKey(f"s{number}", 1)), partition=0)
        os.kill(registry.pid, signal.SIGCONT)
        wanted = sorted(f"s{number}" for number in range(1, 31))
        eventually(lambda: registry.ask("GET", "/subjects") == (200, wanted), registry)
    finally:
        registry.kill()


def test_instances_speak_tls_with_each_other(lone_kafka: Server, tmp_path: Path) -> None:
    require_openssl()
    authority = Authority(tmp_path, "authority")
    mine = authority.sign("registry", "DNS:localhost,IP:127.0.0.1")
    settings = {
        "ssl_keystore_location": str(mine.both),
        "ssl_truststore_location": str(authority.certificate),
        "inter_instance_protocol": "https",
        **IMPATIENT,
    }
    made: list[RegistryProcess] = []
    try:
        for index in range(2):
            plain, secure = free_port(), free_port()
            listeners = f"http://127.0.0.1:{plain},https://127.0.0.1:{secure}"
            made.append(RegistryProcess(tmp_path / str(index), lone_kafka.bootstrap, **settings))
            made[-1].listen_at(plain, listeners)
            made[-1].start()
        follower = next(each for each in made if not _is_primary(each))
        assert follower.ask("POST", "/subjects/a/versions", {"schema": '"string"'})[0] == 200
        assert follower.ask("GET", "/subjects/a/versions/1")[0] == 200
    finally:
        for each in made:
            each.kill()


def _has_all(instance: RegistryProcess, load: Registering) -> bool:
    latest = {subject: version for subject, _, version in load.acknowledged.values()}
    return all(instance.ask("GET", f"/subjects/{each}/versions/{latest[each]}")[0] == 200 for each in latest)
