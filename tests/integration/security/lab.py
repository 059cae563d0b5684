"""The files and commands of the security labs as their trainings print them, and a place where they are tried.

Only names of directories and ports are others here. The keys are made by Java's keytool, as the labs make them.
"""

import contextlib
import io
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from tests.integration.cli.running import Running, running

PASSWORD = "kafka123"
_CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"

KEY_SCRIPT = r"""
set -e
CERT_OUTPUT_PATH="$PWD/resources/opt/kafka/conf/certs"
KEY_STORE="$CERT_OUTPUT_PATH/kafka.keystore"
TRUST_STORE="$CERT_OUTPUT_PATH/kafka.truststore"
PASSWORD=kafka123
KEY_KEY_PASS="$PASSWORD"
KEY_STORE_PASS="$PASSWORD"
TRUST_KEY_PASS="$PASSWORD"
TRUST_STORE_PASS="$PASSWORD"
CLUSTER_NAME=kafka
CERT_AUTH_FILE="$CERT_OUTPUT_PATH/ca-cert"
CLUSTER_CERT_FILE="$CERT_OUTPUT_PATH/${CLUSTER_NAME}-cert"
D_NAME="CN=CloudDurable Image $CLUSTER_NAME cluster, OU=Cloudurable, O=Cloudurable"
D_NAME="${D_NAME}, L=San Francisco, ST=CA, C=USA, DC=cloudurable, DC=com"
DAYS_VALID=365
mkdir -p "$CERT_OUTPUT_PATH"

keytool -genkey -keyalg RSA -alias "${CLUSTER_NAME}_cluster" \
    -keystore "$KEY_STORE" -storepass "$KEY_STORE_PASS" \
    -keypass "$KEY_KEY_PASS" -dname "$D_NAME" -validity "$DAYS_VALID"
openssl req -new -x509 -keyout ca-key -out "$CERT_AUTH_FILE" -days "$DAYS_VALID" \
    -passin pass:"$PASSWORD" -passout pass:"$PASSWORD" \
    -subj "/C=US/ST=CA/L=San Francisco/O=Engineering/CN=cloudurable.com"
keytool -keystore "$TRUST_STORE" -alias CARoot -import -file "$CERT_AUTH_FILE" \
    -storepass "$TRUST_STORE_PASS" -keypass "$TRUST_KEY_PASS" -noprompt
keytool -keystore "$KEY_STORE" -alias "${CLUSTER_NAME}_cluster" -certreq -file "$CLUSTER_CERT_FILE" \
    -storepass "$KEY_STORE_PASS" -keypass "$KEY_KEY_PASS" -noprompt
openssl x509 -req -CA "$CERT_AUTH_FILE" -CAkey ca-key -in "$CLUSTER_CERT_FILE" \
    -out "${CLUSTER_CERT_FILE}-signed" -days "$DAYS_VALID" -CAcreateserial -passin pass:"$PASSWORD"
keytool -keystore "$KEY_STORE" -alias CARoot -import -file "$CERT_AUTH_FILE" \
    -storepass "$KEY_STORE_PASS" -keypass "$KEY_KEY_PASS" -noprompt
keytool -keystore "$KEY_STORE" -alias "${CLUSTER_NAME}_cluster" -import -file "${CLUSTER_CERT_FILE}-signed" \
    -storepass "$KEY_STORE_PASS" -keypass "$KEY_KEY_PASS" -noprompt
"""

SSL_KEYS = """
ssl.keystore.location={certs}/kafka.keystore
ssl.keystore.password=kafka123
ssl.key.password=kafka123
ssl.truststore.location={certs}/kafka.truststore
ssl.truststore.password=kafka123
ssl.client.auth=required
"""
SSL_SERVER = """
broker.id=0
listeners=PLAINTEXT://localhost:{port},SSL://localhost:{secure}
security.inter.broker.protocol=SSL
"""
SASL_SERVER = """
broker.id=2
listeners=PLAINTEXT://localhost:{port},SASL_SSL://localhost:{secure}
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.enabled.mechanisms=PLAIN
security.inter.broker.protocol=SASL_SSL
"""
KERBEROS_SERVER = """
broker.id=0
listeners=SASL_PLAINTEXT://localhost:{port},SASL_SSL://localhost:{secure}
sasl.mechanism.inter.broker.protocol=GSSAPI
sasl.enabled.mechanisms=GSSAPI
sasl.kerberos.service.name=kafka
security.inter.broker.protocol=SASL_PLAINTEXT
"""
ACL_SERVER = """
authorizer.class.name=kafka.security.auth.SimpleAclAuthorizer
allow.everyone.if.no.acl.found=true
"""

