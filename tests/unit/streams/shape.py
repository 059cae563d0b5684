"""Topologies whose descriptions are recorded: `Shapes.java` builds the same ones with Kafka's DSL."""

from collections.abc import Callable
from typing import Any, Final

from ottla.streams import (
    Branched,
    CogroupedKStream,
    Consumed,
    FixedKeyProcessor,
    Grouped,
    JoinWindows,
    KGroupedStream,
    KStream,
    Materialized,
    Named,
    Processor,
    Produced,
    Record,
    Repartitioned,
    Serdes,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
)

TEXTS: Final = Serdes.string()
TEXT: Final[Consumed[str, str]] = Consumed.with_(TEXTS, TEXTS)
GROUPED: Final[Grouped[str, str]] = Grouped.with_(TEXTS, TEXTS)
TUMBLING: Final = TimeWindows.of_size_with_no_grace(10)
SLIDING: Final = SlidingWindows.of_time_difference_with_no_grace(10)
SESSIONS: Final = SessionWindows.of_inactivity_gap_with_no_grace(10)
NEAR: Final = JoinWindows.of_time_difference_with_no_grace(10)

Shape = Callable[[StreamsBuilder], Any]


class Pass(Processor[str, str, str, str]):
    def process(self, record: Record[str, str]) -> None:
        self.context.forward(record)


class PassValue(FixedKeyProcessor[str, str, str]):
    def process(self, record: Record[str, str]) -> None:
        self.context.forward(record)


class NoResult(Processor[str, str, None, None]):
    def process(self, record: Record[str, str]) -> None:
        return


def stream(b: StreamsBuilder, topic: str) -> KStream[str, str]:
    return b.stream(topic, TEXT)


def rekeyed(b: StreamsBuilder, topic: str) -> KStream[str, str]:
    return stream(b, topic).select_key(lambda k, v: v)


def store(name: str) -> Any:
    return Stores.key_value_store_builder(Stores.persistent_key_value_store(name), TEXTS, TEXTS)


def pair(k: str, v: str) -> tuple[str, str]:
    return k, v


def later(one: str, other: str) -> str:
    return other


def added(k: str, v: str, aggregate: str) -> str:
    return aggregate


def nothing(k: Any, v: Any) -> None:
    return


def same(v: str) -> str:
    return v


def always(k: Any, v: Any) -> bool:
    return True


def value_of(k: Any, v: Any) -> Any:
    return v


def named_steps(b: StreamsBuilder) -> None:
    s = b.stream("in", TEXT.with_name("source"))
    s = s.filter(always, Named.as_("kept")).filter_not(always, Named.as_("not-dropped"))
    s = s.map(pair, Named.as_("mapped")).map_values(same, Named.as_("valued"))
    s = s.flat_map(lambda k, v: [(k, v)], Named.as_("flat")).flat_map_values(lambda v: [v], Named.as_("flat-valued"))
    s = s.select_key(lambda k, v: k, Named.as_("keyed")).peek(nothing, Named.as_("seen"))
    s.print(named=Named.as_("printed"))
    s.foreach(nothing, Named.as_("each"))
    s.to("out", Produced.as_("sink"))


def steps_without_names(b: StreamsBuilder) -> None:
    s = stream(b, "in")
    s.filter(always).filter_not(always).map(pair).map_values(same)
    s.flat_map(lambda k, v: [(k, v)]).flat_map_values(lambda v: [v]).select_key(lambda k, v: k).peek(nothing)
    s.print()
    s.foreach(nothing)
    s.to("out")


def pattern_and_list(b: StreamsBuilder) -> None:
    b.stream((), TEXT, pattern="t-[a-z]+").to("one")
    b.stream(["b", "a", "cc", "zz-top"], TEXT).to("two")


def same_topic_twice(b: StreamsBuilder) -> None:
    stream(b, "in").filter(always).to("one")
    stream(b, "in").map_values(same).to("two")


def same_pattern_twice(b: StreamsBuilder) -> None:
    b.stream((), TEXT, pattern="t.*").filter(always).to("one")
    b.stream((), TEXT, pattern="t.*").map_values(same).to("two")


def same_list_twice(b: StreamsBuilder) -> None:
    b.stream(["a", "b"], TEXT).filter(always).to("one")
    b.stream(["b", "a"], TEXT).map_values(same).to("two")


