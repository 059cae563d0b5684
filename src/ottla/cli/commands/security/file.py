"""The files of `ottla security init`: what stands in each of them, and that other users cannot read the secret ones."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.cli.commands.security.certificate import certificate_text, key_text, make_authority, sign
from ottla.cli.commands.security.users import new_password

_MODULES: Final = "org.apache.kafka.common.security"
_MECHANISM: Final = "SCRAM-SHA-512"
_MECHANISM_OF_OLD: Final = "PLAIN"
"""librdkafka before 2.6.1, and with it kcat of many distributions, can't log in to Kafka 4 by SCRAM."""
ADMIN: Final = "admin"
"""The user who may do everything."""
_LOOPBACK: Final = ("localhost", "127.0.0.1")


class Plan(NamedTuple):
    """The files and names to make."""

    directory: Path
    hosts: tuple[str, ...]
    """Names and addresses of the broker; the first one is what others are told."""
    users: tuple[str, ...]
    ports: tuple[int, int]
    """Of the clients' listener and of the controllers'."""
    days: int


def write(plan: Plan) -> Iterator[tuple[str, str]]:
    """Writes all files; each name with what it is."""
    plan.directory.mkdir(parents=True, exist_ok=True)
    plan.directory.chmod(0o700)
    authority = make_authority("ottla authority", plan.days)
    yield _save(plan, "ca.pem", certificate_text(authority.certificate)), "the authority: for all clients and nodes"
    yield _save(plan, "ca.key", key_text(authority.key)), "the authority's key: keep it away from the brokers"
    names = tuple(dict.fromkeys((*plan.hosts, *_LOOPBACK)))
    broker = sign(authority, plan.hosts[0], names, plan.days)
    yield _save(plan, "broker.pem", broker), f"the broker's key and certificate, for {', '.join(names)}"
    passwords = {user: new_password() for user in ("broker", *plan.users)}
    yield _save(plan, "users", users_text(passwords).encode()), "users and passwords: brokers read it when it changes"
    server = server_properties(plan, passwords["broker"])
    yield _save(plan, "server.properties", server.encode()), "a broker that is its own controller"
    for user in plan.users:
        for name, (text, what) in client_files(plan, user, passwords[user]).items():
            yield _save(plan, name, text.encode()), what


def users_text(passwords: dict[str, str]) -> str:
    """The file of users."""
    return "".join(f"{user}: {password}\n" for user, password in passwords.items())


def server_properties(plan: Plan, password: str) -> str:
    """A node's settings: clients by SASL over TLS, controllers by TLS with certificates on both sides."""
    host, (port, controller_port) = plan.hosts[0], plan.ports
    directory = plan.directory
    login = f'{_MODULES}.scram.ScramLoginModule required username="broker" password="{password}";'
    return f"""# Made by ottla security init.
process.roles=broker,controller
node.id=1
listeners=CLIENTS://:{port},CONTROLLER://:{controller_port}
advertised.listeners=CLIENTS://{host}:{port},CONTROLLER://{host}:{controller_port}
listener.security.protocol.map=CLIENTS:SASL_SSL,CONTROLLER:SSL
inter.broker.listener.name=CLIENTS
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers={host}:{controller_port}
log.dirs={directory / "data"}

# Who the node is, and whom it trusts.
ssl.keystore.type=PEM
ssl.keystore.location={directory / "broker.pem"}
ssl.truststore.type=PEM
ssl.truststore.location={directory / "ca.pem"}
listener.name.controller.ssl.client.auth=required

# Who may log in: by SCRAM, and by PLAIN for kcat with a librdkafka before 2.6.1.
sasl.enabled.mechanisms={_MECHANISM},{_MECHANISM_OF_OLD}
sasl.mechanism.inter.broker.protocol={_MECHANISM}
sasl.users.file={directory / "users"}
listener.name.clients.{_MECHANISM.lower()}.sasl.jaas.config={login}

# What they may do: what rules allow (ottla acls). The node is broker to brokers, and its certificate to controllers.
authorizer.class.name={STANDARD_AUTHORIZER}
super.users=User:broker;User:{ADMIN};User:CN={host}

# One broker has one copy of everything; with three, take these out.
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def client_files(plan: Plan, user: str, password: str) -> dict[str, tuple[str, str]]:
    """The settings of a user, for each kind of client: text and explanation by name."""
    servers, ca = f"{plan.hosts[0]}:{plan.ports[0]}", str(plan.directory / "ca.pem")
    login = f'{_MODULES}.scram.ScramLoginModule required username="{user}" password="{password}";'
    java = {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": _MECHANISM,
        "sasl.jaas.config": login,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": ca,
    }
    rdkafka = {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": _MECHANISM,
        "sasl.username": user,
        "sasl.password": password,
        "ssl.ca.location": ca,
    }
    kcat = {**rdkafka, "sasl.mechanism": _MECHANISM_OF_OLD}
    spark = {f"kafka.{name}": value for name, value in java.items()}
    return {
        f"{user}.properties": (_lines(java), f"for Java's clients, all tools (--command-config) and ours, as {user}"),
        f"{user}.librdkafka.conf": (_lines(kcat), f"for kcat (-F) and librdkafka, as {user}"),
        f"{user}.librdkafka.json": (json.dumps(rdkafka, indent=2) + "\n", f"for confluent-kafka in Python, as {user}"),
        f"{user}.spark.json": (json.dumps(spark, indent=2) + "\n", f"options of Spark's format('kafka'), as {user}"),
    }


def _lines(settings: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _save(plan: Plan, name: str, content: bytes) -> str:
    """Writes a file that only its owner reads, from its first byte on."""
    descriptor = os.open(plan.directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    return name
