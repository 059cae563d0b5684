"""What is refused when a topology is built, by name: `Refusals.java` asks Kafka Streams the same."""

from collections.abc import Callable
from typing import Any, Final

from ottla.streams import (
    Branched,
    BufferConfig,
    Consumed,
    EmitStrategy,
    JoinWindows,
    Materialized,
    Named,
    Produced,
    Repartitioned,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    Topology,
    UnlimitedWindows,
)
from tests.unit.streams.shape import (
    GROUPED,
    NEAR,
    SESSIONS,
    SLIDING,
    TEXT,
    TUMBLING,
    NoResult,
    Pass,
    added,
    always,
    later,
    pair,
    rekeyed,
    store,
    stream,
    value_of,
)
from tests.unit.streams.table_shape import BOTH, plus, table

Refusal = Callable[[StreamsBuilder], Any]
NULL: Final[Any] = None


def grouped(b: StreamsBuilder) -> Any:
    return stream(b, "in").group_by_key()


def regrouped(b: StreamsBuilder) -> Any:
    return table(b, "in").group_by(pair)


def versions(b: StreamsBuilder) -> Any:
    return b.table("t", TEXT, Materialized.as_(Stores.persistent_versioned_key_value_store("v", 5)))


def retained(ms: int) -> Any:
    given: Materialized[Any, Any] = Materialized.as_("w")
    return given.with_retention(ms)


def join_stores(one: str, other: str, *, duplicates: bool) -> StreamJoined[Any, Any]:
    this = Stores.in_memory_window_store(one, 20, 20, retain_duplicates=duplicates)
    return StreamJoined.with_store_suppliers(this, Stores.in_memory_window_store(other, 20, 20, retain_duplicates=True))


def waiting(ms: int) -> Suppressed:
    return Suppressed.until_time_limit(ms, BufferConfig.unbounded())


def joined(b: StreamsBuilder, given: StreamJoined[Any, Any]) -> Any:
    return stream(b, "l").join(stream(b, "r"), plus, NEAR, given)


def branched(b: StreamsBuilder, *names: str) -> Any:
    split = stream(b, "in").split(Named.as_("x"))
    for name in names:
        split = split.branch(always, Branched.as_(name))
    return split.no_default_branch()


def joined_twice(b: StreamsBuilder) -> None:
    s = rekeyed(b, "in")
    for number, topic in enumerate("ab"):
        given: StreamJoined[str, str] = StreamJoined.as_(f"j{number}")
        s.join(stream(b, topic), plus, NEAR, given.with_name("x"))


def single_processor(b: StreamsBuilder) -> None:
    one = Pass()
    stream(b, "in").process(lambda: one)


def two_default_branches(b: StreamsBuilder) -> None:
    split = stream(b, "in").split()
    split.default_branch()
    split.default_branch()


