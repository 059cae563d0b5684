"""The trainings' labs of Kerberos, of two mechanisms at once, and of a mechanism that is added and removed.

One broker here; three of them under load are in `test_lab_mechanism.py`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.patience import until
from tests.integration.cli.running import Running
from tests.integration.security import lab as printed
from tests.integration.security.lab import Ended, Lab, run, two_ports
from tests.kerberos.realm import Realm

TOPIC = "stock-prices"
REALM = "cloudurable.com"
SERVICE = f"kafka/localhost@{REALM}"
_PRINTED_PRINCIPALS = ("kafka/kafka-broker.hostname.com1@", "kafka/kafka-broker1.hostname.com@")
_PRINTED_KEYTAB = "/opt/kafka/conf/security/kafka_broker.keytab"


@pytest.fixture
def realm(tmp_path: Path) -> Iterator[Realm]:
    """The lab's realm; the tools find it as the lab's scripts say, by `-Djava.security.krb5.conf` alone."""
    with Realm(tmp_path / "realm", REALM) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        patch.delenv("KRB5_CONFIG")
        yield found


class Stocks:
    """The lab's broker and its clients."""

    def __init__(self, directory: Path, realm: Realm) -> None:
        self.lab = Lab(directory)
        self.lab.make_keys()
        self._realm = realm
        self._ports = two_ports()
        self._path = self.lab.server_file("server-0.properties", printed.KERBEROS_SERVER, self._ports)
        self.lab.format(self._path)
        self._settings = self._path.read_text()
        self.keytab = directory / "keytabs/kafka_broker.keytab"

    def make_service(self) -> None:
        """The lab's two commands."""
        self.keytab.parent.mkdir()
        self._realm.administer(f"addprinc -randkey {SERVICE}")
        self._realm.administer(f"ktadd -k {self.keytab} {SERVICE}")

    def broker_jaas(self) -> str:
        """As printed, for this realm and host."""
        text = printed.KERBEROS_BROKER.replace(_PRINTED_KEYTAB, str(self.keytab))
        for principal in _PRINTED_PRINCIPALS:
            text = text.replace(principal, SERVICE.removesuffix(REALM))
        return text

    def client_jaas(self, user: str) -> str:
        """A user with a keytab of its own."""
        return printed.KERBEROS_CLIENT % (self._realm.keytab(user), f"{user}@{REALM}")

    def refused(self, jaas: str) -> str:
        """What a broker says that does not start."""
        with_file = self.lab.file("kafka_server_jaas.conf", jaas)
        ended = run("server_start", str(self._path), jaas=with_file)
        assert ended.code == 1
        return ended.said

    @contextmanager
    def serving(self, jaas: str, mechanisms: str, *, between_nodes: str = "GSSAPI") -> Iterator[Running]:
        """The broker, bounced with these mechanisms."""
        text = self._settings.replace("sasl.enabled.mechanisms=GSSAPI", f"sasl.enabled.mechanisms={mechanisms}")
        self._path.write_text(text.replace("inter.broker.protocol=GSSAPI", f"inter.broker.protocol={between_nodes}"))
        with self.lab.serving(self._path, self.lab.file("kafka_server_jaas.conf", jaas)) as server:
            yield server
            server.end()

    def tool(self, name: str, mechanism: str, jaas: str, *call: str, given: str = "", secure: bool = True) -> Ended:
        """A tool with a client's JAAS file and the lab's three settings."""
        service = "sasl.kerberos.service.name=kafka\n"
        config = self.lab.client_file("SASL_SSL" if secure else "SASL_PLAINTEXT", mechanism, more=service)
        bootstrap = ("--bootstrap-server", f"localhost:{self._ports[secure]}", "--command-config", str(config))
        return run(name, *bootstrap, *call, jaas=self.lab.file("client_jaas.conf", jaas), given=given)

    def exchange(self, mechanism: str, producer: str, consumer: str, value: str) -> None:
        """The lab's producer and consumer."""
        sent = self.tool("console_producer", mechanism, producer, "--topic", TOPIC, given=f"{value}\n")
        assert sent.code == 0, sent.said
        wanted = ("--topic", TOPIC, "--from-beginning", "--timeout-ms", "60000", "--max-messages")

        def read() -> bool:
            return value in self.tool("console_consumer", mechanism, consumer, *wanted, str(self._written)).said

        self._written += 1
        until(True, read)

    _written = 0


