"""Services on a cluster with TLS, log-in and rights, which serve HTTPS and ask for a log-in themselves."""

import http.client
import json
import ssl
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.protocol.acl import AclOperation, AclResourceType
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow
from tests.integration.web.connect_process import ConnectProcess
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.rest_process import RestProcess
from tests.integration.web.service_process import ServiceProcess
from tests.kafka.port import free_port

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_BASIC = {"Authorization": "Basic " + b64encode(b"ann:her secret").decode()}
_BEARER = {"Authorization": "Bearer a-long-token"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    """Alice, as whom the services come, may use all topics and groups, and do nothing with the cluster."""
    with SecuredNode(tmp_path_factory.mktemp("secured"), **GUARDED) as found:
        for kind in (AclResourceType.TOPIC, AclResourceType.GROUP):
            allow(found, AclOperation.ALL, kind, "*")
        allow(found, AclOperation.DESCRIBE, AclResourceType.CLUSTER, "kafka-cluster")
        yield found


def kafka(node: SecuredNode, prefix: str = "") -> dict[str, str]:
    """How a service logs in to the cluster."""
    return {
        f"{prefix}security_protocol": "SASL_SSL",
        f"{prefix}sasl_mechanism": "SCRAM-SHA-512",
        f"{prefix}sasl_jaas_config": f'{_MODULE} username="alice" password="secret";',
        f"{prefix}ssl_truststore_location": str(node.authority.certificate),
    }


def https(node: SecuredNode, directory: Path, method: str) -> dict[str, str]:
    """What a service asks of its clients."""
    directory.mkdir(parents=True, exist_ok=True)
    users, tokens = directory / "users", directory / "tokens"
    users.write_text("ann=her secret\n")
    tokens.write_text("ann=a-long-token\n")
    return {
        "ssl_keystore_location": str(node.broker.both),
        "authentication_method": method,
        "authentication_users_file": str(users),
        "authentication_tokens_file": str(tokens),
    }


def served(process: ServiceProcess, node: SecuredNode, path: str, headers: dict[str, str]) -> tuple[int, Any]:
    """What a request over HTTPS is answered."""
    context = ssl.create_default_context(cafile=str(node.authority.certificate))
    connection = http.client.HTTPSConnection("localhost", _PORTS[process], timeout=60, context=context)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    return response.status, json.loads(body) if body.startswith((b"{", b"[")) else body


_PORTS: dict[ServiceProcess, int] = {}


def listening(process: ServiceProcess) -> ServiceProcess:
    """The service with a second listener, for HTTPS."""
    _PORTS[process] = free_port()
    process.listen_at(process.port, f"http://127.0.0.1:{process.port},https://localhost:{_PORTS[process]}")
    return process


@pytest.mark.parametrize(
    ("make", "prefix", "path", "method", "headers"),
    [
        (RegistryProcess, "kafkastore_", "/subjects", "BASIC", _BASIC),
        pytest.param(RestProcess, "client_", "/topics", "BEARER", _BEARER, marks=pytest.mark.long),
        pytest.param(ConnectProcess, "", "/connectors", "BASIC", _BASIC, marks=pytest.mark.long),
    ],
)
def test_a_service(
    node: SecuredNode, tmp_path: Path, make: Any, prefix: str, path: str, method: str, headers: dict[str, str]
) -> None:
    settings = {**kafka(node, prefix), **https(node, tmp_path, method)}
    process = listening(make(tmp_path, node.address("SASLTLS"), **settings))
    try:
        process.start()
        status, answer = served(process, node, path, headers)
        assert status == 200, answer
        assert isinstance(answer, list)
        for wrong in ({}, {"Authorization": headers["Authorization"][:-3]}):
            assert served(process, node, path, wrong)[0] == 401
        assert "her secret" not in process.output()
        assert 'password="secret"' not in process.output()
    finally:
        process.kill()
