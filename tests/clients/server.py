"""The servers that foreign clients are tried on: ours, and Apache Kafka to try the tests themselves.

`OTTLA_TEST_PEER=1` runs every test on both, `OTTLA_TEST_PEER=only` on Apache Kafka alone; by default it is ours alone.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.peer import KafkaServer, require_kafka
from tests.kafka.port import free_port
from tests.kafka.server import Server

CLUSTER_ID = "b3R0bGEtY2xpZW50cy0wMQ"
APACHE, OTTLA = "apache", "ottla"
OLD_RECORDS_STAY = {"log_initial_task_delay_ms": "86400000"}
"""For servers that many tests share: retention looks at them when they are over, so records may be dated long ago."""


class OttlaServer(Server):
    """A combined node of ours, started as scripts written for Kafka start it."""

    name = "Ottla"

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        arguments = ("format", "--standalone", "-t", cluster_id, "-c", str(self.config))
        return [sys.executable, "-m", "ottla.cli.kafka.storage", *arguments]

    def _serve_command(self) -> Sequence[str]:
        return [sys.executable, "-m", "ottla.cli.kafka.server_start", str(self.config)]


class LoneOttla(Server):
    """`ottla broker` as a new user starts it, on all interfaces: no file, no formatting."""

    name = "ottla broker"

    def __init__(self, directory: Path, **settings: str) -> None:
        super().__init__(directory, **settings)
        self.http_port = free_port()

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        """Not needed: an empty directory is formatted at the first start."""
        return ["true"]

    def _serve_command(self) -> Sequence[str]:
        places = (
            "--data",
            str(self.log_directory),
            "--listen",
            f":{self.port}",
            "--http",
            f"127.0.0.1:{self.http_port}",
        )
        return [sys.executable, "-m", "ottla.cli.main", "broker", *places]


def kinds() -> list[str]:
    """Which servers to try, as the environment says."""
    wish = os.environ.get("OTTLA_TEST_PEER", "")
    return {"": [OTTLA], "0": [OTTLA], "only": [APACHE]}.get(wish, [OTTLA, APACHE])


def kinds_and_peer() -> list[Any]:
    """The same, and Apache Kafka among the long tests: for what has to do on both what it does on one."""
    found = kinds()
    return found if APACHE in found else [*found, pytest.param(APACHE, marks=pytest.mark.long)]


def make_server(kind: str, directory: Path, **settings: str) -> Server:
    """A server that is not formatted yet; skips the test where it can't run."""
    if kind == OTTLA:
        return OttlaServer(directory, **settings)
    require_kafka()
    return KafkaServer(directory, **settings)


def start_server(kind: str, directory: Path, **settings: str) -> Server:
    """A new server that is ready for clients."""
    server = make_server(kind, directory, **settings)
    server.format(CLUSTER_ID)
    server.start()
    return server
