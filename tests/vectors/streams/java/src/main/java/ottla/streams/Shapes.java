// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import static ottla.streams.Shape.*;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;

/** Topologies whose descriptions are recorded; shape.py builds the same ones. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Shapes {
    private Shapes() {}

    static final class Pass extends ContextualProcessor<String, String, String, String> {
        @Override public void process(Record<String, String> record) { context().forward(record); }
    }

    static final class PassValue extends ContextualFixedKeyProcessor<String, String, String> {
        @Override public void process(FixedKeyRecord<String, String> record) { context().forward(record); }
    }

    static KStream<String, String> rekeyed(StreamsBuilder b, String topic) {
        return stream(b, topic).selectKey((k, v) -> v);
    }

    static void streams(Map<String, Shape> shapes) {
        shapes.put("named steps", b -> {
            KStream<String, String> s = b.stream("in", TEXT.withName("source"));
            s = s.filter((k, v) -> true, Named.as("kept")).filterNot((k, v) -> false, Named.as("not-dropped"));
            s = s.map(KeyValue::pair, Named.as("mapped")).mapValues(v -> v, Named.as("valued"));
            s = s.flatMap((k, v) -> List.of(KeyValue.pair(k, v)), Named.as("flat")).flatMapValues(v -> List.of(v), Named.as("flat-valued"));
            s = s.selectKey((k, v) -> k, Named.as("keyed")).peek((k, v) -> { }, Named.as("seen"));
            s.print(Printed.<String, String>toSysOut().withName("printed"));
            s.foreach((k, v) -> { }, Named.as("each"));
            s.to("out", Produced.<String, String>as("sink"));
        });
        shapes.put("steps without names", b -> {
            KStream<String, String> s = stream(b, "in");
            s.filter((k, v) -> true).filterNot((k, v) -> false).map(KeyValue::pair).mapValues(v -> v);
            s.flatMap((k, v) -> List.of(KeyValue.pair(k, v))).flatMapValues(v -> List.of(v)).selectKey((k, v) -> k).peek((k, v) -> { });
            s.print(Printed.toSysOut());
            s.foreach((k, v) -> { });
            s.to("out");
        });
        shapes.put("pattern and list of topics", b -> {
            b.stream(Pattern.compile("t-[a-z]+"), TEXT).to("one");
            b.stream(List.of("b", "a", "cc", "zz-top"), TEXT).to("two");
        });
        shapes.put("the same topic twice", b -> {
            stream(b, "in").filter((k, v) -> true).to("one");
            stream(b, "in").mapValues(v -> v).to("two");
        });
        shapes.put("the same pattern twice", b -> {
            b.stream(Pattern.compile("t.*"), TEXT).filter((k, v) -> true).to("one");
            b.stream(Pattern.compile("t.*"), TEXT).mapValues(v -> v).to("two");
        });
        shapes.put("the same list in another order", b -> {
            b.stream(List.of("a", "b"), TEXT).filter((k, v) -> true).to("one");
            b.stream(List.of("b", "a"), TEXT).mapValues(v -> v).to("two");
        });
        shapes.put("merge", b -> {
            KStream<String, String> s = stream(b, "a").merge(stream(b, "b"));
            s.merge(s.mapValues(v -> v), Named.as("merged")).to("out");
        });
        shapes.put("merge with itself", b -> {
            KStream<String, String> s = stream(b, "a");
            s.merge(s).to("out");
        });
        shapes.put("branches", b -> {
            Map<String, KStream<String, String>> found = stream(b, "in").split(Named.as("by-"))
                .branch((k, v) -> true, Branched.as("first")).branch((k, v) -> false)
                .branch((k, v) -> true, Branched.withFunction(s -> s.mapValues(v -> v), "mapped"))
                .branch((k, v) -> true, Branched.withConsumer(s -> s.to("consumed"), "eaten"))
                .defaultBranch(Branched.as("rest"));
            found.get("by-first").to("one");
            found.get("by-2").to("two");
            found.get("by-mapped").to("three");
            found.get("by-rest").to("four");
        });
        shapes.put("branches without names", b -> {
            Map<String, KStream<String, String>> found = stream(b, "in").split().branch((k, v) -> true).branch((k, v) -> false).defaultBranch();
            new java.util.TreeMap<>(found).forEach((name, s) -> s.to("to-" + name));
        });
        shapes.put("no default branch", b -> stream(b, "in").split().branch((k, v) -> true, Branched.withConsumer(s -> s.to("out"))).noDefaultBranch());
        shapes.put("default branch with a consumer", b -> stream(b, "in").split(Named.as("n")).branch((k, v) -> true)
            .defaultBranch(Branched.withConsumer(s -> s.mapValues(v -> v).to("out"), "-last")));
        shapes.put("processors", b -> {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("own"), TEXTS, TEXTS));
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("another"), TEXTS, TEXTS));
            KStream<String, String> s = stream(b, "in");
            s.process(Pass::new, "own").to("one");
            s.process(Pass::new, Named.as("mine"), "own", "another").processValues(PassValue::new, "another").to("two");
            s.processValues(PassValue::new, Named.as("fixed")).groupByKey().count().toStream().to("three");
            s.process(Pass::new).groupByKey(GROUPED).count();
        });
        shapes.put("repartition", b -> {
            KStream<String, String> s = stream(b, "in");
            s.repartition().to("one");
            s.repartition(Repartitioned.with(TEXTS, TEXTS).withName("again")).to("two");
            s.repartition(Repartitioned.<String, String>numberOfPartitions(3)).groupByKey().count();
            s.selectKey((k, v) -> v).repartition(Repartitioned.<String, String>as("x-repartition").withNumberOfPartitions(2)).to("three");
        });
        shapes.put("to_table", b -> {
            stream(b, "in").toTable().toStream().to("one");
            rekeyed(b, "other").toTable(Named.as("table")).toStream().to("two");
            rekeyed(b, "third").toTable(Materialized.as("stored")).toStream().to("three");
            rekeyed(b, "fourth").toTable().toStream().to("four");
        });
        shapes.put("global store", b -> {
            b.addGlobalStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("global"), TEXTS, TEXTS), "g", TEXT, NoResult::new);
            b.addGlobalStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("named"), TEXTS, TEXTS), "h", TEXT.withName("mine"), NoResult::new);
            stream(b, "in").to("out");
        });
    }

    static final class NoResult extends ContextualProcessor<String, String, Void, Void> {
        @Override public void process(Record<String, String> record) { }
    }

    static void aggregates(Map<String, Shape> shapes) {
        shapes.put("counts", b -> {
            KGroupedStream<String, String> g = stream(b, "in").groupByKey();
            g.count();
            g.count(Named.as("counted"));
            g.count(Materialized.as("stored"));
            g.count(Named.as("both"), Materialized.as("stored-too"));
            g.count(Materialized.with(TEXTS, Serdes.Long()));
        });
        shapes.put("counts behind another key", b -> {
            KGroupedStream<String, String> g = stream(b, "in").groupBy((k, v) -> v);
            g.count();
            g.count(Named.as("counted"));
            g.count(Materialized.as("stored"));
            g.reduce((x, y) -> y);
            g.aggregate(() -> "", (k, v, a) -> a);
        });
        shapes.put("counts behind another key with a name", b -> {
            KGroupedStream<String, String> g = stream(b, "in").groupBy((k, v) -> v, GROUPED.withName("grouped"));
            g.count();
            g.reduce((x, y) -> y, Named.as("reduced"), Materialized.as("reduced-store"));
            g.windowedBy(TUMBLING).count();
        });
        shapes.put("group_by_key behind another key", b -> {
            rekeyed(b, "in").groupByKey(GROUPED.withName("grouped")).count();
            rekeyed(b, "in").mapValues(v -> v).groupByKey().count();
        });
        shapes.put("windows", b -> {
            KGroupedStream<String, String> g = rekeyed(b, "in").groupByKey();
            g.windowedBy(TUMBLING).count();
            g.windowedBy(TUMBLING).count(Named.as("named"));
            g.windowedBy(TUMBLING).count(Materialized.as("stored"));
            g.windowedBy(TUMBLING).reduce((x, y) -> y, Named.as("reduced"));
            g.windowedBy(TUMBLING).aggregate(() -> "", (k, v, a) -> a);
            g.windowedBy(SLIDING).count();
            g.windowedBy(SLIDING).reduce((x, y) -> y);
            g.windowedBy(SLIDING).aggregate(() -> "", (k, v, a) -> a, Named.as("slid"));
            g.windowedBy(SESSIONS).count();
            g.windowedBy(SESSIONS).reduce((x, y) -> y);
            g.windowedBy(SESSIONS).aggregate(() -> "", (k, v, a) -> a, (k, x, y) -> x, Named.as("sat"));
        });
        shapes.put("windows with anonymous stores", b -> {
            KGroupedStream<String, String> g = stream(b, "in").groupByKey();
            g.windowedBy(TUMBLING).count(Materialized.with(TEXTS, Serdes.Long()));
            g.windowedBy(SLIDING).count(Materialized.with(TEXTS, Serdes.Long()));
            g.windowedBy(SESSIONS).count(Materialized.with(TEXTS, Serdes.Long()));
            g.windowedBy(TUMBLING).reduce((x, y) -> y, Materialized.with(TEXTS, TEXTS));
            g.windowedBy(SLIDING).aggregate(() -> "", (k, v, a) -> a, Materialized.with(TEXTS, TEXTS));
            g.windowedBy(SESSIONS).aggregate(() -> "", (k, v, a) -> a, (k, x, y) -> x, Materialized.with(TEXTS, TEXTS));
        });
        shapes.put("cogroup", b -> {
            KGroupedStream<String, String> one = stream(b, "a").groupByKey();
            KGroupedStream<String, String> two = rekeyed(b, "b").groupByKey();
            KGroupedStream<String, String> three = stream(b, "c").groupBy((k, v) -> v, GROUPED.withName("third"));
            CogroupedKStream<String, String> c = one.<String>cogroup((k, v, a) -> a).cogroup(two, (k, v, a) -> a).cogroup(three, (k, v, a) -> a);
            c.aggregate(() -> "").toStream().to("out");
        });
        shapes.put("cogroup with names", b -> {
            KGroupedStream<String, String> one = rekeyed(b, "a").groupByKey();
            KGroupedStream<String, String> two = rekeyed(b, "b").groupByKey();
            one.<String>cogroup((k, v, a) -> a).cogroup(two, (k, v, a) -> a).aggregate(() -> "", Named.as("all"), Materialized.as("stored"));
        });
        shapes.put("cogroup twice", b -> {
            KGroupedStream<String, String> one = rekeyed(b, "a").groupByKey(GROUPED.withName("first"));
            KGroupedStream<String, String> two = rekeyed(b, "b").groupByKey(GROUPED.withName("second"));
            CogroupedKStream<String, String> c = one.<String>cogroup((k, v, a) -> a).cogroup(two, (k, v, a) -> a);
            c.aggregate(() -> "");
            c.windowedBy(TUMBLING).aggregate(() -> "");
        });
        shapes.put("cogroup in windows", b -> {
            KGroupedStream<String, String> one = stream(b, "a").groupByKey();
            KGroupedStream<String, String> two = stream(b, "b").groupByKey();
            CogroupedKStream<String, String> c = one.<String>cogroup((k, v, a) -> a).cogroup(two, (k, v, a) -> a);
            c.windowedBy(TUMBLING).aggregate(() -> "");
            c.windowedBy(SLIDING).aggregate(() -> "", Named.as("slid"));
            c.windowedBy(SESSIONS).aggregate(() -> "", (k, x, y) -> x, Materialized.as("sessions"));
        });
        shapes.put("cogroup of one stream", b -> {
            KGroupedStream<String, String> one = stream(b, "a").groupByKey();
            one.<String>cogroup((k, v, a) -> a).cogroup(one, (k, v, a) -> a).aggregate(() -> "");
        });
    }
}
