"""An outage of hours while windows are two minutes long: what has to be done with all the unprocessed data?

Nothing special, if windows follow the time of the events: the application goes on where it was, its windows open and
close by the records' own times, and the results are those of a day without an outage. Windows of processing time would
have put all of the outage into the two minutes after it.

python examples/streams/outage.py        needs no broker: a TopologyTestDriver runs it
"""

from collections.abc import Iterable

from ottla.streams import (
    BufferConfig,
    Consumed,
    Grouped,
    Produced,
    Serdes,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    Topology,
    TopologyTestDriver,
    fail_on_invalid_timestamp,
    wallclock_timestamp,
)

TEXT = Serdes.string()
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
WINDOWS = TimeWindows.of_size_and_grace(2 * MINUTE_MS, MINUTE_MS)
Event = tuple[str, int]


def topology(*, by_processing_time: bool = False) -> Topology:
    """`readings` (sensor → anything) to `counts` (sensor@minute → how many), once for each window, when it closes."""
    builder = StreamsBuilder()
    extractor = wallclock_timestamp if by_processing_time else fail_on_invalid_timestamp
    readings = builder.stream("readings", Consumed.with_(TEXT, TEXT).with_timestamp_extractor(extractor))
    counts = readings.group_by_key(Grouped.with_(TEXT, TEXT)).windowed_by(WINDOWS).count()
    final = counts.suppress(Suppressed.until_window_closes(BufferConfig.unbounded()))
    stream = final.to_stream(lambda window, count: f"{window.key}@{window.window.start // MINUTE_MS}")
    stream.to("counts", Produced.with_(TEXT, Serdes.long()))
    return builder.build()


def run(topology: Topology, events: Iterable[Event], outage: range) -> dict[str, int]:
    """What the windows count if nothing is processed during an outage; each event is (sensor, time)."""
    with TopologyTestDriver(topology) as driver:
        source = driver.create_input_topic("readings", TEXT, TEXT)
        for sensor, time in events:
            due = outage.stop if time in outage else time
            driver.advance_wall_clock_time(max(due - driver.wall_clock_ms(), 0))
            source.pipe_input(sensor, "reading", time)
        return driver.create_output_topic("counts", TEXT, Serdes.long()).read_key_values_to_map()


def day() -> list[Event]:
    """Two sensors, eight hours: one reports each minute, the other every five."""
    return [
        (sensor, minute * MINUTE_MS)
        for minute in range(8 * 60)
        for sensor, pause in (("fast", 1), ("slow", 5))
        if minute % pause == 0
    ]


def main() -> None:
    """Counts with and without an outage of five hours."""
    nothing, hours = range(0), range(1 * HOUR_MS, 6 * HOUR_MS)
    for name, by_processing_time in [("event time", False), ("processing time", True)]:
        found = topology(by_processing_time=by_processing_time)
        steady, interrupted = run(found, day(), nothing), run(found, day(), hours)
        print(f"{name}: {len(steady)} windows without an outage, {len(interrupted)} with it,", end=" ")
        print(f"the same: {steady == interrupted}; most in one: {max(interrupted.values())}")


if __name__ == "__main__":
    main()
