"""`ottla streams` and `kafka-streams-application-reset`: an application is shown, reset, and computes all again."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ottla.cli.kafka.streams_application_reset import main as application_reset
from ottla.cli.main import main
from ottla.client.admin.blocking_admin import Admin
from tests.clients.client.java import ToolHost
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counting, counts, expected, local, produce, wait_until
from tests.kafka.peer import require_kafka
from tests.kafka.server import Server

VALUES = [f"v{number % 5}" for number in range(50)]
PROGRAM = """
from ottla.streams import Consumed, Grouped, Produced, Serdes, StreamsBuilder

TEXT = Serdes.string()


def topology():
    builder = StreamsBuilder()
    lines = builder.stream("lines & more", Consumed.with_(TEXT, TEXT))
    counts = lines.group_by(lambda key, value: value, Grouped.with_(TEXT, TEXT)).count()
    counts.to_stream().to("counts", Produced.with_(TEXT, Serdes.long()))
    return builder.build()
"""


@pytest.fixture
def application(
    request: pytest.FixtureRequest, broker: Server, topic: CreateTopic, tmp_path: Path
) -> tuple[str, str, str]:
    """An application that has counted and is stopped: its id, what it reads and what it writes."""
    source, target = topic(partitions=2), topic(partitions=2)
    name = f"{request.node.originalname}-app"
    produce(broker.bootstrap, source, VALUES)
    with local(counting(source, target), broker.bootstrap, application_id=name, state_dir=str(tmp_path)) as streams:
        wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES), streams)
    return name, source, target


def assert_counts_anew(broker: Server, application: tuple[str, str, str], tmp_path: Path) -> None:
    name, source, target = application
    streams = local(counting(source, target), broker.bootstrap, application_id=name, state_dir=str(tmp_path))
    streams.clean_up()
    twice = {key: found * 2 for key, found in expected(VALUES).items()}
    with streams:
        wait_until(lambda: counts(broker.bootstrap, target) == twice, streams)


def test_an_application_is_shown_and_reset(
    application: tuple[str, str, str],
    broker: Server,
    admin: Admin,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, source, _ = application
    at = ("-b", broker.bootstrap)
    assert main(["streams", "list", *at]) == 0
    assert f"{name}" in capsys.readouterr().out
    assert main(["streams", "status", name, *at, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    internal = [f"{name}-counts-changelog", f"{name}-counts-repartition"]
    assert (shown["state"], shown["input_topics"], shown["internal_topics"]) == ("Empty", [source], internal)
    assert sum(one["records"] for one in shown["lag"]) == 0
    assert main(["streams", "status", name, *at]) == 0
    assert "Empty, 0 members" in capsys.readouterr().out
    assert main(["streams", "reset", name, *at]) == 0
    assert "Nothing was changed: add --execute to do it." in capsys.readouterr().out
    assert set(internal) <= set(admin.list_topics())
    assert main(["streams", "reset", name, *at, "--execute"]) == 0
    assert not set(internal) & set(admin.list_topics())
    assert_counts_anew(broker, application, tmp_path)
    assert main(["streams", "status", "nothing", *at]) == 1
    assert "there is no application nothing" in capsys.readouterr().err


def test_kafkas_flags_reset_an_application(
    application: tuple[str, str, str], broker: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, source, _ = application
    given = ["--application-id", name, "--bootstrap-server", broker.bootstrap, "--input-topics", source]
    assert application_reset([*given, "--dry-run"]) == 0
    dry = capsys.readouterr().out
    assert dry.startswith(
        "----Dry run displays the actions which will be performed when running Streams Reset Tool----"
    )
    assert application_reset(given) == 0
    done = capsys.readouterr().out
    assert dry.splitlines()[1:] == done.splitlines()
    assert f"Topic: {source} Partition: 1 Offset: 0" in done
    assert_counts_anew(broker, application, tmp_path)


@pytest.mark.long
def test_kafkas_own_tool_resets_an_application(
    application: tuple[str, str, str], broker: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_kafka()
    name, source, _ = application
    given = ["--application-id", name, "--bootstrap-server", broker.bootstrap, "--input-topics", source]
    assert application_reset([*given, "--dry-run"]) == 0
    ours = capsys.readouterr().out
    tools = ToolHost()
    try:
        dry = tools.run("StreamsResetter", *given, "--dry-run")
        # Java walks over sets, in no order.
        assert (sorted(dry.out.split()), dry.code) == (sorted(ours.split()), 0)
        done = tools.run("StreamsResetter", *given)
    finally:
        tools.close()
    assert done.code == 0, done
    assert_counts_anew(broker, application, tmp_path)


def test_a_topology_is_printed_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, picture = tmp_path / "app.py", tmp_path / "app.svg"
    program.write_text(PROGRAM)
    assert main(["streams", "topology", str(program), "--svg", str(picture)]) == 0
    assert capsys.readouterr().out.startswith("Topologies:\n   Sub-topology: 0")
    texts = [found.text for found in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Sub-topology 0", "Sub-topology 1", "lines & more", "counts"} <= set(texts)
    assert main(["streams", "topology", f"{program}:TEXT"]) == 1
    assert "is no topology" in capsys.readouterr().err