NULLS: Final[dict[str, Refusal]] = {
    "stream filter": lambda b: stream(b, "in").filter(NULL),
    "stream filter_not": lambda b: stream(b, "in").filter_not(NULL),
    "stream select_key": lambda b: stream(b, "in").select_key(NULL),
    "stream map": lambda b: stream(b, "in").map(NULL),
    "stream map_values": lambda b: stream(b, "in").map_values(NULL),
    "stream flat_map": lambda b: stream(b, "in").flat_map(NULL),
    "stream flat_map_values": lambda b: stream(b, "in").flat_map_values(NULL),
    "stream peek": lambda b: stream(b, "in").peek(NULL),
    "stream foreach": lambda b: stream(b, "in").foreach(NULL),
    "stream merge": lambda b: stream(b, "in").merge(NULL),
    "stream to": lambda b: stream(b, "in").to(NULL),
    "stream group_by": lambda b: stream(b, "in").group_by(NULL),
    "stream process": lambda b: stream(b, "in").process(NULL),
    "stream process_values": lambda b: stream(b, "in").process_values(NULL),
    "stream join without a stream": lambda b: stream(b, "in").join(NULL, plus, NEAR),
    "stream join without a joiner": lambda b: stream(b, "in").join(stream(b, "other"), NULL, NEAR),
    "stream join without windows": lambda b: stream(b, "in").join(stream(b, "other"), plus, NULL),
    "stream table join without a joiner": lambda b: stream(b, "in").join(table(b, "other"), NULL),
    "stream global join without a mapper": lambda b: stream(b, "in").join(b.global_table("g", TEXT), NULL, plus),
    "stream global join without a joiner": lambda b: stream(b, "in").join(b.global_table("g", TEXT), value_of, NULL),
    "grouped reduce": lambda b: grouped(b).reduce(NULL),
    "grouped aggregate without an initializer": lambda b: grouped(b).aggregate(NULL, added),
    "grouped aggregate without an aggregator": lambda b: grouped(b).aggregate(str, NULL),
    "grouped cogroup": lambda b: grouped(b).cogroup(NULL),
    "grouped windowed_by": lambda b: grouped(b).windowed_by(NULL),
    "cogroup aggregate": lambda b: grouped(b).cogroup(added).aggregate(NULL),
    "cogroup without a stream": lambda b: grouped(b).cogroup(added).cogroup(NULL, added),
    "windowed reduce": lambda b: grouped(b).windowed_by(TUMBLING).reduce(NULL),
    "windowed aggregate": lambda b: grouped(b).windowed_by(TUMBLING).aggregate(NULL, added),
    "session reduce": lambda b: grouped(b).windowed_by(SESSIONS).reduce(NULL),
    "session aggregate without a merger": lambda b: grouped(b).windowed_by(SESSIONS).aggregate(str, added, NULL),
    "table filter": lambda b: table(b, "in").filter(NULL),
    "table filter_not": lambda b: table(b, "in").filter_not(NULL),
    "table map_values": lambda b: table(b, "in").map_values(NULL),
    "table group_by": lambda b: table(b, "in").group_by(NULL),
    "table join without a table": lambda b: table(b, "in").join(NULL, plus),
    "table join without a joiner": lambda b: table(b, "in").join(table(b, "other"), NULL),
    "regrouped reduce without an adder": lambda b: regrouped(b).reduce(NULL, later),
    "regrouped reduce without a subtractor": lambda b: regrouped(b).reduce(later, NULL),
    "regrouped aggregate without an initializer": lambda b: regrouped(b).aggregate(NULL, added, added),
    "regrouped aggregate without an adder": lambda b: regrouped(b).aggregate(str, NULL, added),
    "regrouped aggregate without a subtractor": lambda b: regrouped(b).aggregate(str, added, NULL),
    "stream without a topic": lambda b: b.stream(NULL),
    "stream of no topics": lambda b: b.stream([]).to("out"),
    "stream of topics with a null": lambda b: b.stream(["a", NULL]),
    "table without a topic": lambda b: b.table(NULL),
    "global table without a topic": lambda b: b.global_table(NULL),
    "state store": lambda b: b.add_state_store(NULL),
    "named": lambda b: Named.as_(NULL),
    "stored without a name": lambda b: Stores.persistent_key_value_store(NULL),
}

