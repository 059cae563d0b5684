"""More topologies whose descriptions are recorded: tables, joins, and what `topology.optimization` changes."""

from typing import Any, Final

from ottla.streams import (
    BufferConfig,
    Joined,
    KTable,
    Materialized,
    Named,
    Produced,
    Serdes,
    Stores,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
    TableJoined,
)
from tests.unit.streams.shape import (
    GROUPED,
    NEAR,
    TEXT,
    TEXTS,
    TUMBLING,
    Pass,
    Shape,
    added,
    always,
    later,
    nothing,
    pair,
    rekeyed,
    same,
    stream,
    value_of,
)

GIVEN: Final[StreamJoined[str, str]] = StreamJoined.with_(TEXTS, TEXTS, TEXTS)
BOTH: Final[Joined[str, str]] = Joined.with_(TEXTS, TEXTS, TEXTS)


def plus(left: Any, right: Any) -> str:
    return f"{left}{right}"


def table(b: StreamsBuilder, topic: str) -> KTable[str, str]:
    return b.table(topic, TEXT)


def texts() -> Materialized[str, str]:
    return Materialized.with_(TEXTS, TEXTS)


def table_steps(b: StreamsBuilder) -> None:
    t = table(b, "in")
    t.filter(always).map_values(same).to_stream().to("one")
    kept = t.filter(always, Named.as_("kept"), Materialized.as_("kept-store"))
    kept.map_values(same, Named.as_("valued")).to_stream(named=Named.as_("streamed")).to("two")
    valued = t.filter_not(always, None, texts()).map_values(same, None, Materialized.as_("valued-store"))
    valued.to_stream(value_of, Named.as_("keyed")).to("three")
    t.map_values(value_of, None, texts()).to_stream(value_of).group_by_key().count()


def tables_with_names(b: StreamsBuilder) -> None:
    b.table("a", TEXT.with_name("source"), Materialized.as_("store"))
    b.table("b", TEXT, texts()).to_stream().to("out")
    b.table("c", TEXT.with_name("third")).filter(always).group_by(pair, GROUPED).count()
    b.global_table("d", TEXT)
    b.global_table("e", TEXT.with_name("fifth"), Materialized.as_("global"))


def regrouped(b: StreamsBuilder) -> None:
    g = table(b, "in").group_by(pair)
    g.count()
    g.count(Named.as_("counted"))
    g.count(materialized_as=Materialized.as_("stored"))
    g.reduce(later, later)
    g.reduce(later, later, Named.as_("reduced"), Materialized.as_("reduced-store"))
    g.aggregate(str, added, added)
    g.aggregate(str, added, added, Named.as_("aggregated"))
    g.count(materialized_as=Materialized.with_(TEXTS, Serdes.long()))


def regrouped_with_a_name(b: StreamsBuilder) -> None:
    g = table(b, "in").group_by(pair, GROUPED.with_name("grouped"))
    g.count()
    g.reduce(later, later)


def suppress(b: StreamsBuilder) -> None:
    t = stream(b, "in").group_by_key().windowed_by(TUMBLING).count()
    closed = Suppressed.until_window_closes(BufferConfig.unbounded())
    t.suppress(closed).to_stream()
    t.suppress(closed.with_name("final")).filter(always).to_stream()
    waiting = Suppressed.until_time_limit(10, BufferConfig.unbounded())
    table(b, "other").suppress(waiting).to_stream().to("out")


def versioned(b: StreamsBuilder) -> None:
    t = b.table("in", TEXT, Materialized.as_(Stores.persistent_versioned_key_value_store("versions", 100)))
    stream(b, "s").join(t, plus, BOTH.with_name("graced").with_grace_period(10)).to("out")
    rekeyed(b, "u").left_join(t, plus, BOTH.with_grace_period(10)).to("out")


def stream_joins(b: StreamsBuilder) -> None:
    left, right = stream(b, "l"), stream(b, "r")
    left.join(right, plus, NEAR).to("one")
    left.left_join(right, plus, NEAR).to("two")
    left.outer_join(right, plus, NEAR).to("three")