@pytest.fixture
def stocks(tmp_path: Path, realm: Realm) -> Stocks:
    return Stocks(tmp_path / "lab", realm)


def scram(user: str) -> str:
    return printed.SCRAM_CLIENT % user


def plain(user: str, password: str) -> str:
    return scram(user).replace("scram.Scram", "plain.Plain").replace("kafka123", password)


def test_kerberos_then_more_mechanisms_then_without_it(stocks: Stocks) -> None:
    stocks.make_service()
    assert "line 2, column 58" in stocks.refused(stocks.broker_jaas())
    # The flag is `required`, and the second section ends with a semicolon.
    kerberos = stocks.broker_jaas().replace("required=", "required")
    assert "kafka_server_jaas.conf" in stocks.refused(kerberos)
    kerberos = f"{kerberos.rstrip()};\n"
    producer, consumer = stocks.client_jaas("stocks_producer"), stocks.client_jaas("stocks_consumer")

    with stocks.serving(kerberos, "GSSAPI"):
        made = stocks.tool("topics", "GSSAPI", producer, "--create", "--topic", TOPIC)
        assert made.said == f"Created topic {TOPIC}.\n"
        stocks.exchange("GSSAPI", producer, consumer, "UBER")
        assert TOPIC in stocks.tool("topics", "GSSAPI", producer, "--list", secure=False).said
        strange = stocks.tool(
            "topics", "GSSAPI", printed.KERBEROS_CLIENT % (stocks.keytab, f"mallory@{REALM}"), "--list"
        )
        assert strange.code == 1
        assert f"no Kerberos ticket for kafka/localhost as mallory@{REALM}" in strange.said
        offered = stocks.tool("topics", "SCRAM-SHA-512", scram("admin"), "--list")
        assert offered.code == 1
        assert "does not offer SCRAM-SHA-512 but GSSAPI" in offered.said
        _make_users(stocks, producer)
    _two_mechanisms(stocks, kerberos, producer, consumer)


def _make_users(stocks: Stocks, admin: str) -> None:
    """Users of the mechanism to come, by whom the old one knows."""
    for user in ("admin", "stocks_producer", "stocks_consumer"):
        change = ("--alter", "--add-config", printed.SCRAM_CONFIG, "--entity-type", "users", "--entity-name", user)
        done = stocks.tool("configs", "GSSAPI", admin, *change)
        assert done.said == f"Completed updating config for user {user}.\n"


def _two_mechanisms(stocks: Stocks, kerberos: str, producer: str, consumer: str) -> None:
    four = "GSSAPI,PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
    # As printed, GSSAPI is enabled and its module is not there.
    assert "Kerberos needs a login module" in _refused_with(stocks, printed.TWO_MODULES, four)
    module = kerberos[kerberos.index("com.sun") : kerberos.index("};")]
    both = printed.TWO_MODULES.replace("KafkaServer {", f"KafkaServer {{\n    {module}")
    with stocks.serving(both, four):
        stocks.exchange("GSSAPI", producer, consumer, "IBM")
        stocks.exchange("SCRAM-SHA-256", scram("stocks_producer"), scram("stocks_consumer"), "GOOG")
        assert TOPIC in stocks.tool("topics", "PLAIN", plain("alice", "barbaz"), "--list").said
    with stocks.serving(both, four, between_nodes="SCRAM-SHA-512"):
        stocks.exchange("SCRAM-SHA-512", scram("stocks_producer"), scram("stocks_consumer"), "SUN")
    with stocks.serving(printed.TWO_MODULES, "PLAIN,SCRAM-SHA-512", between_nodes="SCRAM-SHA-512"):
        stocks.exchange("SCRAM-SHA-512", scram("stocks_producer"), scram("stocks_consumer"), "MSFT")
        gone = stocks.tool("topics", "GSSAPI", producer, "--list")
        assert gone.code == 1
        assert "does not offer GSSAPI but PLAIN, SCRAM-SHA-512" in gone.said


def _refused_with(stocks: Stocks, jaas: str, mechanisms: str) -> str:
    with pytest.raises(AssertionError) as failed, stocks.serving(jaas, mechanisms):
        pass
    return str(failed.value)


def test_the_realms_file_is_found_by_the_option(realm: Realm) -> None:
    assert "KRB5_CONFIG" not in os.environ
    assert f"-Djava.security.krb5.conf={realm.configuration}" in os.environ["KAFKA_OPTS"]
