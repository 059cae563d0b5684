"""However partitions take turns and wherever batches are cut: tables end the same, and both hosts write the same."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.streams import (
    Consumed,
    Grouped,
    KTable,
    Materialized,
    Produced,
    Serdes,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    TimeWindows,
    Topology,
)
from ottla.streams.engine.error_handler import OutputRecord
from tests.property.streams.partitioned import Content, Host, LocalHost, SparkHost
from tests.property.streams.test_batch_boundary import MEMORY, NAMED, records_of
from tests.unit.streams.scenario import Interpreter

PARTITIONS: Final = 3
TEXT: Final = Serdes.string()
LONG_MS: Final = 1_000_000
Record = tuple[str, str | None, str | None, int]


@contextmanager
def spark(topology: Topology) -> Iterator[Host]:
    with TemporaryDirectory(dir=MEMORY) as directory:
        host = SparkHost(topology, PARTITIONS, Path(directory))
        with closing(host):
            yield host


@contextmanager
def local(topology: Topology, chance: random.Random) -> Iterator[Host]:
    with TemporaryDirectory(dir=MEMORY) as directory:
        host = LocalHost(topology, PARTITIONS, Path(directory), lambda: chance.random() < 0.2)
        with closing(host):
            yield host


def run(host: Host, records: list[OutputRecord], chance: random.Random) -> None:
    """Records come, and partition numbers take turns, by chance."""
    left = list(reversed(records))
    while left or host.has_work():
        for _ in range(chance.randint(0, len(left))):
            host.topics.append(left.pop())
        number = chance.randrange(host.partitions)
        if host.waiting(number):
            host.step(number, lambda waiting: chance.randint(0, waiting))


# Both hosts


def logs_of(host: Host) -> dict[Any, Any]:
    return {place: log for place, log in host.topics.logs.items() if log}


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(sorted(NAMED)), st.integers(0, 1 << 32))
def test_both_hosts_write_the_same_records_for_the_same_schedule(name: str, seed: int) -> None:
    """Every recorded topology, three partitions: outputs, repartition topics and changelogs, and the tables."""
    case = NAMED[name]
    records = [record for _, record in keyed(case)]
    found = []
    for make in (spark, lambda topology: local(topology, random.Random(seed))):
        with make(Interpreter().build(case["build"])) as host:
            run(host, records, random.Random(seed))
            found.append((logs_of(host), host.content()))
    assert found[0] == found[1]


def keyed(case: dict[str, Any]) -> list[tuple[str, OutputRecord]]:
    return [(topic, record._replace(topic=topic)) for topic, record in records_of(case)]


# Tables whose end does not depend on the order between partitions


def _streamed(builder: StreamsBuilder) -> Any:
    values = builder.stream("in", Consumed.with_(TEXT, TEXT)).filter(lambda key, value: value is not None)
    return values.group_by(lambda key, value: value[:1], Grouped.with_(TEXT, TEXT))


def _count(builder: StreamsBuilder) -> KTable[Any, Any]:
    return _streamed(builder).count(materialized_as=Materialized.as_("table"))


def _reduced(builder: StreamsBuilder) -> KTable[Any, Any]:
    return _streamed(builder).reduce(max, materialized_as=Materialized.as_("table"))


def _tumbling(builder: StreamsBuilder) -> KTable[Any, Any]:
    windows = TimeWindows.of_size_and_grace(10, LONG_MS)
    return _streamed(builder).windowed_by(windows).count(materialized_as=Materialized.as_("table"))


def _hopping(builder: StreamsBuilder) -> KTable[Any, Any]:
    windows = TimeWindows.of_size_and_grace(10, LONG_MS).advance_by(4)
    return _streamed(builder).windowed_by(windows).count(materialized_as=Materialized.as_("table"))


def _sliding(builder: StreamsBuilder) -> KTable[Any, Any]:
    windows = SlidingWindows.of_time_difference_and_grace(7, LONG_MS)
    return _streamed(builder).windowed_by(windows).count(materialized_as=Materialized.as_("table"))


def _sessions(builder: StreamsBuilder) -> KTable[Any, Any]:
    windows = SessionWindows.of_inactivity_gap_and_grace(5, LONG_MS)
    return _streamed(builder).windowed_by(windows).count(materialized_as=Materialized.as_("table"))


def _regrouped(builder: StreamsBuilder) -> KTable[Any, Any]:
    table = builder.table("in", Consumed.with_(TEXT, TEXT), Materialized.as_("rows"))
    grouped = table.group_by(lambda key, value: (value[:1], value), Grouped.with_(TEXT, TEXT))
    return grouped.count(materialized_as=Materialized.as_("table"))


def _joined(builder: StreamsBuilder) -> KTable[Any, Any]:
    left = builder.table("in", Consumed.with_(TEXT, TEXT), Materialized.as_("left"))
    right = builder.table("other", Consumed.with_(TEXT, TEXT), Materialized.as_("right"))
    return left.outer_join(right, lambda one, two: f"{one}+{two}", Materialized.as_("table").with_value_serde(TEXT))


def _joined_by_foreign_key(builder: StreamsBuilder) -> KTable[Any, Any]:
    left = builder.table("in", Consumed.with_(TEXT, TEXT), Materialized.as_("left"))
    right = builder.table("other", Consumed.with_(TEXT, TEXT), Materialized.as_("right"))
    return left.left_join(
        right,
        lambda one, two: f"{one}+{two}",
        Materialized.as_("table").with_value_serde(TEXT),
        foreign_key=lambda value: value[:1],
    )


TABLES: Final[dict[str, Callable[[StreamsBuilder], KTable[Any, Any]]]] = {
    "count": _count,
    "reduce": _reduced,
    "tumbling": _tumbling,
    "hopping": _hopping,
    "sliding": _sliding,
    "session": _sessions,
    "regrouped": _regrouped,
    "joined": _joined,
    "foreign key": _joined_by_foreign_key,
}

RECORDS: Final = st.lists(
    st.tuples(
        st.sampled_from(["in", "in", "other"]),
        st.sampled_from("abcdef"),
        st.one_of(st.none(), st.text("abc", min_size=1, max_size=3)),
        st.integers(0, 60),
    ),
    max_size=25,
)


def table_of(name: str) -> Topology:
    builder = StreamsBuilder()
    TABLES[name](builder).to_stream(lambda key, value: str(key)).to("out", Produced.with_(TEXT, None))
    return builder.build()


def encoded(records: list[Record]) -> list[OutputRecord]:
    return [
        OutputRecord(topic, (key or "").encode(), None if value is None else value.encode(), time)
        for topic, key, value, time in records
    ]


def comparable(name: str, host: Host) -> Content:
    """The tables; the time of a joined row is that of what came last, or of a row that is gone, as in Kafka Streams."""
    content = host.content()
    if name in ("joined", "foreign key"):
        content["table"] = [(key, value[8:]) for key, value in content["table"]]
    return content


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(sorted(TABLES)), RECORDS, st.integers(0, 1 << 32))
def test_any_interleaving_gives_the_same_tables(name: str, records: list[Record], seed: int) -> None:
    given = encoded([one for one in records if one[0] == "in" or name in ("joined", "foreign key")])
    contents = []
    with spark(table_of(name)) as host:
        for record in given:
            host.topics.append(record)
        while host.has_work():
            for number in range(host.partitions):
                host.step(number, lambda waiting: waiting)
        contents.append(comparable(name, host))
    for make in (spark, lambda topology: local(topology, random.Random(seed))):
        with make(table_of(name)) as host:
            run(host, given, random.Random(seed))
            contents.append(comparable(name, host))
    assert contents[1] == contents[0]
    assert contents[2] == contents[0]
