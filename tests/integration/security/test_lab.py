"""The trainings' security labs: what must work works, and what they print wrong is refused with the way out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.patience import until
from tests.integration.cli.running import Running
from tests.integration.security import lab as printed
from tests.integration.security.lab import Ended, Lab, run, two_ports

TOPIC = "stock-prices"
HOSTS = ("--allow-host", "10.0.1.11", "--allow-host", "198.51.100.1")
REFUSED = "TopicAuthorizationException"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    found = Lab(tmp_path_factory.mktemp("lab"))
    found.make_keys()
    return found


@pytest.fixture(scope="module")
def tls(lab: Lab) -> Iterator[tuple[Running, str]]:
    """Lab 8.1's broker, and its address."""
    ports = two_ports()
    path = lab.server_file("server-0.properties", printed.SSL_SERVER, ports)
    lab.format(path)
    with lab.serving(path) as server:
        yield server, f"localhost:{ports[1]}"


class Stocks:
    """A broker of lab 8.3 and 8.4, with the labs' clients."""

    def __init__(self, lab: Lab, secure: int) -> None:
        self.lab = lab
        self.bootstrap = ("--bootstrap-server", f"localhost:{secure}")

    def tool(self, name: str, mechanism: str, jaas: str, *arguments: str, given: str = "") -> Ended:
        """A tool with a client's JAAS file."""
        config = self.lab.client_file("SASL_SSL", mechanism)
        file = self.lab.file("client_jaas.conf", jaas)
        return run(name, *self.bootstrap, "--command-config", str(config), *arguments, jaas=file, given=given)

    def produce(self, mechanism: str, jaas: str, value: str) -> Ended:
        """The lab's producer."""
        return self.tool("console_producer", mechanism, jaas, "--topic", TOPIC, given=f"{value}\n")

    def consume(self, mechanism: str, jaas: str, count: int) -> Ended:
        """The lab's consumer."""
        wanted = ("--topic", TOPIC, "--from-beginning", "--max-messages", str(count), "--timeout-ms", "60000")
        return self.tool("console_consumer", mechanism, jaas, *wanted)


def test_the_key_script_makes_the_files_that_it_names(lab: Lab) -> None:
    assert {path.name for path in lab.certs.iterdir()} >= {
        "ca-cert", "kafka-cert", "kafka-cert-signed", "kafka.keystore", "kafka.truststore"
    }  # fmt: skip


@pytest.mark.long
def test_a_certificate_is_shown_or_nothing_is_served(lab: Lab, tls: tuple[Running, str]) -> None:
    server, address = tls
    server.wait_for("has no subject alternative name")

    def topics(*call: str, config: Path) -> Ended:
        return run("topics", "--bootstrap-server", address, "--command-config", str(config), *call)

    with_certificate = lab.client_file("SSL")
    assert topics("--create", "--topic", TOPIC, config=with_certificate).said == f"Created topic {TOPIC}.\n"
    refused = topics("--list", config=lab.client_file("SSL", identity=False))
    assert refused.code == 1
    assert "ssl.keystore.location" in refused.said


@pytest.mark.long
def test_a_name_that_is_not_in_the_certificate(lab: Lab, tls: tuple[Running, str]) -> None:
    """A man in the middle has a certificate for another name; so has, by mistake, the lab."""
    checked = lab.client_file("SSL", more="ssl.endpoint.identification.algorithm=HTTPS")
    refused = run("topics", "--bootstrap-server", tls[1], "--command-config", str(checked), "--list")
    assert refused.code == 1
    assert "subject alternative name" in refused.said
    assert "ssl.endpoint.identification.algorithm" in refused.said


def test_users_of_a_jaas_file(lab: Lab) -> None:
    ports = two_ports()
    path = lab.server_file("server-2.properties", printed.SASL_SERVER, ports)
    lab.format(path)
    stocks = Stocks(lab, ports[1])
    with lab.serving(path, lab.file("kafka_broker_jaas.conf", printed.PLAIN_BROKER)):
        made = stocks.tool("topics", "PLAIN", printed.PLAIN_PRODUCER, "--create", "--topic", TOPIC)
        assert made.said == f"Created topic {TOPIC}.\n"
        assert stocks.produce("PLAIN", printed.PLAIN_PRODUCER, "UBER").code == 0
        stray = stocks.consume("PLAIN", printed.PLAIN_CONSUMER, 1)
        assert stray.code == 1
        assert "line 3, column 13" in stray.said
        mended = printed.PLAIN_CONSUMER.replace("required;", "required")
        assert "UBER" in stocks.consume("PLAIN", mended, 1).said
        wrong = stocks.tool("topics", "PLAIN", mended.replace("consumer123", "guessed"), "--list")
        assert wrong.code == 1
        assert "Invalid username or password" in wrong.said


