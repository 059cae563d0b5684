"""Apache Kafka with a listener for every way of being secured; `security.secured_node` is the like of ours."""

import asyncio
import hashlib
import os
from pathlib import Path

from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from tests.clients.server import CLUSTER_ID
from tests.integration.client.certificate import Authority, Certificate, require_openssl
from tests.integration.client.cluster import cluster_client
from tests.kafka.peer import KafkaServer, require_kafka
from tests.kafka.port import free_port

LISTENERS = {"TLS": "SSL", "MUTUAL": "SSL", "SASL": "SASL_PLAINTEXT", "SASLTLS": "SASL_SSL"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SESSION_MS = 1_500
"""How long a PLAIN session lasts: long enough to be used, short enough to be waited for."""
_MODULES = "org.apache.kafka.common.security"
_SCRAM = {1: "sha256", 2: "sha512"}


class SecuredKafka:
    """One broker, its certificates and its users: `alice` with the password `secret`."""

    def __init__(self, directory: Path) -> None:
        require_kafka()
        require_openssl()
        directory.mkdir(parents=True, exist_ok=True)
        self.authority = Authority(directory, "authority")
        self.stranger = Authority(directory, "stranger")
        self.broker = self.authority.sign("localhost", "DNS:localhost")
        self.client = self.authority.sign("client")
        self.ports = {name: free_port() for name in LISTENERS}
        self._server = KafkaServer(directory / "server")
        self._server.configure(**self._settings())

    @property
    def plaintext(self) -> str:
        """The listener without any security."""
        return self._server.bootstrap

    def address(self, listener: str, host: str = "localhost") -> str:
        """Where a listener is reached."""
        return f"{host}:{self.ports[listener]}"

    def start(self) -> None:
        """Starts it and makes the users."""
        self._server.format(CLUSTER_ID)
        self._server.start()
        asyncio.run(self._create_scram_users())

    def stop(self) -> None:
        """Ends it."""
        self._server.kill()

    def _settings(self) -> dict[str, str]:
        server = self._server
        endpoints = [f"PLAINTEXT://127.0.0.1:{server.port}", f"CONTROLLER://127.0.0.1:{server.controller_port}"]
        endpoints += [f"{name}://localhost:{port}" for name, port in self.ports.items()]
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **LISTENERS}
        return {
            "listeners": ",".join(endpoints),
            "advertised_listeners": ",".join(endpoints),
            "listener_security_protocol_map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
            "inter_broker_listener_name": "PLAINTEXT",
            "ssl_keystore_type": "PEM",
            "ssl_keystore_location": str(self.broker.both),
            "ssl_truststore_type": "PEM",
            "ssl_truststore_location": str(self.authority.certificate),
            "listener_name_mutual_ssl_client_auth": "required",
            **self._sasl_settings("sasl"),
            **self._sasl_settings("sasltls"),
            "listener_name_sasl_plain_connections_max_reauth_ms": str(SESSION_MS),
        }

    def _sasl_settings(self, listener: str) -> dict[str, str]:
        prefix = f"listener_name_{listener}"
        users = 'username="broker" password="x" user_broker="x" user_alice="secret"'
        modules = {
            "plain": f"{_MODULES}.plain.PlainLoginModule required {users};",
            "scram-sha-256": f"{_MODULES}.scram.ScramLoginModule required;",
            "scram-sha-512": f"{_MODULES}.scram.ScramLoginModule required;",
            "oauthbearer": f'{_MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="b";',
        }
        return {
            f"{prefix}_sasl_enabled_mechanisms": ",".join(MECHANISMS),
            **{f"{prefix}_{name}_sasl_jaas_config": text for name, text in modules.items()},
        }

    async def _create_scram_users(self) -> None:
        """A user can be changed once in a request: one for each mechanism."""
        async with cluster_client(self.plaintext) as client:
            for mechanism, hash_name in _SCRAM.items():
                salt = os.urandom(16)
                salted = hashlib.pbkdf2_hmac(hash_name, b"secret", salt, 4096)
                upsertion = ScramCredentialUpsertion(
                    name="alice", mechanism=mechanism, iterations=4096, salt=salt, salted_password=salted
                )
                answer = await client.request(1, AlterUserScramCredentialsRequest(upsertions=[upsertion]))
                assert isinstance(answer, AlterUserScramCredentialsResponse)
                assert [result.error_code for result in answer.results] == [0], answer


def mutual(certificate: Certificate) -> dict[str, object]:
    """The settings that show a client's certificate."""
    return {"ssl_keystore_location": certificate.both}
