"""A server with a listener for users, whose quotas are measured over two seconds, so that a test need not take long."""

import json
import urllib.request
from pathlib import Path

from ottla.cli.kafka.configs import main as configs
from tests.clients.server import CLUSTER_ID, OTTLA, make_server
from tests.kafka.port import free_port
from tests.kafka.server import Server

USERS = ("alice", "bob", "carol")
WINDOW_S = 2
"""`quota.window.num` less one: so much is free at first, and a rate is right over this and more."""
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class LimitedServer:
    """Ours, or Apache Kafka."""

    def __init__(self, kind: str, directory: Path) -> None:
        self.is_ours = kind == OTTLA
        self._port, self._http = free_port(), free_port()
        self.server: Server = make_server(kind, directory)
        plain = f"PLAINTEXT://127.0.0.1:{self.server.port},CONTROLLER://127.0.0.1:{self.server.controller_port}"
        users = " ".join(f'user_{name}="secret"' for name in USERS)
        own = {"http_listen": f"127.0.0.1:{self._http}"} if self.is_ours else {}
        self.server.configure(
            listeners=f"{plain},SASL://127.0.0.1:{self._port}",
            advertised_listeners=f"PLAINTEXT://{self.server.bootstrap},SASL://127.0.0.1:{self._port}",
            listener_security_protocol_map="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
            listener_name_sasl_sasl_enabled_mechanisms="PLAIN",
            listener_name_sasl_plain_sasl_jaas_config=f"{_PLAIN} {users};",
            inter_broker_listener_name="PLAINTEXT",
            quota_window_num=str(WINDOW_S + 1),
            group_initial_rebalance_delay_ms="0",
            **own,
        )
        self.server.format(CLUSTER_ID)
        self.server.start()

    @property
    def bootstrap(self) -> str:
        """Where users log in."""
        return f"127.0.0.1:{self._port}"

    def limit(self, *entity: str, **quotas: float) -> None:
        """Sets quotas of an entity, which is written as `kafka-configs.sh` has it."""
        given = ",".join(f"{name}={value:g}" for name, value in quotas.items())
        self._alter(*entity, "--add-config", given)

    def free(self, *entity: str, names: str) -> None:
        """Takes quotas away."""
        self._alter(*entity, "--delete-config", names)

    def metric(self, name: str, user: str, client_id: str) -> float:
        """What `/metrics` says of a share; 0 if it says nothing."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._http}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        wanted = f"{name}{{user={json.dumps(user)},client_id={json.dumps(client_id)}}} "
        return sum(float(line.removeprefix(wanted)) for line in lines if line.startswith(wanted))

    def _alter(self, *change: str) -> None:
        assert configs(["--bootstrap-server", self.server.bootstrap, "--alter", *change]) == 0