def test_scram_two_mechanisms_and_rules(lab: Lab) -> None:
    """Labs 8.4 and 8.5: one broker with both modules in its JAAS file, and the authorizer."""
    ports = two_ports()
    path = lab.server_file("server-1.properties", printed.SASL_SERVER + printed.ACL_SERVER, ports)
    text = path.read_text()
    assert "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer" in text
    text = text.replace("sasl.enabled.mechanisms=PLAIN", "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512")
    path.write_text(f"{text}super.users=User:admin;User:ANONYMOUS\n")
    lab.format(path, "--add-scram", "SCRAM-SHA-512=[name=admin,password=kafka123]")
    stocks = Stocks(lab, ports[1])
    broker = ("--bootstrap-server", f"localhost:{ports[0]}")
    names = ("admin", "stocks_consumer", "stocks_producer")
    admin, consumer, producer = (printed.SCRAM_CLIENT % name for name in names)
    with lab.serving(path, lab.file("both_jaas.conf", printed.TWO_MODULES)):
        for user in ("stocks_consumer", "stocks_producer"):
            _make_user(broker, user)
        weak = ("--add-config", "SCRAM-SHA-256=[iterations=4095,password=x]", "--entity-type", "users")
        refused = run("configs", *broker, "--alter", *weak, "--entity-name", "admin")
        assert refused.code == 1
        assert "Iterations 4095 is less than the minimum 4096 required for SCRAM-SHA-256" in refused.said

        made = stocks.tool("topics", "SCRAM-SHA-512", admin, "--create", "--topic", TOPIC)
        assert made.said == f"Created topic {TOPIC}.\n"
        alice = printed.SCRAM_CLIENT.replace("scram.Scram", "plain.Plain").replace("kafka123", "barbaz") % "alice"
        assert TOPIC in stocks.tool("topics", "PLAIN", alice, "--list").said
        _rules(stocks, broker, consumer, producer)


def _make_user(broker: tuple[str, str], user: str) -> None:
    entity = ("--entity-type", "users", "--entity-name", user)
    done = run("configs", *broker, "--alter", "--add-config", printed.SCRAM_CONFIG, *entity)
    assert done.said == f"Completed updating config for user {user}.\n"

    def iterations() -> list[str]:
        return re.findall(r"SCRAM-SHA-\d+=iterations=\d+", run("configs", *broker, "--describe", *entity).said)

    until(["SCRAM-SHA-256=iterations=8192", "SCRAM-SHA-512=iterations=4096"], iterations)


def _rules(stocks: Stocks, broker: tuple[str, str], consumer: str, producer: str) -> None:
    """The lab's entries name two hosts, and this machine is neither."""
    allow = ("--add", "--topic", TOPIC, "--allow-principal")
    for user, operation in (("stocks_consumer", "Read"), ("stocks_producer", "Write")):
        entry = (*allow, f"User:{user}", *HOSTS, "--operation", operation)
        added = run("acls", *broker, *entry)
        assert added.code == 0
        assert f"(principal=User:{user}, host=198.51.100.1, operation={operation.upper()}, permissionType=ALLOW)" in (
            added.said
        )
    until(True, lambda: REFUSED in stocks.produce("SCRAM-SHA-256", producer, "refused").said)
    assert REFUSED in stocks.consume("SCRAM-SHA-256", consumer, 1).said
    for user, operation in (("stocks_consumer", "Read"), ("stocks_producer", "Write")):
        added = run("acls", *broker, *allow, f"User:{user}", "--allow-host", "127.0.0.1", "--operation", operation)
        assert added.code == 0
    until(True, lambda: not stocks.produce("SCRAM-SHA-256", producer, "GOOG").said.strip("> \n"))
    assert "GOOG" in stocks.consume("SCRAM-SHA-256", consumer, 1).said
    assert REFUSED in stocks.produce("SCRAM-SHA-256", consumer, "not mine").said


def test_the_authorizer_of_the_lab_is_answered_with_todays(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://:0,CONTROLLER://:0\n"
        f"controller.listener.names=CONTROLLER\nlog.dirs={tmp_path}/data\n"
        f"controller.quorum.bootstrap.servers=localhost:1{printed.ACL_SERVER}"
    )
    Lab(tmp_path).format(path)
    refused = run("server_start", str(path))
    assert refused.code == 1
    assert "write org.apache.kafka.metadata.authorizer.StandardAuthorizer" in refused.said


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        ("acls", "--authorizer-properties zookeeper.connect=localhost:2181 --add --allow-principal "
                 "User:stocks_consumer --allow-host 10.0.1.11 --operation Read --topic stock-prices"),
        ("configs", "--alter --add-config SCRAM-SHA-512=[password=kafka123] --entity-type users --entity-name "
                    "stocks_consumer --zookeeper localhost:2181"),
    ],
)  # fmt: skip
def test_the_labs_flags_for_zookeeper(tool: str, call: str) -> None:
    refused = run(tool, *call.split())
    assert refused.code == 1
    assert "type --bootstrap-server HOST:PORT" in refused.said


def test_the_labs_file_for_kerberos(tmp_path: Path) -> None:
    """Its `required=` is no flag."""
    jaas = tmp_path / "kafka_broker_jaas.conf"
    jaas.write_text(printed.KERBEROS_BROKER)
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n")
    refused = run("topics", "--bootstrap-server", "localhost:1", "--command-config", str(config), "--list", jaas=jaas)
    assert refused.code == 1
    assert "line 2, column 58" in refused.said
