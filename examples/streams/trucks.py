"""The truck pipeline in the language of Streams: dangerous driving, joined with drivers, counted per driver and window.

`ottla.pipelines.trucks` is its first form, three queries on data frames; topics and records are those of this one.

    truck_position ─▶ dangerous_driving ─▶ dangerous_driving_and_driver ─▶ dangerous_driving_counts
                               trucking_driver ─┘ (a compacted topic, by driver)

python examples/streams/trucks.py                     needs no broker: a TopologyTestDriver runs it
python examples/streams/trucks.py localhost:9092      on Spark, exactly once, in topics of that broker
"""

import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from typing import TypedDict

from ottla.pipelines.trucks.generator import TruckFleet
from ottla.pipelines.trucks.position import NORMAL, TruckPosition
from ottla.streams import (
    BufferConfig,
    Consumed,
    ConsumedRecord,
    Grouped,
    KStream,
    Materialized,
    Produced,
    Serde,
    Serdes,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    Topology,
    TopologyTestDriver,
    Windowed,
)

POSITIONS, DRIVERS = "truck_position", "trucking_driver"
DANGEROUS, DRIVEN, COUNTS = "dangerous_driving", "dangerous_driving_and_driver", "dangerous_driving_counts"
TEXT, RAW = Serdes.string(), Serdes.bytes()
WINDOWS = TimeWindows.of_size_and_grace(10_000, 5_000)


class Name(TypedDict):
    """A driver."""

    firstName: str
    lastName: str


class Event(TypedDict):
    """A report that is not normal, with the driver's name, if it is known."""

    timestamp: int
    truckId: int
    driverId: int
    routeId: int
    eventType: str
    latitude: float
    longitude: float
    correlationId: int
    firstName: str | None
    lastName: str | None


class Count(TypedDict):
    """How many events a driver had so far."""

    driverId: int
    firstName: str | None
    lastName: str | None
    count: int


class DriverCount(Count):
    """How many events a driver had in a window."""

    windowStart: int
    windowEnd: int


NAME: Serde[Name] = Serdes.json()
REPORT: Serde[TruckPosition] = Serdes.json()
EVENT: Serde[Event] = Serdes.json()
COUNT: Serde[Count] = Serdes.json()
DRIVER_COUNT: Serde[DriverCount] = Serdes.json()
NOTHING: Count = {"driverId": 0, "firstName": None, "lastName": None, "count": 0}


def position(value: bytes | None) -> TruckPosition | None:
    """What a truck has said; None for what is no position."""
    try:
        found = json.loads(value or b"")
        return TruckPosition(**found) if isinstance(found["timestamp"], int) else None
    except (ValueError, TypeError, KeyError):
        return None


def time_of(record: ConsumedRecord, partition_time: int) -> int:
    """The time that the truck has noted; without one, a record changes nothing about the time."""
    found = position(record.value)
    return max(partition_time, 0) if found is None else found.timestamp


def dangerous(positions: KStream[str, bytes]) -> KStream[str, TruckPosition]:
    """The reports that are not normal."""
    parsed = positions.flat_map_values(lambda value: [found] if (found := position(value)) else [])
    return parsed.filter(lambda truck, report: report.eventType != NORMAL)


def named(report: TruckPosition, name: Name | None) -> Event:
    """The report with its driver's name."""
    first, last = (None, None) if name is None else (name["firstName"], name["lastName"])
    return {
        "timestamp": report.timestamp, "truckId": report.truckId, "driverId": report.driverId,
        "routeId": report.routeId, "eventType": report.eventType, "latitude": report.latitude,
        "longitude": report.longitude, "correlationId": report.correlationId, "firstName": first, "lastName": last,
    }  # fmt: skip


def add(driver: str, event: Event, count: Count) -> Count:
    """One more event."""
    return {
        "driverId": event["driverId"],
        "firstName": event["firstName"],
        "lastName": event["lastName"],
        "count": count["count"] + 1,
    }


def in_window(key: Windowed[str], count: Count) -> tuple[str, DriverCount]:
    """The record of a window's count."""
    return key.key, {**count, "windowStart": key.window.start, "windowEnd": key.window.end}


