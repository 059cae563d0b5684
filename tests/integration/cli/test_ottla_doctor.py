"""`ottla doctor` finds what is wrong, and says what helps."""

import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.testing import EmbeddedBroker
from tests.integration.cli.ottla_command import Ottla
from tests.integration.cli.running import running
from tests.integration.client.certificate import Authority, require_openssl
from tests.kafka.port import free_port


class _Quiet(http.server.ThreadingHTTPServer):
    """A server that does not complain of visitors who don't speak HTTP."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def ottla(ottla_broker: EmbeddedBroker) -> Ottla:
    """The commands."""
    return Ottla(ottla_broker.bootstrap_servers)


@pytest.fixture
def web_port() -> Iterator[int]:
    """The port of a web server."""
    yield from _serve(None)


def _serve(context: ssl.SSLContext | None) -> Iterator[int]:
    server = _Quiet(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.daemon_threads = True
    if context is not None:
        # The handshake is each connection's own affair: here it would keep others waiting.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_healthy_cluster(ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str) -> None:
    done = ottla("doctor", "--topic", ottla_topic, "--data", ottla_broker.data_directory)
    assert done.code == 0, done.out
    checks = [line.split()[1] for line in done.lines if line.startswith("✓")]
    assert {"rights", "format", "disk", "name", "port", "protocol", "broker", "version", "clock", "permission", "topic",
            "health"} <= set(checks)  # fmt: skip
    assert done.lines[-1] == "All is well."


@pytest.mark.parametrize(
    ("address", "said", "fix"),
    [
        ("no-such-host.invalid:9092", "✗ name  the name no-such-host.invalid can't be resolved", "/etc/hosts"),
        ("127.0.0.1:1", "✗ port  127.0.0.1:1 refuses: nothing listens on port 1 there", "start the broker"),
    ],
)
def test_an_address_that_leads_nowhere(ottla: Ottla, address: str, said: str, fix: str) -> None:
    done = ottla("doctor", "-b", address)
    assert done.code == 1
    assert said in done.out
    assert fix in next(line for line in done.lines if "→" in line)


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """The port of a server that speaks TLS."""
    require_openssl()
    certificate = Authority(tmp_path, "authority").sign("localhost", "DNS:localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    yield from _serve(context)


def test_tls_where_the_client_has_none(ottla: Ottla, tls_port: int) -> None:
    done = ottla("doctor", "-b", f"127.0.0.1:{tls_port}", "--timeout", "1")
    assert done.code == 1
    assert f"✗ protocol  127.0.0.1:{tls_port} speaks TLS, and we don't" in done.out
    assert "→ add -X security.protocol=SSL" in done.out


def test_a_port_where_something_else_is_spoken(ottla: Ottla, web_port: int) -> None:
    done = ottla("doctor", "-b", f"127.0.0.1:{web_port}", "--timeout", "1")
    assert done.code == 1
    assert f"✗ protocol  127.0.0.1:{web_port} speaks HTTP: a web server's port, not a broker's" in done.out


def test_the_controllers_port_is_called_so_and_the_brokers_is_named(ottla: Ottla, tmp_path: Path) -> None:
    arguments = ("broker", "--listen", str(port := free_port()), "--http", "off")
    with running("ottla.cli.main", *arguments, directory=tmp_path) as node:
        said = node.wait_for("Ready").partition("controller on port ")[2]
        controller = f"127.0.0.1:{int(said.partition(',')[0])}"
        named = f"the cluster's broker is at 127.0.0.1:{port}: use -b 127.0.0.1:{port}"
        done = ottla("doctor", "-b", controller)
        assert done.code == 1
        assert f"✗ protocol  {controller} is a controller's port, which serves no clients of brokers" in done.out
        assert f"→ {named}" in done.out
        for command in (("topics", "list"), ("produce", "orders"), ("consume", "orders")):
            done = ottla(*command, "-b", controller)
            assert (done.code, done.out) == (1, "")
            assert "this is a controller's port" in done.err
            assert done.err.endswith(f"{named}\n")
        assert node.end() == 0


def test_the_port_of_the_metrics_is_told_from_a_brokers_at_once(ottla: Ottla, tmp_path: Path) -> None:
    arguments = ("broker", "--listen", str(free_port()), "--http", str(http_port := free_port()))
    with running("ottla.cli.main", *arguments, directory=tmp_path) as node:
        node.wait_for("Ready")
        # It would be silence otherwise: this long is more than the test may take.
        patience = "socket.connection.setup.timeout.ms=600000"
        done = ottla("topics", "list", "-b", f"127.0.0.1:{http_port}", "-X", patience)
        assert node.end() == 0
    assert "HTTP is spoken there: this is a web server's port, not a Kafka broker's" in done.err


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT"])
def test_security_that_the_listener_does_not_have(ottla: Ottla, protocol: str) -> None:
    sasl = ("sasl.mechanism=PLAIN", "sasl.username=a", "sasl.password=b") if protocol.startswith("SASL") else ()
    settings = [part for text in (f"security.protocol={protocol}", *sasl) for part in ("-X", text)]
    done = ottla("doctor", *settings)
    assert done.code == 1
    what = "SASL" if sasl else "TLS"
    assert f"✗ protocol  {ottla.bootstrap} speaks Kafka's protocol without {what}" in done.out
    assert "→ add -X security.protocol=PLAINTEXT" in done.out


def test_an_advertised_address_that_nobody_reaches() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        dead = taken.getsockname()[1]
        with EmbeddedBroker({"advertised.listeners": f"PLAINTEXT://127.0.0.1:{dead}"}) as broker:
            done = Ottla(broker.bootstrap_servers)("doctor")
    assert done.code == 1
    assert f"✗ broker 1  it advertises 127.0.0.1:{dead}, which can't be used from here: connection refused" in done.out
    assert "→ set advertised.listeners of broker 1 to an address that clients reach" in done.out


def test_only_a_directory_is_looked_at_when_told(tmp_path: Path) -> None:
    done = Ottla("127.0.0.1:1")("doctor", "--data", str(tmp_path), "--data-only", "--json")
    assert [found["check"] for found in done.document["checks"]] == ["rights", "format", "disk", "limit"]
    assert Ottla("127.0.0.1:1")("doctor", "--data-only").code == 1
