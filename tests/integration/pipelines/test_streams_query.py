"""Interactive queries on Spark: the driver reads the stores of its tasks, and serves them over HTTP."""

import json
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ottla.streams import Consumed, Grouped, Materialized, Serdes, StreamsBuilder, TimeWindows, Topology
from ottla.streams.errors import StreamsError
from ottla.streams.local.query.place import HostInfo
from ottla.streams.local.query.reader import QueryableStoreType, StreamsNotRunningError, UnknownStateStoreError
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.test_streams_host import produce, running, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

TEXT = Serdes.string()


def topology(source: str) -> Topology:
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_("counts"))
    grouped.windowed_by(TimeWindows.of_size_with_no_grace(1 << 50)).count(materialized_as=Materialized.as_("windows"))
    return builder.build()


def test_the_driver_answers_for_all_partitions(
    spark: "SparkSession", broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, place = topic(partitions=2), f"localhost:{free_port()}"
    produce(broker, source, [f"v{number % 5}" for number in range(50)])
    given = {"application_id": "asked", "processing_guarantee": "exactly_once_v2", "query_listeners": f"http://{place}"}

    def get(path: str) -> Any:
        with urllib.request.urlopen(f"http://{place}/streams/stores/{path}", timeout=60) as answer:
            return json.load(answer)

    with running(topology(source), (spark, broker), tmp_path, **given) as streams:
        wait_until(lambda: total(streams, "counts") == 50 and total(streams, "windows") == 50, streams)
        store = streams.store("counts")
        assert {key: store.get(key) for key, _ in store.all()} == {f"v{number}": 10 for number in range(5)}
        assert store.get("nothing") is None
        assert sorted(key for key, _ in store.range("v1", "v3")) == ["v1", "v2", "v3"]
        value, time = streams.store("counts", QueryableStoreType.TIMESTAMPED_KEY_VALUE).get("v4")
        assert (value, time > 1_600_000_000_000) == (10, True)
        assert list(streams.store("windows").fetch("v4", 0, 1 << 60)) == [(time // (1 << 50) * (1 << 50), 10)]
        metadata = streams.query_metadata_for_key("counts", "v4")
        assert metadata.active_host == HostInfo.parse(place)
        assert [one.partitions["counts"] for one in streams.streams_metadata_for_store("counts")] == [(0, 1)]
        with pytest.raises(UnknownStateStoreError):
            streams.store("none")
        assert get("counts/keys/v4") == {"store": "counts", "key": "v4", "value": 10}
        assert len(get("counts")) == 5
        # The writers go on beside the reader.
        produce(broker, source, ["v4"] * 5)
        wait_until(lambda: store.get("v4") == 15, streams)
    with pytest.raises(StreamsNotRunningError):
        streams.store("counts")


def total(streams: Any, store: str) -> int:
    """The sum of all counts; 0 until there is a state."""
    try:
        return sum(count for _, count in streams.store(store).all())
    except StreamsError:
        return 0