def stream_joins_with_names(b: StreamsBuilder) -> None:
    left, right = rekeyed(b, "l"), rekeyed(b, "r")
    left.join(right, plus, NEAR, GIVEN.with_name("inner")).to("one")
    left.left_join(right, plus, NEAR, GIVEN.with_name("left").with_store_name("left-store")).to("two")
    left.outer_join(right, plus, NEAR, GIVEN.with_store_name("outer-store")).to("three")


def stream_joins_with_suppliers(b: StreamsBuilder) -> None:
    mine = GIVEN.with_this_store_supplier(
        Stores.in_memory_window_store("this", 20, 20, retain_duplicates=True)
    ).with_other_store_supplier(Stores.in_memory_window_store("other", 20, 20, retain_duplicates=True))
    stream(b, "l").join(stream(b, "r"), plus, NEAR, mine).to("one")


def outer_join_with_suppliers(b: StreamsBuilder) -> None:
    mine = GIVEN.with_this_store_supplier(
        Stores.persistent_window_store("this", 20, 20, retain_duplicates=True)
    ).with_other_store_supplier(Stores.persistent_window_store("other", 20, 20, retain_duplicates=True))
    stream(b, "l").outer_join(stream(b, "r"), plus, NEAR, mine.with_store_name("stored")).to("one")


def joined_twice(b: StreamsBuilder) -> None:
    left = rekeyed(b, "l")
    left.join(stream(b, "r"), plus, NEAR).to("one")
    left.left_join(stream(b, "u"), plus, NEAR).to("two")
    left.join(table(b, "t"), plus).to("three")


def joined_twice_with_names(b: StreamsBuilder) -> None:
    left = rekeyed(b, "l").map_values(same)
    left.join(stream(b, "r"), plus, NEAR, GIVEN.with_name("first")).to("one")
    left.join(stream(b, "u"), plus, NEAR, GIVEN.with_name("second")).to("two")
    left.join(table(b, "t"), plus, Joined.as_("third")).to("three")


def self_join(b: StreamsBuilder) -> None:
    s = stream(b, "in")
    s.join(s, plus, NEAR).to("one")


def rekeyed_self_join(b: StreamsBuilder) -> None:
    s = rekeyed(b, "in")
    s.join(s, plus, NEAR).to("one")


def topic_self_join(b: StreamsBuilder) -> None:
    stream(b, "in").join(stream(b, "in"), plus, NEAR).to("one")


def left_self_join(b: StreamsBuilder) -> None:
    s = stream(b, "in")
    s.left_join(s, plus, NEAR).to("one")
    s.outer_join(s.filter(always), plus, NEAR).to("two")


def two_self_joins(b: StreamsBuilder) -> None:
    s = stream(b, "in")
    s.join(s, plus, NEAR).join(s, plus, NEAR).to("one")
    m = s.map_values(same)
    m.join(m, plus, NEAR, GIVEN.with_name("second")).to("two")


def table_joins_of_streams(b: StreamsBuilder) -> None:
    t = table(b, "t")
    stream(b, "in").join(t, plus).left_join(t, plus, Joined.as_("left")).to("one")
    rekeyed(b, "other").join(t, plus).to("two")
    rekeyed(b, "third").left_join(t, plus, BOTH.with_name("named")).to("three")


def global_joins(b: StreamsBuilder) -> None:
    g = b.global_table("g", TEXT)
    joined = stream(b, "in").join(g, value_of, plus)
    joined.left_join(g, value_of, plus, Named.as_("left")).to("one")
    rekeyed(b, "other").join(g, value_of, plus, Named.as_("inner")).group_by_key(GROUPED).count()


def table_joins(b: StreamsBuilder) -> None:
    left, right = table(b, "l"), table(b, "r")
    left.join(right, plus).to_stream().to("one")
    left.left_join(right, plus, Named.as_("left")).to_stream().to("two")
    left.outer_join(right, plus, Materialized.as_("outer-store")).to_stream().to("three")
    inner = left.join(right, plus, Named.as_("inner"), Materialized.as_("inner-store"))
    inner.left_join(right, plus, texts()).to_stream().to("four")
    left.filter(always).join(right.map_values(same), plus).to_stream().to("five")
    left.join(left, plus).to_stream().to("six")