def topology() -> Topology:
    """From positions to counts; each count is written once, when its window closes."""
    builder = StreamsBuilder()
    drivers = builder.global_table(DRIVERS, Consumed.with_(TEXT, NAME))
    given = Consumed.with_(TEXT, RAW).with_timestamp_extractor(time_of)
    events = dangerous(builder.stream(POSITIONS, given)).select_key(lambda truck, report: str(report.truckId))
    events.map_values(lambda report: report._asdict()).to(DANGEROUS, Produced.with_(TEXT, Serdes.json()))
    driven = events.left_join(drivers, lambda truck, report: str(report.driverId), named).select_key(
        lambda truck, event: str(event["driverId"])
    )
    driven.to(DRIVEN, Produced.with_(TEXT, EVENT))
    counts = (
        driven.group_by_key(Grouped.with_(TEXT, EVENT))
        .windowed_by(WINDOWS)
        .aggregate(lambda: NOTHING, add, materialized_as=Materialized.with_(TEXT, COUNT))
        .suppress(Suppressed.until_window_closes(BufferConfig.unbounded()))
    )
    counts.to_stream().map(in_window).to(COUNTS, Produced.with_(TEXT, DRIVER_COUNT))
    return builder.build()


def on_the_road(count: int) -> Iterator[TruckPosition]:
    """What the trucks report."""
    return itertools.islice(TruckFleet(seed=5).positions(1_700_000_000_000, per_second=100), count)


def names() -> Iterator[tuple[str, Name]]:
    """The drivers that come with Ottla."""
    from ottla.pipelines.trucks.driver_table import bundled_drivers

    for driver in bundled_drivers():
        yield str(driver.driverId), {"firstName": driver.firstName, "lastName": driver.lastName}


def in_memory(reports: Iterator[TruckPosition]) -> list[DriverCount]:
    """The counts of these reports."""
    with TopologyTestDriver(topology()) as driver:
        drivers = driver.create_input_topic(DRIVERS, TEXT, NAME)
        for key, name in names():
            drivers.pipe_input(key, name, 0)
        trucks = driver.create_input_topic(POSITIONS, TEXT, RAW)
        for report in reports:
            trucks.pipe_input(report.key.decode(), report.to_json())
        return [
            record.value for record in driver.create_output_topic(COUNTS, TEXT, DRIVER_COUNT).read_records_to_list()
        ]


def on_spark(broker: str, reports: Iterator[TruckPosition]) -> list[DriverCount]:
    """The same by an application on Spark; ends when the counts of all but the last windows are there."""
    from ottla.client import Admin, Consumer, NewTopic, Producer
    from ottla.pipelines.streams.kafka_streams import KafkaStreams

    topics = (POSITIONS, DANGEROUS, DRIVEN, COUNTS)
    # One partition: of several, read as a backlog, one can be further ahead than the grace of the windows. What is
    # written has the time of the reports, which is long ago: retention would take it.
    with Admin(bootstrap_servers=broker) as admin:
        admin.create_topics([NewTopic(topic, partitions=1, configs={"retention.ms": "-1"}) for topic in topics])
        admin.create_topics([NewTopic(DRIVERS, partitions=1, configs={"cleanup.policy": "compact"})])
    sent = list(reports)
    with Producer(bootstrap_servers=broker) as producer:
        for key, name in names():
            producer.send(DRIVERS, key=key.encode(), value=json.dumps(name).encode())
        for report in sent:
            producer.send(POSITIONS, key=report.key, value=report.to_json())
        producer.flush()
    wanted = len(in_memory(iter(sent)))
    found: list[DriverCount] = []
    with tempfile.TemporaryDirectory() as directory:
        config = {
            "application.id": "trucks",
            "bootstrap.servers": broker,
            "processing.guarantee": "exactly_once_v2",
            "state.dir": directory,
        }
        reader = {"group.id": "reader", "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
        with (
            KafkaStreams(topology(), config) as streams,
            Consumer({"bootstrap.servers": broker, "value.deserializer": "json", **reader}) as consumer,
        ):
            consumer.subscribe([COUNTS])
            while len(found) < wanted and streams.failure is None:
                found += [record.value for record in consumer.poll(1.0)]
    return found


def main(broker: str | None) -> None:
    """Half a minute of a fleet."""
    counts = in_memory(on_the_road(3_000)) if broker is None else on_spark(broker, on_the_road(3_000))
    for count in sorted(counts, key=lambda one: (one["windowStart"], one["driverId"])):
        print(count["windowStart"], count["firstName"], count["lastName"], count["count"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
