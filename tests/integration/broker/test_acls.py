"""Access control lists on a real node: rules that bite, `ottla acls` that explains them, and the audit log."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.clients.patience import until
from tests.clients.server import OTTLA, start_server
from tests.kafka.server import Server
from tests.kafka.wire import Wire

STRANGER = "127.0.0.5"
"""Rules are by address here: nobody logs in on a plaintext port."""
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("acls")
    server = start_server(
        OTTLA,
        directory,
        authorizer_class_name=STANDARD_AUTHORIZER,
        allow_everyone_if_no_acl_found="true",
        audit_log_path=str(directory / "audit.jsonl"),
    )
    for resource in ("cluster", "topic:*", "group:*"):
        assert acls(server, "add", "User:*", "all", resource, "--host", "127.0.0.1").returncode == 0
    yield server
    server.stop()


def acls(server: Server, action: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ottla.cli.main", "acls", action, "-b", server.bootstrap, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def error_of(server: Server, wire: Wire) -> int:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="orders")], allow_auto_topic_creation=False)
    return int(wire.ask(request, 9).topics[0].error_code)  # type: ignore[attr-defined]


def test_rules_bite_on_open_connections_and_are_explained(guarded: Server) -> None:
    question = ("ANONYMOUS", "describe", "orders", "--host", STRANGER)
    with Wire(guarded.address, source=STRANGER) as wire:
        assert error_of(guarded, wire) == DENIED
        found = acls(guarded, "explain", *question)
        assert (found.returncode, found.stdout) == (3, "not allowed: there are rules about it, but none allows this\n")
        acls(guarded, "add", "ANONYMOUS", "read", "ord*", "--host", STRANGER)
        until(int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), lambda: error_of(guarded, wire))
        rule = f"allow User:ANONYMOUS read topic:ord* from {STRANGER}"
        found = acls(guarded, "explain", *question)
        assert (found.returncode, found.stdout) == (0, f"allowed: this rule decides: {rule}\n")
        assert rule in acls(guarded, "list", "ANONYMOUS").stdout.splitlines()
        removed = acls(guarded, "remove", "ANONYMOUS", "read", "ord*", "--host", STRANGER)
        assert removed.stdout == f"Removed: {rule}\n"
        until(int(DENIED), lambda: error_of(guarded, wire))


def test_the_audit_log_tells_who_did_what_from_where(guarded: Server) -> None:
    assert acls(guarded, "list").returncode == 0
    path = Path(guarded.directory) / "audit.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changes = [line for line in lines if line["api"] == "CREATE_ACLS"]
    assert {(line["host"], line["operation"], line["resource_type"]) for line in changes} == {
        ("127.0.0.1", "ALTER", "CLUSTER")
    }
    assert all(line["allowed"] for line in changes)
