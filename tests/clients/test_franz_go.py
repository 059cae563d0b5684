"""franz-go's own tests of its client, run on the server: those that need neither groups nor transactions.

The Go module carries its tests, so nothing of it is copied here; `go/go.mod` pins the version. The list only grows.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kafka.server import Server

HERE = Path(__file__).parent / "go"
VERSION = re.findall(r"franz-go (v\S+)", (HERE / "go.mod").read_text())[0]
PACKAGE = "github.com/twmb/franz-go/pkg/kgo"
TESTS = (
    "TestAddRemovePartitions",
    "TestClient_Produce",
    "TestClient_ProduceLargeMessages",
    "TestConsumeMaxDecompressBatchBytes",
    "TestConsumeTopicRetrieval",
    "TestConsumeTopicRetrieval_Many",
    "TestDirectPartitionPurge",
    "TestHookPollStart",
    "TestIssue325",
    "TestIssue337",
    "TestIssue434",
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
)
pytestmark = pytest.mark.client(f"franz-go {VERSION}, its own tests")


@pytest.fixture(scope="session")
def outcomes(shared_server: Server) -> dict[str, str]:
    """Each test's outcome: all are run at once, as they take longest to compile."""
    if not _has_go():
        pytest.skip("needs Go 1.21 or later, which fetches the Go that franz-go wants")
    wanted = f"^({'|'.join(TESTS)})$"
    settings = {"KGO_SEEDS": shared_server.bootstrap, "KGO_TEST_RF": "1", "KGO_LOG_LEVEL": "none"}
    done = subprocess.run(
        ["go", "test", "-v", "-count=1", "-timeout=300s", "-run", wanted, PACKAGE],
        cwd=HERE,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = re.findall(r"^--- (PASS|FAIL|SKIP): (\S+)", done.stdout, re.MULTILINE)
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
