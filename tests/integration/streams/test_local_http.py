"""Interactive queries over HTTP: any instance is asked, and the one that has the key answers."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.base.config import ConfigError
from ottla.cli.main import main
from ottla.streams import Consumed, Grouped, Materialized, RunState, StreamsBuilder, TimeWindows, Topology
from ottla.streams.local.kafka_streams import KafkaStreams
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import TEXT, local, produce, wait_until
from tests.kafka.port import free_port
from tests.kafka.server import Server

VALUES = [f"v/{number % 10}" for number in range(50)]


def topology(source: str) -> Topology:
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_("counts"))
    windowed = grouped.windowed_by(TimeWindows.of_size_and_grace(20, 100))
    windowed.count(materialized_as=Materialized.as_("windows"))
    return builder.build()


class Instance:
    """One of several that share an application; `get` asks it over HTTP."""

    def __init__(self, source: str, broker: Server, directory: Path) -> None:
        self.place = f"localhost:{free_port()}"
        self.streams: KafkaStreams = local(
            topology(source),
            broker.bootstrap,
            application_id=f"http-{source}",
            state_dir=str(directory),
            num_standby_replicas="1",
            query_listeners=f"http://{self.place}",
        )

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://{self.place}{path}", timeout=60) as answer:
            return json.load(answer)

    def refusal(self, path: str) -> tuple[int, str]:
        with pytest.raises(urllib.error.HTTPError) as caught:
            self.get(path)
        with caught.value as answer:
            return answer.code, json.load(answer)["message"]


@pytest.fixture
def pair(broker: Server, topic: CreateTopic, tmp_path: Path) -> Iterator[tuple[Instance, Instance]]:
    source = topic(partitions=2)
    produce(broker.bootstrap, source, VALUES)
    first, second = (Instance(source, broker, tmp_path / name) for name in "ab")
    with first.streams, second.streams:
        wait_until(
            lambda: all(
                one.streams.metrics().get("active-tasks") == 3 and one.streams.state is RunState.RUNNING
                for one in (first, second)
            ),
            first.streams,
            second.streams,
        )
        for store in ("counts", "windows"):
            wait_until(lambda: counted(first, store) == 50, first.streams, second.streams)  # noqa: B023  (called at once)
        yield first, second


def test_every_instance_answers_for_all(pair: tuple[Instance, Instance]) -> None:
    first, second = pair
    owners = set()
    for number in range(10):
        path = f"/streams/stores/counts/keys/v%2F{number}"
        answers = [one.get(f"{path}?timestamps=true") for one in pair]
        assert answers[0] == answers[1]
        assert answers[0] == {"store": "counts", "key": f"v/{number}", "value": 5, "timestamp": 1_040 + number}
        metadata = [one.get(f"{path}/metadata") for one in pair]
        assert metadata[0] == metadata[1]
        owners.add(metadata[0]["activeHost"])
        assert metadata[0]["standbyHosts"] == sorted({first.place, second.place} - {metadata[0]["activeHost"]})
    assert owners <= {first.place, second.place}
    whole = {one["key"]: one["value"] for one in second.get("/streams/stores/counts")}
    assert whole == {f"v/{number}": 5 for number in range(10)}
    # One instance may have both tasks of the store: three each are shared out.
    own = [len(one.get("/streams/stores/counts?local=true")) for one in pair if one.place in owners]
    assert sum(own) == 10
    assert min(own) > 0
    found = first.get("/streams/stores/counts?from=v%2F3&to=v%2F5")
    assert sorted(one["key"] for one in found) == ["v/3", "v/4", "v/5"]
    assert len(first.get("/streams/stores/counts?limit=7")) == 7


def test_windows_and_metadata(pair: tuple[Instance, Instance]) -> None:
    first, second = pair
    windows = {
        "store": "windows",
        "key": "v/4",
        "windows": [{"start": 1_000, "value": 2}, {"start": 1_020, "value": 2}],
    }
    for one in pair:
        assert one.get("/streams/stores/windows/keys/v%2F4?from=1000&to=1030") == windows
        assert one.get("/streams/stores")[0] == {"store": "counts", "kind": "timestamped key-value"}
    assert len(first.get("/streams/stores/windows?from=1040&to=1040")) == 10
    assert {"key": "v/4", "start": 1_040, "end": 1_060, "value": 1} in first.get("/streams/stores/windows")
    everyone = second.get("/streams/metadata")
    assert {one["host"] for one in everyone} == {first.place, second.place}
    assert sorted(number for one in everyone for number in one["stores"].get("counts", ())) == [0, 1]
    assert second.get("/streams/stores/counts/metadata") == everyone
    assert first.get("/streams")["state"] == "RUNNING"


def test_the_command_asks_any_instance(pair: tuple[Instance, Instance], capsys: pytest.CaptureFixture[str]) -> None:
    for one in pair:
        assert main(["streams", "query", "counts", "v/4", "--url", one.place]) == 0
        assert capsys.readouterr().out.split() == ["STORE", "KEY", "VALUE", "counts", "v/4", "5"]
    query = ["streams", "query", "--url", pair[0].place, "--json"]
    assert main([*query, "counts", "--from", "v/1", "--to", "v/1", "--timestamps"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"key": "v/1", "value": 5, "timestamp": 1_041}]
    assert main([*query, "counts", "v/4", "--metadata"]) == 0
    assert json.loads(capsys.readouterr().out)["activeHost"] in {one.place for one in pair}
    assert main([*query, "counts", "none"]) == 1
    assert "has no key 'none'" in capsys.readouterr().err
    assert main(["streams", "query", "--url", "localhost:1"]) == 1
    assert "no Streams instance answers at http://localhost:1: nothing listens on port 1" in capsys.readouterr().err


def test_what_cannot_be_answered_says_why(pair: tuple[Instance, Instance]) -> None:
    first, second = pair
    assert first.refusal("/streams/stores/counts/keys/nothing") == (404, "The store counts has no key 'nothing'.")
    code, text = first.refusal("/streams/stores/none/keys/a")
    assert (code, "no such store is registered" in text) == (404, True)
    assert first.refusal("/streams/stores/windows?from=yesterday")[0] == 400
    keys = [f"v%2F{number}" for number in range(10)]
    far = next(
        key for key in keys if first.get(f"/streams/stores/counts/keys/{key}/metadata")["activeHost"] == second.place
    )
    serving = second.streams._serving
    assert serving is not None
    serving.close()
    second.streams._serving = None
    code, text = first.refusal(f"/streams/stores/counts/keys/{far}")
    assert (code, second.place in text) == (503, True)
    assert first.refusal("/streams/stores/counts")[0] == 503
    wait_until(lambda: stale_value(first, far) == 5)


def stale_value(instance: Instance, key: str) -> int | None:
    """What a copy says, which may lag behind."""
    try:
        value: int = instance.get(f"/streams/stores/counts/keys/{key}?stale=true")["value"]
    except urllib.error.HTTPError as error:
        error.close()
        return None
    return value


def counted(instance: Instance, store: str) -> int:
    """The sum of all counts; 0 while tasks move."""
    try:
        return sum(one["value"] for one in instance.get(f"/streams/stores/{store}"))
    except urllib.error.HTTPError as error:
        error.close()
        return 0


def test_a_listener_that_nobody_can_be_told_is_refused(broker: Server, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a port"):
        local(
            Topology(), broker.bootstrap, application_id="none", state_dir=str(tmp_path), query_listeners="localhost:0"
        )
