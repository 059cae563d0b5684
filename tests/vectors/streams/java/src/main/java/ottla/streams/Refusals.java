// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import static ottla.streams.Shape.*;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** What Kafka Streams refuses, by name, with its exception; refusal.py asks the same of ours. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Refusals {
    private static final ValueJoiner<String, String, String> PLUS = (l, r) -> l + r;
    private final Map<String, String> found = new LinkedHashMap<>();

    static Map<String, String> all() {
        Refusals refusals = new Refusals();
        refusals.nulls();
        refusals.windows();
        refusals.names();
        refusals.topologies();
        refusals.handmade();
        return refusals.found;
    }

    private void add(String name, Shape shape) {
        try {
            StreamsBuilder builder = new StreamsBuilder();
            shape.build(builder);
            builder.build();
            found.put(name, "nothing");
        } catch (RuntimeException refused) {
            found.put(name, refused.getClass().getSimpleName() + ": " + refused.getMessage());
        }
    }

    private static Duration ms(long time) {
        return Duration.ofMillis(time);
    }

    private void nulls() {
        add("stream filter", b -> stream(b, "in").filter(null));
        add("stream filter_not", b -> stream(b, "in").filterNot(null));
        add("stream select_key", b -> stream(b, "in").selectKey(null));
        add("stream map", b -> stream(b, "in").map(null));
        add("stream map_values", b -> stream(b, "in").mapValues((ValueMapperWithKey) null));
        add("stream flat_map", b -> stream(b, "in").flatMap(null));
        add("stream flat_map_values", b -> stream(b, "in").flatMapValues((ValueMapperWithKey) null));
        add("stream peek", b -> stream(b, "in").peek(null));
        add("stream foreach", b -> stream(b, "in").foreach(null));
        add("stream merge", b -> stream(b, "in").merge(null));
        add("stream to", b -> stream(b, "in").to((String) null));
        add("stream group_by", b -> stream(b, "in").groupBy(null));
        add("stream process", b -> stream(b, "in").process(null));
        add("stream process_values", b -> stream(b, "in").processValues(null));
        add("stream join without a stream", b -> stream(b, "in").join((KStream) null, PLUS, NEAR));
        add("stream join without a joiner", b -> stream(b, "in").join(stream(b, "other"), (ValueJoinerWithKey) null, NEAR));
        add("stream join without windows", b -> stream(b, "in").join(stream(b, "other"), PLUS, null));
        add("stream table join without a joiner", b -> stream(b, "in").join(table(b, "other"), (ValueJoinerWithKey) null));
        add("stream global join without a mapper", b -> stream(b, "in").join(b.globalTable("g", TEXT), null, PLUS));
        add("stream global join without a joiner", b -> stream(b, "in").join(b.globalTable("g", TEXT), (k, v) -> k, (ValueJoinerWithKey) null));
        add("grouped reduce", b -> stream(b, "in").groupByKey().reduce(null));
        add("grouped aggregate without an initializer", b -> stream(b, "in").groupByKey().aggregate(null, (k, v, a) -> a));
        add("grouped aggregate without an aggregator", b -> stream(b, "in").groupByKey().aggregate(() -> "", (Aggregator) null));
        add("grouped cogroup", b -> stream(b, "in").groupByKey().cogroup(null));
        add("grouped windowed_by", b -> stream(b, "in").groupByKey().windowedBy((Windows) null));
        add("cogroup aggregate", b -> stream(b, "in").groupByKey().<String>cogroup((k, v, a) -> a).aggregate(null));
        add("cogroup without a stream", b -> stream(b, "in").groupByKey().<String>cogroup((k, v, a) -> a).cogroup(null, (k, v, a) -> (String) a));
        add("windowed reduce", b -> stream(b, "in").groupByKey().windowedBy(TUMBLING).reduce(null));
        add("windowed aggregate", b -> stream(b, "in").groupByKey().windowedBy(TUMBLING).aggregate(null, (k, v, a) -> a));
        add("session reduce", b -> stream(b, "in").groupByKey().windowedBy(SESSIONS).reduce(null));
        add("session aggregate without a merger", b -> stream(b, "in").groupByKey().windowedBy(SESSIONS).aggregate(() -> "", (k, v, a) -> a, (Merger) null));
        add("table filter", b -> table(b, "in").filter(null));
        add("table filter_not", b -> table(b, "in").filterNot(null));
        add("table map_values", b -> table(b, "in").mapValues((ValueMapperWithKey) null));
        add("table group_by", b -> table(b, "in").groupBy(null));
        add("table join without a table", b -> table(b, "in").join((KTable) null, PLUS));
        add("table join without a joiner", b -> table(b, "in").join(table(b, "other"), (ValueJoiner) null));
        add("regrouped reduce without an adder", b -> table(b, "in").groupBy(KeyValue::pair).reduce(null, (x, y) -> y));
        add("regrouped reduce without a subtractor", b -> table(b, "in").groupBy(KeyValue::pair).reduce((x, y) -> y, null));
        add("regrouped aggregate without an initializer", b -> table(b, "in").groupBy(KeyValue::pair).aggregate(null, (k, v, a) -> a, (k, v, a) -> a));
        add("regrouped aggregate without an adder", b -> table(b, "in").groupBy(KeyValue::pair).aggregate(() -> "", null, (k, v, a) -> a));
        add("regrouped aggregate without a subtractor", b -> table(b, "in").groupBy(KeyValue::pair).aggregate(() -> "", (k, v, a) -> a, (Aggregator) null));
        add("stream without a topic", b -> b.stream((String) null));
        add("stream of no topics", b -> b.stream(List.of()).to("out"));
        add("stream of topics with a null", b -> b.stream(java.util.Arrays.asList("a", null)));
        add("table without a topic", b -> b.table(null));
        add("global table without a topic", b -> b.globalTable(null));
        add("state store", b -> b.addStateStore(null));
        add("named", b -> Named.as(null));
        add("stored without a name", b -> Stores.persistentKeyValueStore(null));
    }

    private void windows() {
        add("size 0", b -> TimeWindows.ofSizeWithNoGrace(ms(0)));
        add("size negative", b -> TimeWindows.ofSizeWithNoGrace(ms(-1)));
        add("grace negative", b -> TimeWindows.ofSizeAndGrace(ms(5), ms(-1)));
        add("advance 0", b -> TUMBLING.advanceBy(ms(0)));
        add("advance negative", b -> TUMBLING.advanceBy(ms(-1)));
        add("advance beyond size", b -> TUMBLING.advanceBy(ms(11)));
        add("sliding negative", b -> SlidingWindows.ofTimeDifferenceWithNoGrace(ms(-1)));
        add("sliding grace negative", b -> SlidingWindows.ofTimeDifferenceAndGrace(ms(1), ms(-1)));
        add("gap 0", b -> SessionWindows.ofInactivityGapWithNoGrace(ms(0)));
        add("gap negative", b -> SessionWindows.ofInactivityGapWithNoGrace(ms(-1)));
        add("session grace negative", b -> SessionWindows.ofInactivityGapAndGrace(ms(1), ms(-1)));
        add("join negative", b -> JoinWindows.ofTimeDifferenceWithNoGrace(ms(-1)));
        add("join grace negative", b -> JoinWindows.ofTimeDifferenceAndGrace(ms(1), ms(-1)));
        add("join before beyond after", b -> NEAR.before(ms(-11)));
        add("join after beyond before", b -> NEAR.after(ms(-11)));
        add("unlimited start negative", b -> UnlimitedWindows.of().startOn(java.time.Instant.ofEpochMilli(-1)));
        add("unlimited on close", b -> stream(b, "in").groupByKey().windowedBy(UnlimitedWindows.of()).emitStrategy(EmitStrategy.onWindowClose()));
        add("window retention too small", b -> stream(b, "in").groupByKey().windowedBy(TUMBLING).count(Materialized.<String, Long, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("w").withRetention(ms(5))));
        add("sliding retention too small", b -> stream(b, "in").groupByKey().windowedBy(SLIDING).count(Materialized.<String, Long, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("w").withRetention(ms(15))));
        add("session retention too small", b -> stream(b, "in").groupByKey().windowedBy(SESSIONS).count(Materialized.<String, Long, org.apache.kafka.streams.state.SessionStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("w").withRetention(ms(5))));
        add("retention negative", b -> Materialized.as("w").withRetention(ms(-1)));
        add("window store retention negative", b -> Stores.persistentWindowStore("w", ms(-5), ms(10), false));
        add("window store size negative", b -> Stores.inMemoryWindowStore("w", ms(5), ms(-10), false));
        add("session store retention negative", b -> Stores.persistentSessionStore("w", ms(-5)));
        add("versioned store retention negative", b -> Stores.persistentVersionedKeyValueStore("w", ms(-5)));
        add("suppress wait negative", b -> Suppressed.untilTimeLimit(ms(-1), Suppressed.BufferConfig.unbounded()));
        add("suppress without windows", b -> ((KTable) table(b, "in")).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())));
        add("join stores with one name", b -> stream(b, "l").join(stream(b, "r"), PLUS, NEAR, StreamJoined.<String, String, String>with(
            Stores.inMemoryWindowStore("one", ms(20), ms(20), true), Stores.inMemoryWindowStore("one", ms(20), ms(20), true))));
        add("join store without duplicates", b -> stream(b, "l").join(stream(b, "r"), PLUS, NEAR, StreamJoined.<String, String, String>with(
            Stores.inMemoryWindowStore("one", ms(20), ms(20), false), Stores.inMemoryWindowStore("two", ms(20), ms(20), true))));
        add("join grace without versions", b -> stream(b, "l").join(b.table("t", TEXT, Materialized.as("plain")), PLUS, Joined.with(TEXTS, TEXTS, TEXTS, "j", ms(10))));
        add("join grace beyond history", b -> stream(b, "l").join(b.table("t", TEXT, Materialized.as(Stores.persistentVersionedKeyValueStore("v", ms(5)))), PLUS, Joined.with(TEXTS, TEXTS, TEXTS, "j", ms(10))));
        add("suppress versioned", b -> b.table("t", TEXT, Materialized.as(Stores.persistentVersionedKeyValueStore("v", ms(5)))).suppress(Suppressed.untilTimeLimit(ms(1), Suppressed.BufferConfig.unbounded())));
        add("suppress versioned upstream", b -> b.table("t", TEXT, Materialized.as(Stores.persistentVersionedKeyValueStore("v", ms(5)))).filter((k, v) -> true).suppress(Suppressed.untilTimeLimit(ms(1), Suppressed.BufferConfig.unbounded())));
        add("versioned global table", b -> b.globalTable("t", TEXT, Materialized.as(Stores.persistentVersionedKeyValueStore("v", ms(5)))));
    }

    private void names() {
        add("empty name", b -> stream(b, "in").filter((k, v) -> true, Named.as("")));
        add("dot", b -> stream(b, "in").filter((k, v) -> true, Named.as(".")));
        add("two dots", b -> stream(b, "in").filter((k, v) -> true, Named.as("..")));
        add("a space", b -> stream(b, "in").filter((k, v) -> true, Named.as("a b")));
        add("a slash", b -> stream(b, "in").filter((k, v) -> true, Named.as("a/b")));
        add("a long name", b -> stream(b, "in").filter((k, v) -> true, Named.as("a".repeat(250))));
        add("a store with a space", b -> stream(b, "in").groupByKey().count(Materialized.as("a b")));
        add("a store with a bad name by with_name", b -> table(b, "in").filter((k, v) -> true, Materialized.as("a?")));
        add("a grouping with a space", b -> stream(b, "in").groupBy((k, v) -> v, GROUPED.withName("a b")).count());
        add("consumed with a space", b -> b.stream("in", TEXT.withName("a b")));
        add("produced with a space", b -> stream(b, "in").to("out", Produced.as("a b")));
        add("branched with a space", b -> stream(b, "in").split().branch((k, v) -> true, Branched.as("a b")).noDefaultBranch());
        add("suppressed with a space", b -> table(b, "in").suppress(Suppressed.<String>untilTimeLimit(ms(1), Suppressed.BufferConfig.unbounded()).withName("a b")));
        add("the same name twice", b -> { stream(b, "in").filter((k, v) -> true, Named.as("x")); stream(b, "other").filter((k, v) -> true, Named.as("x")); });
        add("the same store twice", b -> { stream(b, "in").groupByKey().count(Materialized.as("x")); stream(b, "other").groupByKey().count(Materialized.as("x")); });
        add("the same source name twice", b -> { b.stream("in", TEXT.withName("x")); b.stream("other", TEXT.withName("x")); });
        add("the same branch twice", b -> stream(b, "in").split(Named.as("x")).branch((k, v) -> true, Branched.as("y")).branch((k, v) -> true, Branched.as("y")).noDefaultBranch());
        add("the same group name twice", b -> { stream(b, "in").groupBy((k, v) -> v, GROUPED.withName("x")).count(); stream(b, "other").groupBy((k, v) -> v, GROUPED.withName("x")).count(); });
        add("the same repartition twice", b -> { stream(b, "in").repartition(Repartitioned.as("x")); stream(b, "other").repartition(Repartitioned.as("x")); });
        add("a stream joined twice under a name", b -> { KStream<String, String> s = stream(b, "in").selectKey((k, v) -> v); s.join(stream(b, "a"), PLUS, NEAR, StreamJoined.<String, String, String>as("j1").withName("x")); s.join(stream(b, "b"), PLUS, NEAR, StreamJoined.<String, String, String>as("j2").withName("x")); });
    }

    private void topologies() {
        add("overlapping topics", b -> { b.stream(List.of("a", "b"), TEXT); b.stream(List.of("b", "c"), TEXT); });
        add("different resets", b -> { b.stream("a", TEXT.withOffsetResetPolicy(AutoOffsetReset.earliest())); b.stream("a", TEXT.withOffsetResetPolicy(AutoOffsetReset.latest())); });
        add("one reset", b -> { b.stream("a", TEXT); b.stream("a", TEXT.withOffsetResetPolicy(AutoOffsetReset.latest())); });
        add("different resets of a pattern", b -> { b.stream(Pattern.compile("t"), TEXT.withOffsetResetPolicy(AutoOffsetReset.earliest())); b.stream(Pattern.compile("t"), TEXT.withOffsetResetPolicy(AutoOffsetReset.latest())); });
        add("two tables of a topic", b -> { table(b, "a"); table(b, "a"); });
        add("stream and table of a topic", b -> { stream(b, "a"); table(b, "a"); });
        add("global table and stream of a topic", b -> { b.globalTable("a", TEXT); stream(b, "a"); });
        add("two global tables of a topic", b -> { b.globalTable("a", TEXT); b.globalTable("a", TEXT); });
        add("topic and matching pattern", b -> { stream(b, "abc"); b.stream(Pattern.compile("a.*"), TEXT); });
        add("pattern and matching topic", b -> { b.stream(Pattern.compile("a.*"), TEXT); stream(b, "abc"); });
        add("an unknown store", b -> stream(b, "in").process(Shapes.Pass::new, "nothing"));
        add("two default branches", b -> { BranchedKStream<String, String> s = stream(b, "in").split(); s.defaultBranch(); s.defaultBranch(); });
        add("a store added twice", b -> { b.addStateStore(store("s")); b.addStateStore(store("s")); });
        add("a global store of a store's name", b -> { b.addStateStore(store("s")); b.addGlobalStore(store("s"), "g", TEXT, Shapes.NoResult::new); });
        add("two global stores of a name", b -> { b.addGlobalStore(store("s"), "g", TEXT, Shapes.NoResult::new); b.addGlobalStore(store("s"), "h", TEXT, Shapes.NoResult::new); });
        add("two global stores of a topic", b -> { b.addGlobalStore(store("s"), "g", TEXT, Shapes.NoResult::new); b.addGlobalStore(store("t"), "g", TEXT, Shapes.NoResult::new); });
    }

    private static org.apache.kafka.streams.state.StoreBuilder store(String name) {
        return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), TEXTS, TEXTS);
    }

    private void hand(String name, java.util.function.Consumer<Topology> steps) {
        add(name, b -> steps.accept(new Topology()));
    }

    private void handmade() {
        hand("source without a name", t -> t.addSource((String) null, "a"));
        hand("source without topics", t -> t.addSource("s"));
        hand("source with a null topic", t -> t.addSource("s", (String) null));
        hand("two sources of a name", t -> t.addSource("s", "a").addSource("s", "b"));
        hand("two sources of a topic", t -> t.addSource("s", "a").addSource("r", "a"));
        hand("a pattern that matches", t -> t.addSource("s", "abc").addSource("r", Pattern.compile("a.*")));
        hand("a topic that matches", t -> t.addSource("r", Pattern.compile("a.*")).addSource("s", "abc"));
        hand("processor without a name", t -> t.addSource("s", "a").addProcessor(null, Shapes.Pass::new, "s"));
        hand("processor without a supplier", t -> t.addSource("s", "a").addProcessor("p", (org.apache.kafka.streams.processor.api.ProcessorSupplier) null, "s"));
        hand("processor without parents", t -> t.addSource("s", "a").addProcessor("p", Shapes.Pass::new));
        hand("processor with an unknown parent", t -> t.addSource("s", "a").addProcessor("p", Shapes.Pass::new, "x"));
        hand("processor that is its own parent", t -> t.addSource("s", "a").addProcessor("p", Shapes.Pass::new, "p"));
        hand("two processors of a name", t -> t.addSource("s", "a").addProcessor("p", Shapes.Pass::new, "s").addProcessor("p", Shapes.Pass::new, "s"));
        hand("sink without a name", t -> t.addSource("s", "a").addSink(null, "o", "s"));
        hand("sink without a topic", t -> t.addSource("s", "a").addSink("o", (String) null, "s"));
        hand("sink without parents", t -> t.addSource("s", "a").addSink("o", "out"));
        hand("sink with an unknown parent", t -> t.addSource("s", "a").addSink("o", "out", "x"));
        hand("sink that is its own parent", t -> t.addSource("s", "a").addSink("o", "out", "o"));
        hand("a sink as parent", t -> t.addSource("s", "a").addSink("o", "out", "s").addSink("p", "out2", "o"));
        hand("two sinks of a name", t -> t.addSource("s", "a").addSink("o", "out", "s").addSink("o", "out2", "s"));
        hand("a store for an unknown processor", t -> t.addStateStore(store("x"), "p"));
        hand("a store for a source", t -> t.addSource("s", "a").addStateStore(store("x"), "s"));
        hand("a store for a sink", t -> t.addSource("s", "a").addSink("o", "out", "s").addStateStore(store("x"), "o"));
        hand("different stores of a name", t -> t.addStateStore(store("x")).addStateStore(store("x")));
        hand("no store", t -> t.addStateStore(null));
        hand("connect no processor", t -> t.connectProcessorAndStateStores(null, "x"));
        hand("connect no stores", t -> t.connectProcessorAndStateStores("p"));
        hand("connect an unknown store", t -> t.addSource("s", "a").addProcessor("p", Shapes.Pass::new, "s").connectProcessorAndStateStores("p", "x"));
    }
}
