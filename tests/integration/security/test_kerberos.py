"""GSSAPI with a real KDC: our clients and nodes, and clients that we did not write, on our listener and on Kafka's."""

import asyncio
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.clients.patience import until
from tests.integration.client.cluster import cluster_client
from tests.integration.client.test_security import ask, trouble
from tests.integration.security.pair import pair
from tests.integration.security.secured_node import SecuredNode, try_listener
from tests.kafka.peer import KafkaServer, command, require_kafka
from tests.kafka.port import free_port
from tests.kerberos.realm import NAME, Realm

_MODULE = "com.sun.security.auth.module.Krb5LoginModule required"
_TOPICS = "org.apache.kafka.tools.TopicCommand"
SERVICE = "kafka/localhost"


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with Realm(tmp_path_factory.mktemp("realm")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        yield found


@pytest.fixture(scope="module")
def service(realm: Realm) -> str:
    """The login module of a broker."""
    return by_keytab(SERVICE, realm.keytab(SERVICE))


@pytest.fixture(scope="module")
def alice(realm: Realm) -> Path:
    return realm.keytab("alice")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, service: str) -> Iterator[SecuredNode]:
    changes = {
        **{f"listener.name.{name}.sasl.enabled.mechanisms": "GSSAPI,PLAIN" for name in ("sasl", "sasltls")},
        **{f"listener.name.{name}.gssapi.sasl.jaas.config": service for name in ("sasl", "sasltls")},
        "sasl.kerberos.service.name": "kafka",
        "listener.name.sasltls.sasl.kerberos.principal.to.local.rules": "RULE:[1:$1](al.*)s/a/A/,RULE:[2:$1]",
    }
    with SecuredNode(tmp_path_factory.mktemp("node"), **changes) as found:
        yield found


def by_keytab(principal: str, keytab: Path) -> str:
    return f'{_MODULE} useKeyTab=true storeKey=true keyTab="{keytab}" principal="{principal}@{NAME}";'


def gssapi(module: str) -> dict[str, object]:
    """What our clients are configured with."""
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": "kafka",
        "sasl_jaas_config": module,
    }


def over_tls(node: SecuredNode) -> dict[str, object]:
    return {"security_protocol": "SASL_SSL", "ssl_truststore_location": node.authority.certificate}


