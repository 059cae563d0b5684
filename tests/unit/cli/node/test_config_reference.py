"""`ottla config docs`: every setting in every form."""

import json

import pytest

from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.cli.main import main


def _docs(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["config", "docs", *arguments]) == 0
    return capsys.readouterr().out


def test_the_reference_has_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    text = _docs(capsys)
    lines = set(text.splitlines())
    assert all((key.name in lines) != key.internal for key in SERVER_KEYS.values())
    assert "Topics' own settings" in lines


def test_text_says_what_can_be_said_of_a_setting(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _docs(capsys).splitlines()
    place = lines.index("max.connections")
    assert lines[place + 1] == "    int; default 2147483647; valid: [0,...]; dynamic cluster-wide"
    assert lines[lines.index("http.listen") + 1].endswith("not in Apache Kafka")
    assert lines[lines.index("num.network.threads") + 1].endswith("accepted, not acted on")
    assert not lines[lines.index("num.io.threads") + 1].endswith("accepted, not acted on")
    assert lines[lines.index("local.retention.ms") + 1].endswith("accepted, not acted on")
    assert lines[lines.index("node.id") + 1] == "    int; required; valid: [0,...]"


def test_markdown_is_a_list_under_headings(capsys: pytest.CaptureFixture[str]) -> None:
    text = _docs(capsys, "--format", "markdown", "--of", "topic")
    assert text.startswith("# Settings\n\n## Topics' own settings\n")
    assert "- **`retention.bytes`** (long; default -1; default from log.retention.bytes): " in text
    assert "num.partitions" not in text


def test_json_is_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    entries = {(entry["of"], entry["name"]): entry for entry in json.loads(_docs(capsys, "--format", "json"))}
    assert entries["broker", "listeners"]["update_mode"] == "per-broker"
    assert entries["topic", "retention.ms"]["default_from"][0] == "log.retention.ms"
    assert entries["broker", "node.id"]["required"]
    assert entries["client-metrics", "interval.ms"]["default"] == "300000"
