"""Apache Kafka's Java client as applications use it: groups of all kinds, static members, transactions.

`java/Clients.java` has one method for each; all are run one after the other in one JVM.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.server import start_server
from tests.kafka.peer import VERSION, command, require_kafka

pytestmark = pytest.mark.client(f"Apache Kafka's Java client {VERSION}")
ASSIGNORS = (
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "consumer-protocol-uniform",
    "consumer-protocol-range",
)
OTHERS = (
    "pattern",
    "both-protocols",
    "static-members",
    "fenced-instance",
    "transactions",
    "fenced-producer",
    "consume-transform-produce",
)


@pytest.fixture(scope="session")
def outcomes(kind: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the JVM printed about each scenario."""
    require_kafka()
    server = start_server(
        kind,
        tmp_path_factory.mktemp("java"),
        group_initial_rebalance_delay_ms="0",
        group_consumer_heartbeat_interval_ms="300",
        group_consumer_min_heartbeat_interval_ms="300",
        group_consumer_assignment_interval_ms="0",
    )
    run = command(str(Path(__file__).parent / "java" / "Clients.java"), (server.bootstrap, *ASSIGNORS, *OTHERS))
    try:
        done = subprocess.run(run, capture_output=True, text=True, timeout=600, check=False)
    finally:
        server.stop()
    parts = re.split(r"^(PASS|FAIL) (\S+)$", done.stdout, flags=re.MULTILINE)
    assert len(parts) > 1, f"nothing was run:\n{done.stdout}\n{done.stderr}"
    return {name: outcome + detail for outcome, name, detail in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)}


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_members_share_a_topic(outcomes: dict[str, str], assignor: str) -> None:
    """two members share four partitions, get every record once, and one takes over what the other leaves"""
    assert outcomes[assignor].strip() == "PASS"


@pytest.mark.parametrize("scenario", OTHERS)
def test_scenario(outcomes: dict[str, str], scenario: str) -> None:
    """groups by pattern, of both protocols, of static members; transactions, fencing, consume-transform-produce"""
    assert outcomes[scenario].strip() == "PASS"