def test_rules_name_the_user(node: SecuredNode, alice: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = by_keytab("alice", alice)
    with caplog.at_level(logging.DEBUG, "ottla.net.login_gate"):
        ask(node.address("SASL"), **gssapi(module))
        ask(node.address("SASLTLS"), **{**gssapi(module), **over_tls(node)})
    assert "User:alice logged in" in caplog.text
    assert "User:Alice logged in" in caplog.text


def test_tickets_in_a_cache(realm: Realm, node: SecuredNode, alice: Path) -> None:
    tickets = realm.tickets("alice", alice)
    ask(node.address("SASL"), **gssapi(f'{_MODULE} useTicketCache=true ticketCache="{tickets}";'))


def test_who_does_not_get_in(
    realm: Realm, node: SecuredNode, alice: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = node.address("SASL")
    module = by_keytab("alice", alice)
    assert "alice.keytab: there is none" in trouble(address, **gssapi(by_keytab("bob", alice)))
    other = {**gssapi(module), "sasl_kerberos_service_name": "other"}
    assert "other/localhost@EXAMPLE.TEST not found" in trouble(address, **other)
    realm.keytab("kafka/127.0.0.1")
    with caplog.at_level(logging.INFO):
        text = trouble(node.address("SASL", "127.0.0.1"), **gssapi(module))
    assert "invalid credentials with SASL mechanism GSSAPI" in text
    assert "a client's ticket is refused" in caplog.text
    with caplog.at_level(logging.INFO):
        settings = {**gssapi(by_keytab("bob/admin", realm.keytab("bob/admin"))), **over_tls(node)}
        ask(node.address("SASLTLS"), **settings)
        monkeypatch.delenv("KAFKA_OPTS")
        trouble(node.address("SASLTLS"), **{**settings, "sasl_jaas_config": by_keytab("zoe", realm.keytab("zoe"))})
    assert "No rules apply to zoe@EXAMPLE.TEST" in caplog.text
    with pytest.raises(ConfigError, match="Kerberos needs a login module"):
        trouble(address, **gssapi(f"{_MODULE};"))
    with pytest.raises(ConfigError, match="No serviceName defined"):
        trouble(address, **{**gssapi(module), "sasl_kerberos_service_name": ""})
    with pytest.raises(ConfigError, match="no key to check tickets with"):
        try_listener({"listener.name.a.gssapi.sasl.jaas.config": by_keytab("kafka/elsewhere", alice)})


def test_a_kdc_that_is_away(realm: Realm, node: SecuredNode, alice: Path) -> None:
    fresh = realm.keytab("carol")

    async def main() -> None:
        async with cluster_client(node.address("SASL"), ADMIN_KEYS, **gssapi(by_keytab("alice", alice))) as client:
            realm.stop()
            try:
                await client.request(1, MetadataRequest(topics=[]))
            finally:
                realm.start()

    asyncio.run(main())
    realm.stop()
    try:
        assert "Cannot contact any KDC" in trouble(node.address("SASL"), **gssapi(by_keytab("carol", fresh)))
    finally:
        realm.start()


def test_kcat(realm: Realm, node: SecuredNode, alice: Path, tmp_path: Path) -> None:
    if shutil.which("kcat") is None or not list(Path("/usr/lib").glob("*/sasl2/libgssapiv2.so*")):
        pytest.skip("needs kcat and libsasl2-modules-gssapi-mit, see scripts/install-debian-packages")
    arguments = ["-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanisms=GSSAPI"]
    arguments += ["-X", f"sasl.kerberos.keytab={alice}", "-X", f"sasl.kerberos.principal=alice@{NAME}"]
    tickets = {"KRB5CCNAME": f"FILE:{tmp_path}/tickets"}

    def run(keytab: Path) -> "subprocess.CompletedProcess[str]":
        more = ["-X", f"sasl.kerberos.keytab={keytab}", "-L", "-J", "-m", "60"]
        return subprocess.run(
            ["kcat", "-b", node.address("SASL"), *arguments, *more],
            env={**os.environ, **tickets},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = run(alice)
    assert not done.returncode, done.stderr
    assert f'"name":"{node.address("SASL")}"' in done.stdout


def java(realm: Realm, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Kafka's own tool for topics, which finds the realm."""
    line = command(_TOPICS, arguments)
    line.insert(1, f"-Djava.security.krb5.conf={realm.configuration}")
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.long
def test_java(realm: Realm, node: SecuredNode, alice: Path, tmp_path: Path) -> None:
    require_kafka()
    path = tmp_path / "client.properties"

    def ask_java(module: str) -> "subprocess.CompletedProcess[str]":
        path.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\n"
            f"default.api.timeout.ms=20000\nrequest.timeout.ms=10000\nsasl.jaas.config={module}\n"
        )
        return java(
            realm, "--bootstrap-server", node.address("SASL"), "--command-config", str(path), "--create", "--topic", "k"
        )

    done = ask_java(by_keytab("alice", alice))
    assert "Created topic k." in done.stdout, done.stderr
    refused = ask_java(by_keytab("bob", alice))
    assert refused.returncode
    assert "LoginException" in refused.stdout + refused.stderr


@pytest.mark.long
def test_ours_to_apache_kafka(realm: Realm, service: str, alice: Path, tmp_path: Path) -> None:
    require_kafka()
    port = free_port()
    server = KafkaServer(tmp_path / "server")
    server.jvm_flags = (*server.jvm_flags, f"-Djava.security.krb5.conf={realm.configuration}")
    endpoints = f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port}"
    server.configure(
        listeners=f"{endpoints},SASL://localhost:{port}",
        advertised_listeners=f"{endpoints},SASL://localhost:{port}",
        listener_security_protocol_map="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
        inter_broker_listener_name="PLAINTEXT",
        listener_name_sasl_sasl_enabled_mechanisms="GSSAPI",
        listener_name_sasl_gssapi_sasl_jaas_config=service,
        sasl_kerberos_service_name="kafka",
    )
    server.format("4L6g3nShT-eMCtK--X86sw")
    try:
        server.start()
        until(True, lambda: server.is_running)
        ask(f"localhost:{port}", **gssapi(by_keytab("alice", alice)))
        assert "not found" in trouble(
            f"localhost:{port}", **{**gssapi(by_keytab("alice", alice)), "sasl_kerberos_service_name": "other"}
        )
    finally:
        server.kill()


def test_a_broker_and_its_controller(realm: Realm, service: str, tmp_path: Path) -> None:
    modules = {f"listener_name_{name}_gssapi_sasl_jaas_config": service for name in ("a", "controller")}

    async def main() -> None:
        given = {**modules, "sasl_kerberos_service_name": "kafka"}
        async with pair(tmp_path, "SASL_PLAINTEXT", "GSSAPI", **given) as broker:
            address = f"localhost:{broker.listener_address('A')[1]}"
            async with cluster_client(address, ADMIN_KEYS, **gssapi(service)) as client:
                answer = await client.request(2, MetadataRequest(topics=[]))
                assert isinstance(answer, MetadataResponse)
                assert [each.node_id for each in answer.brokers] == [2]

    asyncio.run(main())
