"""Page views by region: a stream joined with a table, counted in windows that overlap.

python examples/streams/page_views.py        needs no broker: a TopologyTestDriver runs it
"""

from ottla.streams import (
    Consumed,
    Grouped,
    Joined,
    Materialized,
    Produced,
    Serdes,
    StreamsBuilder,
    TimeWindows,
    Topology,
    TopologyTestDriver,
)

TEXT = Serdes.string()
MINUTE_MS = 60_000


def topology() -> Topology:
    """`page-views` (user → page) and `user-regions` (user → region) to `views-by-region` (region@start → count)."""
    builder = StreamsBuilder()
    regions = builder.table("user-regions", Consumed.with_(TEXT, TEXT))
    views = builder.stream("page-views", Consumed.with_(TEXT, TEXT))
    by_region = views.left_join(regions, lambda page, region: region or "unknown", Joined.with_(TEXT, TEXT, TEXT))
    counts = (
        by_region.group_by(lambda user, region: region, Grouped.with_(TEXT, TEXT))
        .windowed_by(TimeWindows.of_size_and_grace(5 * MINUTE_MS, MINUTE_MS).advance_by(MINUTE_MS))
        .count(materialized_as=Materialized.as_("views-by-region"))
    )
    stream = counts.to_stream(lambda window, count: f"{window.key}@{window.window.start // MINUTE_MS}")
    stream.to("views-by-region", Produced.with_(TEXT, Serdes.long()))
    return builder.build()


def main() -> None:
    """Shows what comes out, minute by minute."""
    with TopologyTestDriver(topology()) as driver:
        users = driver.create_input_topic("user-regions", TEXT, TEXT)
        views = driver.create_input_topic("page-views", TEXT, TEXT)
        for user, region in [("ann", "europe"), ("bob", "asia")]:
            users.pipe_input(user, region, 0)
        for user, minute in [("ann", 5), ("bob", 5), ("ann", 6), ("eve", 7), ("ann", 30)]:
            views.pipe_input(user, "/index", minute * MINUTE_MS)
        # Late, but not too late for the windows that end after minute 29.
        views.pipe_input("bob", "/index", 28 * MINUTE_MS)
        counts = driver.create_output_topic("views-by-region", TEXT, Serdes.long()).read_key_values_to_map()
    for window, count in counts.items():
        print(window, count)


if __name__ == "__main__":
    main()
