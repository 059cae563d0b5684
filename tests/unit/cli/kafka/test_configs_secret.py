"""Secrets among the arguments of kafka-configs are not repeated where it fails."""

import pytest

from ottla.cli.kafka.configs import without_secrets


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("SCRAM-SHA-512=[password=pw]", "SCRAM-SHA-512=[password=***]"),
        ("SCRAM-SHA-256=[iterations=1,password=pw],b=c", "SCRAM-SHA-256=[iterations=1,password=***],b=c"),
        ("listener.name.a.ssl.keystore.password=pw,b=c", "listener.name.a.ssl.keystore.password=***,b=c"),
        ("a.sasl.jaas.config=[M required password='pw, with';]", "a.sasl.jaas.config=***"),
        ("ssl.keystore.key=[-----BEGIN KEY----- AAAA", "ssl.keystore.key=***"),
        ("retention.ms=5,cleanup.policy=[compact,delete]", "retention.ms=5,cleanup.policy=[compact,delete]"),
    ],
)
def test_secrets(change: str, shown: str) -> None:
    assert without_secrets(["--alter", "--add-config", change, "--x"]) == f"--alter --add-config {shown} --x"