WINDOWS: Final[dict[str, Refusal]] = {
    "size 0": lambda b: TimeWindows.of_size_with_no_grace(0),
    "size negative": lambda b: TimeWindows.of_size_with_no_grace(-1),
    "grace negative": lambda b: TimeWindows.of_size_and_grace(5, -1),
    "advance 0": lambda b: TUMBLING.advance_by(0),
    "advance negative": lambda b: TUMBLING.advance_by(-1),
    "advance beyond size": lambda b: TUMBLING.advance_by(11),
    "sliding negative": lambda b: SlidingWindows.of_time_difference_with_no_grace(-1),
    "sliding grace negative": lambda b: SlidingWindows.of_time_difference_and_grace(1, -1),
    "gap 0": lambda b: SessionWindows.of_inactivity_gap_with_no_grace(0),
    "gap negative": lambda b: SessionWindows.of_inactivity_gap_with_no_grace(-1),
    "session grace negative": lambda b: SessionWindows.of_inactivity_gap_and_grace(1, -1),
    "join negative": lambda b: JoinWindows.of_time_difference_with_no_grace(-1),
    "join grace negative": lambda b: JoinWindows.of_time_difference_and_grace(1, -1),
    "join before beyond after": lambda b: NEAR.before(-11),
    "join after beyond before": lambda b: NEAR.after(-11),
    "unlimited start negative": lambda b: UnlimitedWindows.of().start_on(-1),
    "unlimited on close": lambda b: (
        grouped(b).windowed_by(UnlimitedWindows.of()).emit_strategy(EmitStrategy.on_window_close())
    ),
    "window retention too small": lambda b: grouped(b).windowed_by(TUMBLING).count(None, retained(5)),
    "sliding retention too small": lambda b: grouped(b).windowed_by(SLIDING).count(None, retained(15)),
    "session retention too small": lambda b: grouped(b).windowed_by(SESSIONS).count(None, retained(5)),
    "retention negative": lambda b: retained(-1),
    "window store retention negative": lambda b: Stores.persistent_window_store("w", -5, 10),
    "window store size negative": lambda b: Stores.in_memory_window_store("w", 5, -10),
    "session store retention negative": lambda b: Stores.persistent_session_store("w", -5),
    "versioned store retention negative": lambda b: Stores.persistent_versioned_key_value_store("w", -5),
    "suppress wait negative": lambda b: waiting(-1),
    "suppress without windows": lambda b: table(b, "in").suppress(
        Suppressed.until_window_closes(BufferConfig.unbounded())
    ),
    "join stores with one name": lambda b: joined(b, join_stores("one", "one", duplicates=True)),
    "join store without duplicates": lambda b: joined(b, join_stores("one", "two", duplicates=False)),
    "join grace without versions": lambda b: stream(b, "l").join(
        b.table("t", TEXT, Materialized.as_("plain")), plus, BOTH.with_name("j").with_grace_period(10)
    ),
    "join grace beyond history": lambda b: stream(b, "l").join(
        versions(b), plus, BOTH.with_name("j").with_grace_period(10)
    ),
    "suppress versioned": lambda b: versions(b).suppress(waiting(1)),
    "suppress versioned upstream": lambda b: versions(b).filter(always).suppress(waiting(1)),
    "versioned global table": lambda b: b.global_table(
        "t", TEXT, Materialized.as_(Stores.persistent_versioned_key_value_store("v", 5))
    ),
}

NAMES: Final[dict[str, Refusal]] = {
    "empty name": lambda b: stream(b, "in").filter(always, Named.as_("")),
    "dot": lambda b: stream(b, "in").filter(always, Named.as_(".")),
    "two dots": lambda b: stream(b, "in").filter(always, Named.as_("..")),
    "a space": lambda b: stream(b, "in").filter(always, Named.as_("a b")),
    "a slash": lambda b: stream(b, "in").filter(always, Named.as_("a/b")),
    "a long name": lambda b: stream(b, "in").filter(always, Named.as_("a" * 250)),
    "a store with a space": lambda b: grouped(b).count(None, Materialized.as_("a b")),
    "a store with a bad name by with_name": lambda b: table(b, "in").filter(always, None, Materialized.as_("a?")),
    "a grouping with a space": lambda b: stream(b, "in").group_by(value_of, GROUPED.with_name("a b")).count(),
    "consumed with a space": lambda b: b.stream("in", TEXT.with_name("a b")),
    "produced with a space": lambda b: stream(b, "in").to("out", Produced.as_("a b")),
    "branched with a space": lambda b: branched(b, "a b"),
    "suppressed with a space": lambda b: table(b, "in").suppress(waiting(1).with_name("a b")),
    "the same name twice": lambda b: [stream(b, topic).filter(always, Named.as_("x")) for topic in ("in", "other")],
    "the same store twice": lambda b: [
        stream(b, topic).group_by_key().count(None, Materialized.as_("x")) for topic in ("in", "other")
    ],
    "the same source name twice": lambda b: [b.stream(topic, TEXT.with_name("x")) for topic in ("in", "other")],
    "the same branch twice": lambda b: branched(b, "y", "y"),
    "the same group name twice": lambda b: [
        stream(b, topic).group_by(value_of, GROUPED.with_name("x")).count() for topic in ("in", "other")
    ],
    "the same repartition twice": lambda b: [
        stream(b, topic).repartition(Repartitioned.as_("x")) for topic in ("in", "other")
    ],
    "a stream joined twice under a name": joined_twice,
}

EARLIEST: Final[Consumed[str, str]] = TEXT.with_offset_reset_policy("earliest")
LATEST: Final[Consumed[str, str]] = TEXT.with_offset_reset_policy("latest")

