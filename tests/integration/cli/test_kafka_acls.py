"""`kafka-acls` beside Kafka's own AclCommand, on an Apache Kafka and a node of ours, both with the authorizer."""

from collections.abc import Iterator

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.clients.server import APACHE, OTTLA, start_server
from tests.integration.cli.ottla_command import Ottla
from tests.integration.cli.side_by_side import SideBySide, run_tool
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
BOB = ("--allow-principal", "User:bob")


@pytest.fixture(scope="module", params=[APACHE, OTTLA])
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    settings = {"authorizer_class_name": authorizer, "super_users": "User:ANONYMOUS"}
    server = start_server(str(request.param), tmp_path_factory.mktemp("guarded"), **settings)
    yield server
    server.stop()


@pytest.fixture
def both(java_tools: ToolHost, guarded: Server) -> SideBySide:
    return SideBySide(java_tools, guarded, "AclCommand", "acls")


def _wait_for(both: SideBySide, words: str) -> None:
    for ask in (both.java, both.ours):
        until(True, lambda ask=ask: words in ask(*TO, "--list").out)  # type: ignore[misc]


@pytest.mark.long
def test_entries_come_and_go(both: SideBySide) -> None:
    topic = ("--topic", "topic-{me}")
    both.same_lines(*TO, "--add", *BOB, "--operation", "Read", "--operation", "write", *topic)
    _wait_for(both, "operation=WRITE")
    assert "already exists." in both.same(*TO, "--add", *BOB, "--operation", "Read", *topic).out
    denied = ("--deny-principal", "User:eve", "--deny-host", "1.2.3.4", "--resource-pattern-type", "prefixed")
    both.same(*TO, "--add", *denied, *topic)
    both.same(*TO, "--add", *BOB, "--operation", "CreateTokens", "--user-principal", "User:{me}")
    _wait_for(both, "CREATE_TOKENS")
    for filters in ("", "--topic topic-{me}", "--topic topic-{me} --resource-pattern-type match", "--cluster"):
        both.same_lines(*TO, "--list", *filters.split())
    both.same(*TO, "--list", "--principal", "User:eve", "--resource-pattern-type", "prefixed", *topic)
    both.same(*TO, "--list", "--principal", "User:nobody")
    both.same_lines("--bootstrap-controller", "{controller}", "--list")
    assert both.same(*TO, "--remove", "--force", *BOB, "--operation", "Read", *topic) == (0, "", "")
    assert both.same(*TO, "--remove", "--force", *topic) == (0, "", "")
    both.same(*TO, "--remove", "--force", *topic, "--resource-pattern-type", "prefixed")
    until(False, lambda: "User:eve" in both.ours(*TO, "--list", "--principal", "User:eve").out.partition("\n")[2])


@pytest.mark.long
def test_roles(both: SideBySide) -> None:
    both.same_lines(*TO, "--add", *BOB, "--producer", "--topic", "role-{me}")
    both.same_lines(*TO, "--add", *BOB, "--consumer", "--topic", "role-{me}", "--group", "group-{me}")
    _wait_for(both, "name=group-{me}")
    both.same_lines(*TO, "--list", "--topic", "role-{me}", "--group", "group-{me}")
    both.same_lines(*TO, "--add", *BOB, "--producer", "--transactional-id", "tx-{me}", "--topic", "role-{me}")


@pytest.mark.long
@pytest.mark.parametrize(
    "wrong",
    [
        "--add --topic t",
        "--add --allow-principal User:bob",
        "--add --allow-principal User:bob --topic t --resource-pattern-type any",
        "--remove --force",
        "--list --add",
        "--list --producer",
        "--add --principal User:x --topic t",
        "--add --producer --allow-principal User:x",
        "--add --consumer --allow-principal User:x --topic t",
        "--add --idempotent --allow-principal User:x --topic t",
        "--add --producer --operation Read --allow-principal User:x --topic t",
        "--bootstrap-controller {controller} --list",
        "--foo",
        "--help",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


@pytest.mark.long
def test_first_lines_of_refusals(both: SideBySide) -> None:
    for wrong in (
        "--add --allow-principal bob --topic t",
        "--add --allow-principal User:bob --topic t --resource-pattern-type foo",
    ):
        java, ours = both.java(*TO, *wrong.split()), both.ours(*TO, *wrong.split())
        assert (ours.code, ours.out.partition("\n")[0]) == (java.code, java.out.partition("\n")[0])
    wrong = "--add --allow-principal User:bob --operation foo --topic t"
    java, ours = both.java(*TO, *wrong.split()), both.ours(*TO, *wrong.split())
    # Java's sets have no order.
    words = [
        sorted(outcome.err.replace(",", " ").replace("[", " ").replace("]", " ").split()) for outcome in (java, ours)
    ]
    assert (ours.code, words[1]) == (java.code, words[0])


def test_without_an_authorizer(tool_server: Server) -> None:
    refused = run_tool("acls", "--bootstrap-server", tool_server.bootstrap, "--list")
    assert refused.code == 1
    assert "SecurityDisabledException: No Authorizer is configured" in refused.out
    told = Ottla(tool_server.bootstrap)("acls", "list")
    assert told.code == 1
    assert told.err.startswith("ottla: No Authorizer is configured on the broker; rules need authorizer.class.name=")