def merge(b: StreamsBuilder) -> None:
    s = stream(b, "a").merge(stream(b, "b"))
    s.merge(s.map_values(same), Named.as_("merged")).to("out")


def merge_with_itself(b: StreamsBuilder) -> None:
    s = stream(b, "a")
    s.merge(s).to("out")


def branches(b: StreamsBuilder) -> None:
    found = (
        stream(b, "in")
        .split(Named.as_("by-"))
        .branch(always, Branched.as_("first"))
        .branch(always)
        .branch(always, Branched.with_function(lambda s: s.map_values(same), "mapped"))
        .branch(always, Branched.with_consumer(lambda s: s.to("consumed"), "eaten"))
        .default_branch(Branched.as_("rest"))
    )
    found["by-first"].to("one")
    found["by-2"].to("two")
    found["by-mapped"].to("three")
    found["by-rest"].to("four")


def branches_without_names(b: StreamsBuilder) -> None:
    found = stream(b, "in").split().branch(always).branch(always).default_branch()
    for name, one in sorted(found.items()):
        one.to("to-" + name)


def no_default_branch(b: StreamsBuilder) -> None:
    stream(b, "in").split().branch(always, Branched.with_consumer(lambda s: s.to("out"))).no_default_branch()


def consumed_default_branch(b: StreamsBuilder) -> None:
    split = stream(b, "in").split(Named.as_("n")).branch(always)
    split.default_branch(Branched.with_consumer(lambda s: s.map_values(same).to("out"), "-last"))


def processors(b: StreamsBuilder) -> None:
    b.add_state_store(store("own"))
    b.add_state_store(store("another"))
    s = stream(b, "in")
    s.process(Pass, stores=["own"]).to("one")
    mine = s.process(Pass, Named.as_("mine"), ["own", "another"])
    mine.process_values(PassValue, stores=["another"]).to("two")
    s.process_values(PassValue, Named.as_("fixed")).group_by_key().count().to_stream().to("three")
    s.process(Pass).group_by_key(GROUPED).count()


def repartition(b: StreamsBuilder) -> None:
    s = stream(b, "in")
    s.repartition().to("one")
    s.repartition(Repartitioned.with_(TEXTS, TEXTS).with_name("again")).to("two")
    s.repartition(Repartitioned.number_of_partitions(3)).group_by_key().count()
    two: Repartitioned[str, str] = Repartitioned.as_("x-repartition")
    s.select_key(value_of).repartition(two.with_number_of_partitions(2)).to("three")


def to_table(b: StreamsBuilder) -> None:
    stream(b, "in").to_table().to_stream().to("one")
    rekeyed(b, "other").to_table(Named.as_("table")).to_stream().to("two")
    rekeyed(b, "third").to_table(materialized_as=Materialized.as_("stored")).to_stream().to("three")
    rekeyed(b, "fourth").to_table().to_stream().to("four")


def global_store(b: StreamsBuilder) -> None:
    b.add_global_store(store("global"), "g", TEXT, NoResult)
    b.add_global_store(store("named"), "h", TEXT.with_name("mine"), NoResult)
    stream(b, "in").to("out")


def counts(b: StreamsBuilder) -> None:
    g = stream(b, "in").group_by_key()
    g.count()
    g.count(Named.as_("counted"))
    g.count(materialized_as=Materialized.as_("stored"))
    g.count(Named.as_("both"), Materialized.as_("stored-too"))
    g.count(materialized_as=Materialized.with_(TEXTS, Serdes.long()))


def counts_behind_another_key(b: StreamsBuilder) -> None:
    g = stream(b, "in").group_by(value_of)
    g.count()
    g.count(Named.as_("counted"))
    g.count(materialized_as=Materialized.as_("stored"))
    g.reduce(later)
    g.aggregate(str, added)


def counts_behind_a_named_key(b: StreamsBuilder) -> None:
    g = stream(b, "in").group_by(value_of, GROUPED.with_name("grouped"))
    g.count()
    g.reduce(later, Named.as_("reduced"), Materialized.as_("reduced-store"))
    g.windowed_by(TUMBLING).count()


def group_by_key_behind_another(b: StreamsBuilder) -> None:
    rekeyed(b, "in").group_by_key(GROUPED.with_name("grouped")).count()
    rekeyed(b, "in").map_values(same).group_by_key().count()