TOPOLOGIES: Final[dict[str, Refusal]] = {
    "overlapping topics": lambda b: [b.stream(topics, TEXT) for topics in (["a", "b"], ["b", "c"])],
    "different resets": lambda b: [b.stream("a", reset) for reset in (EARLIEST, LATEST)],
    "one reset": lambda b: [b.stream("a", reset) for reset in (TEXT, LATEST)],
    "different resets of a pattern": lambda b: [b.stream((), reset, pattern="t") for reset in (EARLIEST, LATEST)],
    "two tables of a topic": lambda b: [table(b, "a"), table(b, "a")],
    "stream and table of a topic": lambda b: [stream(b, "a"), table(b, "a")],
    "global table and stream of a topic": lambda b: [b.global_table("a", TEXT), stream(b, "a")],
    "two global tables of a topic": lambda b: [b.global_table("a", TEXT), b.global_table("a", TEXT)],
    "topic and matching pattern": lambda b: [stream(b, "abc"), b.stream((), TEXT, pattern="a.*")],
    "pattern and matching topic": lambda b: [b.stream((), TEXT, pattern="a.*"), stream(b, "abc")],
    "an unknown store": lambda b: stream(b, "in").process(Pass, stores=["nothing"]),
    "two default branches": two_default_branches,
    "a store added twice": lambda b: [b.add_state_store(store("s")), b.add_state_store(store("s"))],
    "a global store of a store's name": lambda b: b.add_state_store(store("s")).add_global_store(
        store("s"), "g", TEXT, NoResult
    ),
    "two global stores of a name": lambda b: [b.add_global_store(store("s"), topic, TEXT, NoResult) for topic in "gh"],
    "two global stores of a topic": lambda b: [b.add_global_store(store(name), "g", TEXT, NoResult) for name in "st"],
}


def source() -> Topology:
    return Topology().add_source("s", "a")


HANDMADE: Final[dict[str, Refusal]] = {
    "source without a name": lambda b: Topology().add_source(NULL, "a"),
    "source without topics": lambda b: Topology().add_source("s"),
    "source with a null topic": lambda b: Topology().add_source("s", NULL),
    "two sources of a name": lambda b: source().add_source("s", "b"),
    "two sources of a topic": lambda b: source().add_source("r", "a"),
    "a pattern that matches": lambda b: Topology().add_source("s", "abc").add_source("r", pattern="a.*"),
    "a topic that matches": lambda b: Topology().add_source("r", pattern="a.*").add_source("s", "abc"),
    "processor without a name": lambda b: source().add_processor(NULL, Pass, "s"),
    "processor without a supplier": lambda b: source().add_processor("p", NULL, "s"),
    "processor without parents": lambda b: source().add_processor("p", Pass),
    "processor with an unknown parent": lambda b: source().add_processor("p", Pass, "x"),
    "processor that is its own parent": lambda b: source().add_processor("p", Pass, "p"),
    "two processors of a name": lambda b: source().add_processor("p", Pass, "s").add_processor("p", Pass, "s"),
    "sink without a name": lambda b: source().add_sink(NULL, "o", "s"),
    "sink without a topic": lambda b: source().add_sink("o", NULL, "s"),
    "sink without parents": lambda b: source().add_sink("o", "out"),
    "sink with an unknown parent": lambda b: source().add_sink("o", "out", "x"),
    "sink that is its own parent": lambda b: source().add_sink("o", "out", "o"),
    "a sink as parent": lambda b: source().add_sink("o", "out", "s").add_sink("p", "out2", "o"),
    "two sinks of a name": lambda b: source().add_sink("o", "out", "s").add_sink("o", "out2", "s"),
    "a store for an unknown processor": lambda b: Topology().add_state_store(store("x"), "p"),
    "a store for a source": lambda b: source().add_state_store(store("x"), "s"),
    "a store for a sink": lambda b: source().add_sink("o", "out", "s").add_state_store(store("x"), "o"),
    "different stores of a name": lambda b: Topology().add_state_store(store("x")).add_state_store(store("x")),
    "no store": lambda b: Topology().add_state_store(NULL),
    "connect no processor": lambda b: Topology().connect_processor_and_state_stores(NULL, "x"),
    "connect no stores": lambda b: Topology().connect_processor_and_state_stores("p"),
    "connect an unknown store": lambda b: (
        source().add_processor("p", Pass, "s").connect_processor_and_state_stores("p", "x")
    ),
}

REFUSALS: Final = NULLS | WINDOWS | NAMES | TOPOLOGIES | HANDMADE