PLAIN_BROKER = """KafkaServer {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username="admin"
    password="kafka-123"
    user_admin="kafka-123"
    user_stocks_consumer="consumer123"
    user_stocks_producer="producer123";
};

// Zookeeper client authentication
Client {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username="admin"
    password="kafka-123";
};
"""
PLAIN_CONSUMER = """KafkaClient {
    org.apache.kafka.common.security.plain.PlainLoginModule required;
    username="stocks_consumer"
    password="consumer123";
};
"""
"""With the semicolon that does not belong there."""
PLAIN_PRODUCER = """KafkaClient {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username="stocks_producer"
    password="producer123";
};
"""
SCRAM_CLIENT = """KafkaClient {
    org.apache.kafka.common.security.scram.ScramLoginModule required
    username="%s"
    password="kafka123";
};
"""
KERBEROS_BROKER = """KafkaServer {
    com.sun.security.auth.module.Krb5LoginModule required=
        useKeyTab=true
        storeKey=true
        keyTab="/opt/kafka/conf/security/kafka_broker.keytab"
        principal="kafka/kafka-broker.hostname.com1@cloudurable.com";
};

// Zookeeper client authentication
Client {
    com.sun.security.auth.module.Krb5LoginModule required=
    useKeyTab=true
    storeKey=true
    keyTab="/opt/kafka/conf/security/kafka_broker.keytab"
    principal="kafka/kafka-broker1.hostname.com@cloudurable.com";
}
"""
KERBEROS_CLIENT = """KafkaClient {
    com.sun.security.auth.module.Krb5LoginModule required
    useKeyTab=true
    storeKey=true
    keyTab="%s"
    principal="%s";
};
"""
TWO_MODULES = """KafkaServer {
    org.apache.kafka.common.security.scram.ScramLoginModule required
        username="admin"
        password="kafka123";


    org.apache.kafka.common.security.plain.PlainLoginModule required
        username="admin"
        password="admin-secret"
        user_admin="admin-secret"
        user_alice="barbaz";
    };
    // broker config
    // sasl.enabled.mechanisms=GSSAPI,PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
"""
"""As printed, but that its node can log in: there the admin's own two passwords differ."""
SCRAM_CONFIG = "SCRAM-SHA-256=[iterations=8192,password=kafka123],SCRAM-SHA-512=[password=kafka123]"


class Ended(NamedTuple):
    """How a tool ended, and all that it printed."""

    code: int
    said: str


class Lab:
    """A directory with the lab's keys."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.certs = directory / "resources/opt/kafka/conf/certs"

    def make_keys(self) -> None:
        """Runs the lab's script."""
        if shutil.which("keytool") is None or shutil.which("openssl") is None:
            pytest.skip("needs keytool and openssl, with which the lab makes its keys")
        self.directory.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["bash", "-c", KEY_SCRIPT], cwd=self.directory, capture_output=True, text=True)
        assert not done.returncode, f"{done.stdout}\n{done.stderr}"

    def file(self, name: str, content: str) -> Path:
        """A file of the lab."""
        path = self.directory / name
        path.write_text(content)
        return path

    def server_file(self, name: str, content: str, ports: tuple[int, int]) -> Path:
        """A server's file as it is printed, made one for 4.3 as the refusal says; its directory is formatted."""
        text = (content + SSL_KEYS).format(certs=self.certs, port=ports[0], secure=ports[1])
        older = self.file(f"older-{name}", f"{text}log.dirs={self.directory}/{name}-data\n")
        refused = run("server_start", str(older))
        assert refused.code == 1
        assert f"`ottla config upgrade {older}`" in refused.said
        upgraded = run("upgrade", str(older))
        assert upgraded.code == 0, upgraded.said
        return self.file(name, upgraded.said)

    def format(self, path: Path, *more: str) -> None:
        """Formats a server's directory."""
        done = run("storage", "format", "-t", _CLUSTER_ID, "-c", str(path), "--standalone", *more)
        assert done.code == 0, done.said

    @contextmanager
    def serving(self, path: Path, jaas: Path | None = None) -> Iterator[Running]:
        """A server that has started."""
        with options(jaas), running("ottla.cli.kafka.server_start", str(path), directory=self.directory) as server:
            server.wait_for("Kafka Server started")
            yield server

    def client_file(self, protocol: str, mechanism: str = "", *, identity: bool = True, more: str = "") -> Path:
        """A client's settings, which the labs set in Java."""
        lines = [
            f"security.protocol={protocol}",
            f"ssl.truststore.location={self.certs}/kafka.truststore",
            f"ssl.truststore.password={PASSWORD}",
            "ssl.endpoint.identification.algorithm=",
        ]
        if identity:
            lines += [f"ssl.keystore.location={self.certs}/kafka.keystore", f"ssl.keystore.password={PASSWORD}"]
        if mechanism:
            lines.append(f"sasl.mechanism={mechanism}")
        return self.file(f"{protocol}-{mechanism}-{identity}-{len(more)}.properties", "\n".join([*lines, more, ""]))


def two_ports() -> tuple[int, int]:
    """Below those that the system hands out, and so are the controller's, 10,000 behind them."""
    first = random.SystemRandom().randrange(10_500, 22_000, 2)
    return first, first + 1


@contextmanager
def options(jaas: Path | None) -> Iterator[None]:
    """`KAFKA_OPTS` as the labs' scripts export it, behind what it says already."""
    with patch.dict(os.environ):
        before = os.environ.pop("KAFKA_OPTS", "")
        given = [before] if jaas is None else [before, f"-Djava.security.auth.login.config={jaas}"]
        if any(given):
            os.environ["KAFKA_OPTS"] = " ".join(given)
        yield


def run(tool: str, *arguments: str, jaas: Path | None = None, given: str = "") -> Ended:
    """Runs a tool to its end."""
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    upgrade = tool == "upgrade"
    main = import_module("ottla.cli.main" if upgrade else f"ottla.cli.kafka.{tool}").main
    arguments = ("config", "upgrade", *arguments) if upgrade else arguments
    with options(jaas), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), patch("sys.stdin", stdin):
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    written = out.buffer
    assert isinstance(written, io.BytesIO)
    return Ended(code, written.getvalue().decode())