def windows(b: StreamsBuilder) -> None:
    g = rekeyed(b, "in").group_by_key()
    g.windowed_by(TUMBLING).count()
    g.windowed_by(TUMBLING).count(Named.as_("named"))
    g.windowed_by(TUMBLING).count(materialized_as=Materialized.as_("stored"))
    g.windowed_by(TUMBLING).reduce(later, Named.as_("reduced"))
    g.windowed_by(TUMBLING).aggregate(str, added)
    g.windowed_by(SLIDING).count()
    g.windowed_by(SLIDING).reduce(later)
    g.windowed_by(SLIDING).aggregate(str, added, Named.as_("slid"))
    g.windowed_by(SESSIONS).count()
    g.windowed_by(SESSIONS).reduce(later)
    g.windowed_by(SESSIONS).aggregate(str, added, added, Named.as_("sat"))


def windows_with_anonymous_stores(b: StreamsBuilder) -> None:
    g: KGroupedStream[str, str] = stream(b, "in").group_by_key()
    counted: Materialized[str, int] = Materialized.with_(TEXTS, Serdes.long())
    text: Materialized[str, str] = Materialized.with_(TEXTS, TEXTS)
    g.windowed_by(TUMBLING).count(materialized_as=counted)
    g.windowed_by(SLIDING).count(materialized_as=counted)
    g.windowed_by(SESSIONS).count(materialized_as=counted)
    g.windowed_by(TUMBLING).reduce(later, materialized_as=text)
    g.windowed_by(SLIDING).aggregate(str, added, materialized_as=text)
    g.windowed_by(SESSIONS).aggregate(str, added, added, materialized_as=text)


def cogroup(b: StreamsBuilder) -> None:
    one, two = stream(b, "a").group_by_key(), rekeyed(b, "b").group_by_key()
    three = stream(b, "c").group_by(value_of, GROUPED.with_name("third"))
    one.cogroup(added).cogroup(two, added).cogroup(three, added).aggregate(str).to_stream().to("out")


def cogroup_with_names(b: StreamsBuilder) -> None:
    one, two = rekeyed(b, "a").group_by_key(), rekeyed(b, "b").group_by_key()
    one.cogroup(added).cogroup(two, added).aggregate(str, Named.as_("all"), Materialized.as_("stored"))


def cogroup_twice(b: StreamsBuilder) -> None:
    one = rekeyed(b, "a").group_by_key(GROUPED.with_name("first"))
    two = rekeyed(b, "b").group_by_key(GROUPED.with_name("second"))
    c = one.cogroup(added).cogroup(two, added)
    c.aggregate(str)
    c.windowed_by(TUMBLING).aggregate(str)


def cogroup_in_windows(b: StreamsBuilder) -> None:
    one, two = stream(b, "a").group_by_key(), stream(b, "b").group_by_key()
    c: CogroupedKStream[str, str] = one.cogroup(added).cogroup(two, added)
    c.windowed_by(TUMBLING).aggregate(str)
    c.windowed_by(SLIDING).aggregate(str, Named.as_("slid"))
    c.windowed_by(SESSIONS).aggregate(str, added, materialized_as=Materialized.as_("sessions"))


def cogroup_of_one_stream(b: StreamsBuilder) -> None:
    one = stream(b, "a").group_by_key()
    one.cogroup(added).cogroup(one, added).aggregate(str)


SHAPES: Final[dict[str, Shape]] = {
    "named steps": named_steps,
    "steps without names": steps_without_names,
    "pattern and list of topics": pattern_and_list,
    "the same topic twice": same_topic_twice,
    "the same pattern twice": same_pattern_twice,
    "the same list in another order": same_list_twice,
    "merge": merge,
    "merge with itself": merge_with_itself,
    "branches": branches,
    "branches without names": branches_without_names,
    "no default branch": no_default_branch,
    "default branch with a consumer": consumed_default_branch,
    "processors": processors,
    "repartition": repartition,
    "to_table": to_table,
    "global store": global_store,
    "counts": counts,
    "counts behind another key": counts_behind_another_key,
    "counts behind another key with a name": counts_behind_a_named_key,
    "group_by_key behind another key": group_by_key_behind_another,
    "windows": windows,
    "windows with anonymous stores": windows_with_anonymous_stores,
    "cogroup": cogroup,
    "cogroup with names": cogroup_with_names,
    "cogroup twice": cogroup_twice,
    "cogroup in windows": cogroup_in_windows,
    "cogroup of one stream": cogroup_of_one_stream,
}