def foreign_key_joins(b: StreamsBuilder) -> None:
    left, right = table(b, "l"), table(b, "r")
    left.join(right, same, plus).to_stream().to("one")
    left.left_join(right, same, plus, TableJoined.as_("left")).to_stream().to("two")
    left.join(right, same, plus, Materialized.as_("stored")).to_stream().to("three")
    stored: Materialized[str, str] = Materialized.as_("stored-too")
    left.left_join(right, same, plus, TableJoined.as_("both"), stored).to_stream().to("four")
    left.join(right, same, plus, texts()).map_values(same).to_stream().to("five")
    left.join(right.filter(always), same, plus).filter(always).join(right, plus).to_stream().to("six")
    left.join(left, same, plus).to_stream().to("seven")


def many_aggregates(b: StreamsBuilder) -> None:
    s = rekeyed(b, "in")
    counted = s.group_by_key().count(materialized_as=Materialized.as_("counts"))
    counted.to_stream().to("one", Produced.with_(TEXTS, Serdes.long()))
    s.map_values(same).group_by_key().reduce(later).to_stream().to("two")
    s.filter(always).group_by_key(GROUPED.with_name("third")).windowed_by(TUMBLING).count()
    s.join(stream(b, "other"), plus, NEAR).to("three")


def values_before_the_group(b: StreamsBuilder) -> None:
    s = stream(b, "in").map(pair)
    counted = s.filter(always).group_by_key(GROUPED).count()
    counted.to_stream().to("one", Produced.with_(TEXTS, Serdes.long()))
    grouped = s.peek(nothing).group_by_key(GROUPED)
    grouped.aggregate(str, added, materialized_as=texts()).to_stream().to("two")
    s.process(Pass).to("three")


def merge_of_two_keys(b: StreamsBuilder) -> None:
    m = rekeyed(b, "a").merge(rekeyed(b, "b"))
    m.group_by_key(GROUPED).count().to_stream().to("one", Produced.with_(TEXTS, Serdes.long()))
    m.group_by_key(GROUPED).reduce(later).to_stream().to("two")


def merge_of_key_and_stream(b: StreamsBuilder) -> None:
    m = rekeyed(b, "a").merge(stream(b, "b"))
    m.group_by_key(GROUPED).count()
    m.group_by_key(GROUPED).reduce(later)


def two_keys(b: StreamsBuilder) -> None:
    s = rekeyed(b, "in")
    s.group_by_key(GROUPED).count()
    again = s.select_key(lambda k, v: k)
    again.group_by_key(GROUPED).count()
    again.group_by(value_of, GROUPED).count()


def joins_behind_one_key(b: StreamsBuilder) -> None:
    s = rekeyed(b, "in")
    s.join(stream(b, "r"), plus, NEAR).to("one")
    s.left_join(table(b, "t"), plus).to("two")
    s.to_table().to_stream().to("three")


def reused_source_topic(b: StreamsBuilder) -> None:
    table(b, "in").filter(always, None, Materialized.as_("kept")).to_stream().to("out")
    t = b.table("other", TEXT, Materialized.as_("store"))
    t.join(table(b, "third"), plus).to_stream().to("joined")


TABLE_SHAPES: Final[dict[str, Shape]] = {
    "table steps": table_steps,
    "tables with names and stores": tables_with_names,
    "regrouped tables": regrouped,
    "regrouped tables with a name": regrouped_with_a_name,
    "suppress": suppress,
    "versioned": versioned,
    "stream joins": stream_joins,
    "stream joins with names": stream_joins_with_names,
    "stream joins with suppliers": stream_joins_with_suppliers,
    "outer join with suppliers": outer_join_with_suppliers,
    "a stream joined twice": joined_twice,
    "a mapped stream joined twice with names": joined_twice_with_names,
    "a stream joined with itself": self_join,
    "a rekeyed stream joined with itself": rekeyed_self_join,
    "a topic joined with itself": topic_self_join,
    "a stream left-joined with itself": left_self_join,
    "two self-joins": two_self_joins,
    "table joins of streams": table_joins_of_streams,
    "global joins": global_joins,
    "table joins": table_joins,
    "foreign-key joins": foreign_key_joins,
    "one key, many aggregates": many_aggregates,
    "one key, values before the group": values_before_the_group,
    "a merge of two keys": merge_of_two_keys,
    "a merge of a key and a plain stream": merge_of_key_and_stream,
    "two keys after each other": two_keys,
    "joins behind one key": joins_behind_one_key,
    "a reused source topic": reused_source_topic,
}
