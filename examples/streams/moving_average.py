"""The moving average of a stock: of the last five seconds, every second, late ticks included; tumbling beside it.

The window says what is averaged, its advance how often, its grace how long a result may still be corrected. All of
it follows the time of the ticks, here the one that the exchange has put into each. The record's own time is that of
the append if its topic has `message.timestamp.type=LogAppendTime`; `wallclock_timestamp` is the time of processing.

python examples/streams/moving_average.py        needs no broker: a TopologyTestDriver runs it
"""

from typing import TypedDict

from ottla.streams import (
    Consumed,
    ConsumedRecord,
    Grouped,
    Materialized,
    Produced,
    Serde,
    Serdes,
    StreamsBuilder,
    TimeWindows,
    Topology,
    TopologyTestDriver,
    wallclock_timestamp,
)

TEXT = Serdes.string()
SECOND_MS = 1_000
GRACE_MS = 2 * SECOND_MS


class Tick(TypedDict):
    """A price, and when it was made."""

    at: int
    price: float


TICK: Serde[Tick] = Serdes.json()
SUM: Serde[tuple[float, int]] = Serdes.json()


def event_time(record: ConsumedRecord, partition_time: int) -> int:
    """The time that the exchange has put into the tick."""
    return int(record.value["at"])


def append_time(record: ConsumedRecord, partition_time: int) -> int:
    """The time that the record has in its topic."""
    return record.timestamp


EXTRACTORS = {"event": event_time, "append": append_time, "processing": wallclock_timestamp}
MOVING = TimeWindows.of_size_and_grace(5 * SECOND_MS, GRACE_MS).advance_by(SECOND_MS)
TUMBLING = TimeWindows.of_size_and_grace(5 * SECOND_MS, GRACE_MS)


def topology(time: str = "event") -> Topology:
    """`ticks` (stock → tick) to `moving-average` and `average` (stock@end of the window in seconds → average)."""
    builder = StreamsBuilder()
    ticks = builder.stream("ticks", Consumed.with_(TEXT, TICK).with_timestamp_extractor(EXTRACTORS[time]))
    grouped = ticks.group_by_key(Grouped.with_(TEXT, TICK))
    for target, windows in [("moving-average", MOVING), ("average", TUMBLING)]:
        sums = grouped.windowed_by(windows).aggregate(
            lambda: (0.0, 0),
            lambda stock, tick, total: (total[0] + tick["price"], total[1] + 1),
            materialized_as=Materialized.with_(TEXT, SUM),
        )
        averages = sums.map_values(lambda total: total[0] / total[1])
        stream = averages.to_stream(lambda window, average: f"{window.key}@{window.window.end // SECOND_MS}")
        stream.to(target, Produced.with_(TEXT, Serdes.double()))
    return builder.build()


def main() -> None:
    """Ten ticks in ten seconds; one is late and counted, one is too late for most of its windows."""
    with TopologyTestDriver(topology()) as driver:
        ticks = driver.create_input_topic("ticks", TEXT, TICK)
        for second, price in [(0, 10.0), (1, 20.0), (2, 30.0), (3, 40.0), (4, 50.0), (6, 70.0), (5, 60.0), (9, 90.0)]:
            ticks.pipe_input("OTTL", {"at": second * SECOND_MS, "price": price}, 0)
        ticks.pipe_input("OTTL", {"at": 3 * SECOND_MS, "price": 1_000.0}, 0)
        for topic in ("moving-average", "average"):
            averages = driver.create_output_topic(topic, TEXT, Serdes.double()).read_key_values_to_map()
            print(topic, {window: round(average, 1) for window, average in averages.items()})


if __name__ == "__main__":
    main()
