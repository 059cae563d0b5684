"""The trainings' lab of a mechanism that is changed in a running cluster: three brokers, and a producer that goes on.

    add the new mechanism, in settings and JAAS file · bounce one broker at a time · restart clients with the new one
    change the mechanism between brokers, bounce · take the old one out of settings and JAAS file, bounce

From Kerberos to SCRAM; the users of the new mechanism are made while the old one is all that there is.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.cli.kafka.configs import main as configs
from ottla.client import Admin
from ottla.client.errors import AuthenticationFailedError
from tests.integration.client.certificate import require_openssl
from tests.integration.security import lab as printed
from tests.integration.security.test_rolling_change import Change, Writer, read
from tests.kafka.cluster import CLUSTER_ID, Node
from tests.kerberos.realm import Realm

pytestmark = pytest.mark.long

_PATIENCE_S = 180.0
_REALM = "cloudurable.com"
_SERVICE = f"kafka/localhost@{_REALM}"
_OLD, _BOTH, _BETWEEN, _NEW = range(4)
"""The lab's states of a broker."""
_SCRAM = "SCRAM-SHA-512"
_MODULE = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"


@pytest.fixture
def realm(tmp_path: Path) -> Iterator[Realm]:
    with Realm(tmp_path / "realm", _REALM) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environment.items():
            patch.setenv(name, value)
        yield found


class MechanismChange(Change):
    """The lab's brokers."""

    def __init__(self, directory: Path, realm: Realm, patch: pytest.MonkeyPatch) -> None:
        super().__init__(directory, ())
        self._patch = patch
        self._realm = realm
        self._directory = directory
        self._keytab = directory / "kafka_broker.keytab"
        realm.administer(f"addprinc -randkey {_SERVICE}")
        realm.administer(f"ktadd -k {self._keytab} {_SERVICE}")
        self._producer = realm.keytab("stocks_producer")

    def bootstrap(self, phase: int) -> str:
        return super().bootstrap(3)

    def login(self, phase: int) -> dict[str, object]:
        """As the lab's clients, which change once every broker knows both mechanisms."""
        settings: dict[str, object] = {
            "security_protocol": "SASL_SSL",
            "sasl_kerberos_service_name": "kafka",
            "ssl_truststore_location": self.authority.certificate,
        }
        if phase == _OLD:
            module = f'{_MODULE} keyTab="{self._producer}" principal="stocks_producer@{_REALM}";'
            return {**settings, "sasl_mechanism": "GSSAPI", "sasl_jaas_config": module}
        user = {"sasl_username": "stocks_producer", "sasl_password": printed.PASSWORD}
        return {**settings, "sasl_mechanism": _SCRAM, **user}

    def configure(self, node: Node, phase: int) -> None:
        """Writes a node's file, and the JAAS file that it is started with."""
        super().configure(node, 0)
        secure = f"SASL_SSL://localhost:{self._ports[node.node_id][0]}"
        given = dict(line.split("=", 1) for line in node.config.read_text().splitlines())
        given |= {
            "listeners": f"{secure},CONTROLLER://127.0.0.1:{node.controller_port}",
            "advertised.listeners": secure,
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
            "inter.broker.listener.name": "SASL_SSL",
            "sasl.enabled.mechanisms": {_OLD: "GSSAPI", _NEW: _SCRAM}.get(phase, f"GSSAPI,{_SCRAM}"),
            "sasl.mechanism.inter.broker.protocol": "GSSAPI" if phase < _BETWEEN else _SCRAM,
            "sasl.kerberos.service.name": "kafka",
        }
        dropped = [name for name in given if name.startswith(("listener.name.", "connections.max.reauth"))]
        kept = {name: value for name, value in given.items() if name not in dropped}
        node.config.write_text("".join(f"{name}={value}\n" for name, value in kept.items()))
        path = self._directory / f"jaas-{phase}.conf"
        path.write_text(self._jaas(phase))
        realm = f"-Djava.security.krb5.conf={self._realm.configuration}"
        self._patch.setenv("KAFKA_OPTS", f"{realm} -Djava.security.auth.login.config={path}")

    def _jaas(self, phase: int) -> str:
        old = f'    {_MODULE}\n        keyTab="{self._keytab}"\n        principal="{_SERVICE}";\n'
        new = printed.SCRAM_CLIENT.partition("{\n")[2].partition("};")[0] % "admin"
        modules = {_OLD: old, _NEW: new}.get(phase, old + new)
        return f"KafkaServer {{\n{modules}}};\n"

    def start(self) -> None:
        """All brokers, as yet with the old mechanism alone."""
        for node in self.nodes:
            self.configure(node, _OLD)
            node.format(CLUSTER_ID)
            node.launch()
        deadline = time.monotonic() + _PATIENCE_S
        while self._brokers() != len(self.nodes):
            outputs = "\n".join(node.output() for node in self.nodes)
            assert time.monotonic() < deadline, outputs
            time.sleep(0.2)

    def _brokers(self) -> int:
        try:
            with Admin(bootstrap_servers=self.bootstrap(_OLD), **self.login(_OLD)) as admin:
                return len(admin.describe_cluster().nodes)
        except (OttlaError, TimeoutError):
            return 0

    def make_users(self) -> None:
        """The lab's call, over the old mechanism."""
        path = self._directory / "admin.properties"
        settings = {name.replace("_", "."): value for name, value in self.login(_OLD).items()}
        path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        for user in ("admin", "stocks_producer"):
            change = ["--add-config", printed.SCRAM_CONFIG, "--entity-type", "users", "--entity-name", user]
            given = ["--bootstrap-server", self.bootstrap(_OLD), "--command-config", str(path), "--alter", *change]
            assert configs(given) == 0


def test_from_kerberos_to_scram(tmp_path: Path, realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    require_openssl()
    change = MechanismChange(tmp_path, realm, monkeypatch)
    try:
        change.start()
        change.make_users()
        with Writer(change.bootstrap(_OLD), 0, change.login(_OLD)) as first:
            change.wait_in_sync(_OLD)
            _bounce(change, _BOTH, seen_by=_OLD)
        with Writer(change.bootstrap(_BOTH), first.count, change.login(_BOTH)) as second:
            _bounce(change, _BETWEEN, seen_by=_BOTH)
            _bounce(change, _NEW, seen_by=_BOTH)
        assert second.count > first.count > 100
        found = asyncio.run(read(change.bootstrap(_NEW), second.count, change.login(_NEW)))
        assert found == list(range(second.count))
        with pytest.raises(AuthenticationFailedError, match=f"does not offer GSSAPI but {_SCRAM}"):
            asyncio.run(read(change.bootstrap(_NEW), 1, change.login(_OLD)))
        print(f"{second.count} records, the slowest took {max(first.slowest_s, second.slowest_s):.1f} s")
    finally:
        for node in change.nodes:
            node.kill()


def _bounce(change: MechanismChange, phase: int, *, seen_by: int) -> None:
    """One broker after the other, as clients of a phase see it."""
    for node in change.nodes:
        node.stop()
        change.configure(node, phase)
        node.launch()
        change.wait_in_sync(seen_by)
