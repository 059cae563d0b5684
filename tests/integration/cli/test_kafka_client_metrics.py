"""`kafka-client-metrics` beside Kafka's own ClientMetricsCommand."""

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "ClientMetricsCommand", "client_metrics")


def test_a_subscriptions_life(both: SideBySide) -> None:
    one = ("--name", "watch-{me}")
    details = ("--metrics", "org.apache.kafka.producer.,x", "--interval", "60000", "--match", "client_id=a.*")
    both.same(*TO, "--alter", *one, *details)
    for ask in (both.java, both.ours):
        until(True, lambda ask=ask: "60000" in ask(*TO, "--describe", *one).out)  # type: ignore[misc]
    both.same_lines(*TO, "--describe", *one)
    both.same_lines(*TO, "--list")
    both.same_lines(*TO, "--describe")
    both.same(*TO, "--alter", *one, "--interval", "")
    both.same(*TO, "--delete", *one)
    for ask in (both.java, both.ours):
        until(True, lambda ask=ask: "doesn't exist" in ask(*TO, "--describe", *one).out)  # type: ignore[misc]
    both.same(*TO, "--describe", *one)
    assert both.ours(*TO, "--alter", "--generate-name", "--interval", "60000").out.startswith("Altered client metrics")


@pytest.mark.parametrize(
    "wrong",
    [
        "--alter --name a --interval 5",
        "--alter --name a --metrics a --match nonsense",
        "--alter --name a --interval x",
        "--alter",
        "--alter --name a --generate-name",
        "--delete",
        "--list --name a",
        "--list --describe",
        "--describe --interval 5",
        "--foo",
        "--help",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


def test_a_server_must_be_given(both: SideBySide) -> None:
    both.same("--list")
