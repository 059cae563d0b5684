"""franz-go's own tests of its client, run on the server: all but those of share groups.

The Go module carries its tests, so nothing of it is copied here; `go/go.mod` pins the version. The lists only grow.
Its chains of groups and of transactions (members come, leave and are static; every record once and in order) are run
with few records and some of the balancers; `OTTLA_TEST_CHAIN_RECORDS=500000` runs them as franz-go does, with all.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import start_server
from tests.kafka.server import Server

HERE = Path(__file__).parent / "go"
VERSION = re.findall(r"franz-go (v\S+)", (HERE / "go.mod").read_text())[0]
PACKAGE = "github.com/twmb/franz-go/pkg/kgo"
TESTS = (
    "Test848RegexBrokerResolves",
    "TestAddRemovePartitions",
    "TestClient_Produce",
    "TestClient_ProduceLargeMessages",
    "TestConsumeMaxDecompressBatchBytes",
    "TestConsumeRegex",
    "TestConsumeTopicRetrieval",
    "TestConsumeTopicRetrieval_Many",
    "TestDirectPartitionPurge",
    "TestGroupSimple",
    "TestHookPollStart",
    "TestIssue1034",
    "TestIssue325",
    "TestIssue337",
    "TestIssue434",
    "TestIssue523",
    "TestIssue648",
    "TestIssue769",
    "TestIssue810",
    "TestIssue831",
    "TestIssue865",
    "TestIssueFetchLargerThanBrokerMaxReadBytes",
    "TestIssueProduceSyncManualPartitionNegativeDoesNotPanic",
    "TestPauseIssue489",
    "TestPauseIssueOct2023",
    "TestPing",
    "TestPooling",
    "TestUnknownGroupOffsetFetchPinned",
)
_FEW = 1_000
CHAIN_RECORDS = int(os.environ.get("OTTLA_TEST_CHAIN_RECORDS", _FEW))
BALANCERS = ("cooperative-sticky", "cooperative-sticky/static", "range", "range/848")
MORE_BALANCERS = ("sticky/848", "sticky/848/static")
CHAINS = [
    f"{test}/{balancer}"
    for test in ("TestGroupETL", "TestTxnEtl")
    for balancer in (BALANCERS if CHAIN_RECORDS <= _FEW else BALANCERS + MORE_BALANCERS)
]
pytestmark = pytest.mark.client(f"franz-go {VERSION}, its own tests")


@pytest.fixture(scope="session")
def outcomes(shared_server: Server) -> dict[str, str]:
    """Each test's outcome: all are run at once, as they take longest to compile."""
    return run(shared_server, f"^({'|'.join(TESTS)})$")


@pytest.fixture(scope="session")
def chain_outcomes(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The same for the chains, on a server where groups settle soon."""
    server = start_server(
        kind,
        tmp_path_factory.mktemp("chains"),
        group_initial_rebalance_delay_ms="0",
        group_consumer_heartbeat_interval_ms="500",
        group_consumer_min_heartbeat_interval_ms="500",
        group_consumer_assignment_interval_ms="0",
    )
    balancers = "" if len(CHAINS) > 2 * len(BALANCERS) else "/^(cooperative-sticky|range)$"
    size = {"KGO_TEST_RECORDS": str(CHAIN_RECORDS)} | ({"KGO_TEST_MAX_TOPIC_PARTS": "7"} if balancers else {})
    try:
        yield run(server, f"^(TestGroupETL|TestTxnEtl)${balancers}", **size)
    finally:
        server.stop()


def run(server: Server, wanted: str, **settings: str) -> dict[str, str]:
    """Each test's and each subtest's outcome, and the end of what was printed."""
    if not _has_go():
        pytest.skip("needs Go 1.21 or later, which fetches the Go that franz-go wants")
    settings |= {"KGO_SEEDS": server.bootstrap, "KGO_TEST_RF": "1", "KGO_LOG_LEVEL": "none"}
    done = subprocess.run(
        ["go", "test", "-v", "-count=1", "-timeout=1200s", "-run", wanted, PACKAGE],
        cwd=HERE,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", done.stdout, re.MULTILINE)
    assert lines, f"no test was run:\n{done.stdout}\n{done.stderr}"
    return {name: outcome for outcome, name in lines} | {"output": done.stdout[-8_000:]}


def _has_go() -> bool:
    if shutil.which("go") is None:
        return False
    printed = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"go1\.(\d+)", printed)
    return found is not None and int(found.group(1)) >= 21


@pytest.mark.parametrize("name", TESTS)
def test_of_franz_go(server: Server, outcomes: dict[str, str], name: str) -> None:
    """a test of kgo's"""
    assert outcomes.get(name) == "PASS", outcomes["output"]


@pytest.mark.long
@pytest.mark.parametrize("name", CHAINS)
def test_chain_of_groups(chain_outcomes: dict[str, str], name: str) -> None:
    """a chain of groups, or of transactions, of kgo's: every record once, and in order"""
    assert chain_outcomes.get(name) == "PASS", chain_outcomes["output"]
