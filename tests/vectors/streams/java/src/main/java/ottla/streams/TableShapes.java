// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import static ottla.streams.Shape.*;
import static ottla.streams.Shapes.rekeyed;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** More topologies: tables, joins, and what `topology.optimization` changes. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class TableShapes {
    private static final ValueJoiner<String, String, String> PLUS = (l, r) -> l + r;

    private TableShapes() {}

    static void tables(Map<String, Shape> shapes) {
        shapes.put("table steps", b -> {
            KTable<String, String> t = table(b, "in");
            t.filter((k, v) -> true).mapValues(v -> v).toStream().to("one");
            t.filter((k, v) -> true, Named.as("kept"), Materialized.as("kept-store")).mapValues(v -> v, Named.as("valued")).toStream(Named.as("streamed")).to("two");
            t.filterNot((k, v) -> true, Materialized.with(TEXTS, TEXTS)).mapValues(v -> v, Materialized.as("valued-store")).toStream((k, v) -> v, Named.as("keyed")).to("three");
            t.mapValues((k, v) -> v, Materialized.with(TEXTS, TEXTS)).toStream((k, v) -> v).groupByKey().count();
        });
        shapes.put("tables with names and stores", b -> {
            b.table("a", TEXT.withName("source"), Materialized.as("store"));
            b.table("b", TEXT, Materialized.with(TEXTS, TEXTS)).toStream().to("out");
            b.table("c", TEXT.withName("third")).filter((k, v) -> true).groupBy(KeyValue::pair, GROUPED).count();
            b.globalTable("d", TEXT);
            b.globalTable("e", TEXT.withName("fifth"), Materialized.as("global"));
        });
        shapes.put("regrouped tables", b -> {
            KGroupedTable<String, String> g = table(b, "in").groupBy(KeyValue::pair);
            g.count();
            g.count(Named.as("counted"));
            g.count(Materialized.as("stored"));
            g.reduce((x, y) -> y, (x, y) -> y);
            g.reduce((x, y) -> y, (x, y) -> y, Named.as("reduced"), Materialized.as("reduced-store"));
            g.aggregate(() -> "", (k, v, a) -> a, (k, v, a) -> a);
            g.aggregate(() -> "", (k, v, a) -> a, (k, v, a) -> a, Named.as("aggregated"));
            g.count(Materialized.with(TEXTS, Serdes.Long()));
        });
        shapes.put("regrouped tables with a name", b -> {
            KGroupedTable<String, String> g = table(b, "in").groupBy(KeyValue::pair, GROUPED.withName("grouped"));
            g.count();
            g.reduce((x, y) -> y, (x, y) -> y);
        });
        shapes.put("suppress", b -> {
            KTable<Windowed<String>, Long> t = stream(b, "in").groupByKey().windowedBy(TUMBLING).count();
            t.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())).toStream();
            t.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("final")).filter((k, v) -> true).toStream();
            table(b, "other").suppress(Suppressed.untilTimeLimit(Duration.ofMillis(10), Suppressed.BufferConfig.unbounded())).toStream().to("out");
        });
        shapes.put("versioned", b -> {
            KTable<String, String> t = b.table("in", TEXT, Materialized.as(Stores.persistentVersionedKeyValueStore("versions", Duration.ofMillis(100))));
            stream(b, "s").join(t, PLUS, Joined.with(TEXTS, TEXTS, TEXTS, "graced", Duration.ofMillis(10))).to("out");
            rekeyed(b, "u").leftJoin(t, PLUS, Joined.with(TEXTS, TEXTS, TEXTS).withGracePeriod(Duration.ofMillis(10))).to("out");
        });
    }

    static void joins(Map<String, Shape> shapes) {
        StreamJoined<String, String, String> given = StreamJoined.with(TEXTS, TEXTS, TEXTS);
        shapes.put("stream joins", b -> {
            KStream<String, String> l = stream(b, "l"), r = stream(b, "r");
            l.join(r, PLUS, NEAR).to("one");
            l.leftJoin(r, PLUS, NEAR).to("two");
            l.outerJoin(r, PLUS, NEAR).to("three");
        });
        shapes.put("stream joins with names", b -> {
            KStream<String, String> l = rekeyed(b, "l"), r = rekeyed(b, "r");
            l.join(r, PLUS, NEAR, given.withName("inner")).to("one");
            l.leftJoin(r, PLUS, NEAR, given.withName("left").withStoreName("left-store")).to("two");
            l.outerJoin(r, PLUS, NEAR, given.withStoreName("outer-store")).to("three");
        });
        shapes.put("stream joins with suppliers", b -> {
            KStream<String, String> l = stream(b, "l"), r = stream(b, "r");
            Duration retention = Duration.ofMillis(20);
            StreamJoined<String, String, String> mine = given
                .withThisStoreSupplier(Stores.inMemoryWindowStore("this", retention, retention, true))
                .withOtherStoreSupplier(Stores.inMemoryWindowStore("other", retention, retention, true));
            l.join(r, PLUS, NEAR, mine).to("one");
        });
        shapes.put("outer join with suppliers", b -> {
            KStream<String, String> l = stream(b, "l"), r = stream(b, "r");
            Duration retention = Duration.ofMillis(20);
            StreamJoined<String, String, String> mine = given
                .withThisStoreSupplier(Stores.persistentWindowStore("this", retention, retention, true))
                .withOtherStoreSupplier(Stores.persistentWindowStore("other", retention, retention, true));
            l.outerJoin(r, PLUS, NEAR, mine.withStoreName("stored")).to("one");
        });
        shapes.put("a stream joined twice", b -> {
            KStream<String, String> l = rekeyed(b, "l");
            l.join(stream(b, "r"), PLUS, NEAR).to("one");
            l.leftJoin(stream(b, "u"), PLUS, NEAR).to("two");
            l.join(table(b, "t"), PLUS).to("three");
        });
        shapes.put("a mapped stream joined twice with names", b -> {
            KStream<String, String> l = rekeyed(b, "l").mapValues(v -> v);
            l.join(stream(b, "r"), PLUS, NEAR, given.withName("first")).to("one");
            l.join(stream(b, "u"), PLUS, NEAR, given.withName("second")).to("two");
            l.join(table(b, "t"), PLUS, Joined.as("third")).to("three");
        });
        shapes.put("a stream joined with itself", b -> {
            KStream<String, String> s = stream(b, "in");
            s.join(s, PLUS, NEAR).to("one");
        });
        shapes.put("a rekeyed stream joined with itself", b -> {
            KStream<String, String> s = rekeyed(b, "in");
            s.join(s, PLUS, NEAR).to("one");
        });
        shapes.put("a topic joined with itself", b -> stream(b, "in").join(stream(b, "in"), PLUS, NEAR).to("one"));
        shapes.put("a stream left-joined with itself", b -> {
            KStream<String, String> s = stream(b, "in");
            s.leftJoin(s, PLUS, NEAR).to("one");
            s.outerJoin(s.filter((k, v) -> true), PLUS, NEAR).to("two");
        });
        shapes.put("two self-joins", b -> {
            KStream<String, String> s = stream(b, "in");
            s.join(s, PLUS, NEAR).join(s, PLUS, NEAR).to("one");
            KStream<String, String> m = s.mapValues(v -> v);
            m.join(m, PLUS, NEAR, given.withName("second")).to("two");
        });
        shapes.put("table joins of streams", b -> {
            KTable<String, String> t = table(b, "t");
            stream(b, "in").join(t, PLUS).leftJoin(t, PLUS, Joined.as("left")).to("one");
            rekeyed(b, "other").join(t, PLUS).to("two");
            rekeyed(b, "third").leftJoin(t, PLUS, Joined.with(TEXTS, TEXTS, TEXTS, "named")).to("three");
        });
        shapes.put("global joins", b -> {
            GlobalKTable<String, String> g = b.globalTable("g", TEXT);
            stream(b, "in").join(g, (k, v) -> v, PLUS).leftJoin(g, (k, v) -> v, PLUS, Named.as("left")).to("one");
            rekeyed(b, "other").join(g, (k, v) -> v, PLUS, Named.as("inner")).groupByKey(GROUPED).count();
        });
        shapes.put("table joins", b -> {
            KTable<String, String> l = table(b, "l"), r = table(b, "r");
            l.join(r, PLUS).toStream().to("one");
            l.leftJoin(r, PLUS, Named.as("left")).toStream().to("two");
            l.outerJoin(r, PLUS, Materialized.as("outer-store")).toStream().to("three");
            l.join(r, PLUS, Named.as("inner"), Materialized.as("inner-store")).leftJoin(r, PLUS, Materialized.with(TEXTS, TEXTS)).toStream().to("four");
            l.filter((k, v) -> true).join(r.mapValues(v -> v), PLUS).toStream().to("five");
            l.join(l, PLUS).toStream().to("six");
        });
        shapes.put("foreign-key joins", b -> {
            KTable<String, String> l = table(b, "l"), r = table(b, "r");
            l.join(r, v -> v, PLUS).toStream().to("one");
            l.leftJoin(r, v -> v, PLUS, TableJoined.as("left")).toStream().to("two");
            l.join(r, v -> v, PLUS, Materialized.as("stored")).toStream().to("three");
            l.leftJoin(r, v -> v, PLUS, TableJoined.as("both"), Materialized.as("stored-too")).toStream().to("four");
            l.join(r, v -> v, PLUS, Materialized.with(TEXTS, TEXTS)).mapValues(v -> v).toStream().to("five");
            l.join(r.filter((k, v) -> true), v -> v, PLUS).filter((k, v) -> true).join(r, PLUS).toStream().to("six");
            l.join(l, v -> v, PLUS).toStream().to("seven");
        });
    }

    static void optimized(Map<String, Shape> shapes) {
        shapes.put("one key, many aggregates", b -> {
            KStream<String, String> s = rekeyed(b, "in");
            s.groupByKey().count(Materialized.as("counts")).toStream().to("one", Produced.with(TEXTS, Serdes.Long()));
            s.mapValues(v -> v).groupByKey().reduce((x, y) -> y).toStream().to("two");
            s.filter((k, v) -> true).groupByKey(GROUPED.withName("third")).windowedBy(TUMBLING).count();
            s.join(stream(b, "other"), PLUS, NEAR).to("three");
        });
        shapes.put("one key, values before the group", b -> {
            KStream<String, String> s = stream(b, "in").map(KeyValue::pair);
            s.filter((k, v) -> true).groupByKey(GROUPED).count().toStream().to("one", Produced.with(TEXTS, Serdes.Long()));
            s.peek((k, v) -> { }).groupByKey(GROUPED).aggregate(() -> "", (k, v, a) -> a, Materialized.with(TEXTS, TEXTS)).toStream().to("two");
            s.process(Shapes.Pass::new).to("three");
        });
        shapes.put("a merge of two keys", b -> {
            KStream<String, String> m = rekeyed(b, "a").merge(rekeyed(b, "b"));
            m.groupByKey(GROUPED).count().toStream().to("one", Produced.with(TEXTS, Serdes.Long()));
            m.groupByKey(GROUPED).reduce((x, y) -> y).toStream().to("two");
        });
        shapes.put("a merge of a key and a plain stream", b -> {
            KStream<String, String> m = rekeyed(b, "a").merge(stream(b, "b"));
            m.groupByKey(GROUPED).count();
            m.groupByKey(GROUPED).reduce((x, y) -> y);
        });
        shapes.put("two keys after each other", b -> {
            KStream<String, String> s = rekeyed(b, "in");
            s.groupByKey(GROUPED).count();
            KStream<String, String> again = s.selectKey((k, v) -> k);
            again.groupByKey(GROUPED).count();
            again.groupBy((k, v) -> v, GROUPED).count();
        });
        shapes.put("joins behind one key", b -> {
            KStream<String, String> s = rekeyed(b, "in");
            s.join(stream(b, "r"), PLUS, NEAR).to("one");
            s.leftJoin(table(b, "t"), PLUS).to("two");
            s.toTable().toStream().to("three");
        });
        shapes.put("a reused source topic", b -> {
            table(b, "in").filter((k, v) -> true, Materialized.as("kept")).toStream().to("out");
            KTable<String, String> t = b.table("other", TEXT, Materialized.as("store"));
            t.join(table(b, "third"), PLUS).toStream().to("joined");
        });
    }
}
