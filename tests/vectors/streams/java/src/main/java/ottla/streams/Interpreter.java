// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.*;
import org.apache.kafka.streams.state.Stores;

/** Builds the topology of a case, step by step. Keys are strings, values strings or (counts) longs. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Interpreter {
    private final StreamsBuilder builder = new StreamsBuilder();
    private final Map<String, Object> made = new HashMap<>();
    private static final Serde<String> STRING = Serdes.String();

    Topology build(JsonNode steps, String optimization) {
        for (JsonNode step : steps) {
            Object result = run(step);
            if (step.has("id")) made.put(step.get("id").asText(), result);
        }
        Properties config = new Properties();
        config.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, optimization);
        return builder.build(config);
    }

    private static String text(JsonNode step, String field) {
        return step.has(field) ? step.get(field).asText() : null;
    }

    private static Duration time(JsonNode step, String field) {
        return Duration.ofMillis(step.get(field).asLong());
    }

    private <T> T from(JsonNode step, String field) {
        return (T) made.get(step.get(field).asText());
    }

    private static Named named(JsonNode step) {
        return step.has("named") ? Named.as(step.get("named").asText()) : null;
    }

    private static Serde serde(JsonNode step) {
        return "long".equals(text(step, "value")) ? Serdes.Long() : STRING;
    }

    private Materialized materialized(JsonNode step, Serde value) {
        Materialized given;
        if (step.has("versioned")) {
            given = Materialized.as(Stores.persistentVersionedKeyValueStore(text(step, "store"), time(step, "versioned")));
        } else {
            given = step.has("store") ? Materialized.as(text(step, "store")) : Materialized.with(null, null);
        }
        given = given.withKeySerde(STRING).withValueSerde(value);
        if (step.has("retention")) given = given.withRetention(time(step, "retention"));
        return given;
    }

    private static Grouped grouped(JsonNode step) {
        Grouped grouped = Grouped.with(STRING, serde(step));
        return step.has("named") ? grouped.withName(step.get("named").asText()) : grouped;
    }

    private Object run(JsonNode step) {
        String op = step.get("op").asText();
        if (op.startsWith("table_")) return runTable(op, step);
        switch (op) {
            case "stream": {
                Consumed consumed = Consumed.with(STRING, serde(step));
                if (step.has("named")) consumed = consumed.withName(text(step, "named"));
                if (step.has("time")) consumed = consumed.withTimestampExtractor(extractor(text(step, "time")));
                return builder.stream(text(step, "topic"), consumed);
            }
            case "table": {
                Consumed consumed = Consumed.with(STRING, STRING);
                if (step.has("named")) consumed = consumed.withName(text(step, "named"));
                return step.has("store")
                    ? builder.table(text(step, "topic"), consumed, materialized(step, STRING))
                    : builder.table(text(step, "topic"), consumed);
            }
            case "global_table":
                return step.has("store")
                    ? builder.globalTable(text(step, "topic"), Consumed.with(STRING, STRING), materialized(step, STRING))
                    : builder.globalTable(text(step, "topic"), Consumed.with(STRING, STRING));
            case "count": case "reduce": case "aggregate":
                return aggregate(op, step);
            default:
                return runStream(op, step);
        }
    }

    private static TimestampExtractor extractor(String name) {
        switch (name) {
            case "fail": return new FailOnInvalidTimestamp();
            case "skip": return new LogAndSkipOnInvalidTimestamp();
            case "partition": return new UsePartitionTimeOnInvalidTimestamp();
            case "clock": return new WallclockTimestampExtractor();
            default: return (record, partitionTime) -> {
                String[] parts = Functions.shown(record.value()).split(":");
                return parts.length < 2 ? partitionTime : Long.parseLong(parts[1]);
            };
        }
    }

    private Object runStream(String op, JsonNode step) {
        Object source = from(step, "from");
        String f = text(step, "f");
        Named named = named(step);
        if (source instanceof KStream) {
            KStream<String, Object> stream = (KStream<String, Object>) source;
            switch (op) {
                case "filter": return named == null ? stream.filter((k, v) -> Functions.test(f, k, v)) : stream.filter((k, v) -> Functions.test(f, k, v), named);
                case "filter_not": return stream.filterNot((k, v) -> Functions.test(f, k, v));
                case "map": return stream.map((k, v) -> Functions.pair(f, k, v));
                case "map_values": return named == null ? stream.mapValues((k, v) -> Functions.value(f, k, v)) : stream.mapValues((k, v) -> Functions.value(f, k, v), named);
                case "flat_map": return stream.flatMap((k, v) -> Functions.parts(v).stream().map(p -> org.apache.kafka.streams.KeyValue.pair(p, k)).toList());
                case "flat_map_values": return stream.flatMapValues(v -> Functions.parts(v));
                case "select_key": return named == null ? stream.selectKey((k, v) -> Functions.key(f, k, v)) : stream.selectKey((k, v) -> Functions.key(f, k, v), named);
                case "peek": return stream.peek((k, v) -> { });
                case "merge": return stream.merge(from(step, "other"));
                case "repartition": {
                    Repartitioned r = Repartitioned.with(STRING, serde(step));
                    return stream.repartition(step.has("named") ? r.withName(text(step, "named")) : r);
                }
                case "to_table":
                    return step.has("store")
                        ? stream.toTable(materialized(step, STRING))
                        : stream.toTable(Materialized.with(STRING, (Serde) STRING));
                case "to":
                    stream.to(text(step, "topic"), Produced.with(STRING, "picky".equals(text(step, "value")) ? (Serde) Handlers.picky() : serde(step)));
                    return null;
                case "to_dynamic":
                    stream.to((k, v, c) -> "out-" + k, Produced.with(STRING, serde(step)));
                    return null;
                case "group_by": return stream.groupBy((k, v) -> Functions.key(f, k, v), grouped(step));
                case "group_by_key": return stream.groupByKey(grouped(step));
                case "branch": {
                    BranchedKStream<String, Object> branched = named == null ? stream.split() : stream.split(named);
                    for (JsonNode predicate : step.get("predicates")) {
                        branched = branched.branch((k, v) -> Functions.test(predicate.asText(), k, v));
                    }
                    Map<String, KStream<String, Object>> streams = branched.defaultBranch();
                    streams.forEach((name, one) -> made.put(step.get("id").asText() + name.charAt(name.length() - 1), one));
                    return null;
                }
                case "stream_join": return streamJoin(step, stream);
                case "join": case "left_join": return tableJoin(op, step, stream);
                case "process": return stream.process(() -> new Punctual(step), step.has("stores") ? stores(step) : new String[0]);
                case "scripted": {
                    builder.addStateStore(Scripted.builder(step));
                    return stream.process(() -> new Scripted(step), Scripted.NAME);
                }
                case "process_values": return stream.processValues(() -> new Punctual.FixedKey());
                default: throw new IllegalArgumentException(op);
            }
        }
        return window(op, step, source);
    }

    private String[] stores(JsonNode step) {
        String name = step.get("stores").asText();
        builder.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), STRING, STRING));
        return new String[] {name};
    }

    private Object window(String op, JsonNode step, Object source) {
        switch (op) {
            case "cogroup":
                if (source instanceof CogroupedKStream) {
                    return ((CogroupedKStream) source).cogroup((KGroupedStream) from(step, "other"), (k, v, a) -> Functions.add("append", v, (String) a));
                }
                return ((KGroupedStream) source).cogroup((k, v, a) -> Functions.add("append", v, (String) a));
            case "windowed": {
                Object windowed;
                Object windows = windows(step);
                if (source instanceof CogroupedKStream) {
                    CogroupedKStream g = (CogroupedKStream) source;
                    return windows instanceof SlidingWindows ? g.windowedBy((SlidingWindows) windows)
                        : windows instanceof SessionWindows ? g.windowedBy((SessionWindows) windows) : g.windowedBy((Windows) windows);
                }
                KGroupedStream g = (KGroupedStream) source;
                if (windows instanceof SlidingWindows) windowed = g.windowedBy((SlidingWindows) windows);
                else if (windows instanceof SessionWindows) windowed = g.windowedBy((SessionWindows) windows);
                else windowed = g.windowedBy((Windows) windows);
                if (step.has("on_close")) {
                    if (windowed instanceof SessionWindowedKStream) ((SessionWindowedKStream) windowed).emitStrategy(EmitStrategy.onWindowClose());
                    else ((TimeWindowedKStream) windowed).emitStrategy(EmitStrategy.onWindowClose());
                }
                return windowed;
            }
            default: throw new IllegalArgumentException(op);
        }
    }

    private static Object windows(JsonNode step) {
        Duration grace = step.has("grace") ? time(step, "grace") : Duration.ZERO;
        switch (step.get("kind").asText()) {
            case "time": {
                TimeWindows windows = TimeWindows.ofSizeAndGrace(time(step, "size"), grace);
                return step.has("advance") ? windows.advanceBy(time(step, "advance")) : windows;
            }
            case "sliding": return SlidingWindows.ofTimeDifferenceAndGrace(time(step, "size"), grace);
            case "session": return SessionWindows.ofInactivityGapAndGrace(time(step, "size"), grace);
            case "unlimited": return UnlimitedWindows.of().startOn(java.time.Instant.ofEpochMilli(step.get("size").asLong()));
            default: throw new IllegalArgumentException();
        }
    }

    private Object aggregate(String op, JsonNode step) {
        Object source = from(step, "from");
        boolean isCount = op.equals("count");
        Materialized m = step.has("store") || !isCount ? materialized(step, isCount ? Serdes.Long() : STRING) : null;
        Initializer<String> zero = () -> "";
        String f = step.has("f") ? text(step, "f") : "append";
        Aggregator<String, Object, String> add = (k, v, a) -> Functions.add(f, v, a);
        Merger<String, String> merge = (k, a, b) -> a + "&" + b;
        Reducer<String> concat = (a, b) -> a + Functions.shown(b);
        Named named = named(step) == null ? Named.as("x") : named(step);
        if (source instanceof KGroupedStream) {
            KGroupedStream g = (KGroupedStream) source;
            if (isCount) return m == null ? (step.has("named") ? g.count(named) : g.count()) : g.count(m);
            return op.equals("reduce") ? g.reduce((Reducer) concat, m) : g.aggregate(zero, add, m);
        }
        if (source instanceof KGroupedTable) {
            KGroupedTable g = (KGroupedTable) source;
            if (isCount) return m == null ? (step.has("named") ? g.count(named) : g.count()) : g.count(m);
            Reducer<String> less = (a, b) -> a + "-" + b;
            Aggregator<String, Object, String> subtract = (k, v, a) -> Functions.subtract(v, a);
            return op.equals("reduce") ? g.reduce((Reducer) concat, (Reducer) less, m) : g.aggregate(zero, add, subtract, m);
        }
        if (source instanceof TimeWindowedKStream) {
            TimeWindowedKStream g = (TimeWindowedKStream) source;
            if (isCount) return m == null ? g.count() : g.count(m);
            return op.equals("reduce") ? g.reduce((Reducer) concat, m) : g.aggregate(zero, add, m);
        }
        if (source instanceof SessionWindowedKStream) {
            SessionWindowedKStream g = (SessionWindowedKStream) source;
            if (isCount) return m == null ? g.count() : g.count(m);
            return op.equals("reduce") ? g.reduce((Reducer) concat, m) : g.aggregate(zero, add, merge, m);
        }
        if (source instanceof CogroupedKStream) {
            return step.has("named") ? ((CogroupedKStream) source).aggregate(zero, named, m) : ((CogroupedKStream) source).aggregate(zero, m);
        }
        if (source instanceof TimeWindowedCogroupedKStream) return ((TimeWindowedCogroupedKStream) source).aggregate(zero, m);
        return ((SessionWindowedCogroupedKStream) source).aggregate(zero, merge, m);
    }

    private Object streamJoin(JsonNode step, KStream<String, Object> left) {
        KStream<String, Object> right = from(step, "other");
        Duration grace = step.has("grace") ? time(step, "grace") : Duration.ZERO;
        JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(time(step, "size"), grace);
        if (step.has("before")) windows = windows.before(time(step, "before"));
        if (step.has("after")) windows = windows.after(time(step, "after"));
        StreamJoined joined = StreamJoined.with(STRING, (Serde) STRING, (Serde) STRING);
        if (step.has("named")) joined = joined.withName(text(step, "named"));
        if (step.has("store")) joined = joined.withStoreName(text(step, "store"));
        ValueJoiner<Object, Object, Object> plus = (l, r) -> Functions.shown(l) + "+" + Functions.shown(r);
        switch (step.get("kind").asText()) {
            case "inner": return left.join(right, plus, windows, joined);
            case "left": return left.leftJoin(right, plus, windows, joined);
            default: return left.outerJoin(right, plus, windows, joined);
        }
    }

    private Object tableJoin(String op, JsonNode step, KStream<String, Object> stream) {
        Object other = from(step, "other");
        ValueJoiner<Object, Object, Object> plus = (l, r) -> Functions.shown(l) + "+" + Functions.shown(r);
        if (other instanceof GlobalKTable) {
            KeyValueMapper<String, Object, String> mapper = (k, v) -> Functions.key(text(step, "f"), k, v);
            return op.equals("join") ? stream.join((GlobalKTable) other, mapper, plus) : stream.leftJoin((GlobalKTable) other, mapper, plus);
        }
        Joined joined = Joined.with(STRING, (Serde) STRING, (Serde) STRING);
        if (step.has("named")) joined = joined.withName(text(step, "named"));
        if (step.has("grace")) joined = joined.withGracePeriod(time(step, "grace"));
        return op.equals("join") ? stream.join((KTable) other, plus, joined) : stream.leftJoin((KTable) other, plus, joined);
    }

    private Object runTable(String op, JsonNode step) {
        KTable<Object, Object> table = from(step, "from");
        String f = text(step, "f");
        ValueJoiner<Object, Object, Object> plus = (l, r) -> Functions.shown(l) + "+" + Functions.shown(r);
        Materialized m = step.has("store") ? materialized(step, serde(step)) : null;
        switch (op) {
            case "table_filter": return m == null ? table.filter((k, v) -> Functions.test(f, k.toString(), v)) : table.filter((k, v) -> Functions.test(f, k.toString(), v), m);
            case "table_filter_not": return table.filterNot((k, v) -> Functions.test(f, k.toString(), v));
            case "table_map_values": return m == null ? table.mapValues((k, v) -> Functions.value(f, k, v)) : table.mapValues((k, v) -> Functions.value(f, k, v), m);
            case "table_to_stream": return table.toStream();
            case "table_to_windowed":
                return table.toStream((k, v) -> {
                    Windowed<Object> w = (Windowed<Object>) k;
                    return w.key() + "@" + w.window().start() + "/" + w.window().end();
                });
            case "table_suppress": {
                Suppressed<Object> s;
                if (step.has("until_close")) s = (Suppressed) Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded());
                else if (step.has("full")) s = Suppressed.untilTimeLimit(time(step, "wait"), (Suppressed.BufferConfig) Suppressed.BufferConfig.maxRecords(step.get("full").asLong()).shutDownWhenFull());
                else if (step.has("bytes")) s = Suppressed.untilTimeLimit(time(step, "wait"), Suppressed.BufferConfig.maxBytes(step.get("bytes").asLong()));
                else if (step.has("records")) s = Suppressed.untilTimeLimit(time(step, "wait"), Suppressed.BufferConfig.maxRecords(step.get("records").asLong()));
                else s = Suppressed.untilTimeLimit(time(step, "wait"), Suppressed.BufferConfig.unbounded());
                return table.suppress(step.has("named") ? s.withName(text(step, "named")) : s);
            }
            case "table_group_by": return table.groupBy((k, v) -> Functions.pair(f, k.toString(), v), grouped(step));
            case "table_join": {
                KTable<Object, Object> other = from(step, "other");
                Named named = named(step);
                switch (step.get("kind").asText()) {
                    case "inner": return m != null ? table.join(other, plus, m) : named != null ? table.join(other, plus, named) : table.join(other, plus);
                    case "left": return m != null ? table.leftJoin(other, plus, m) : table.leftJoin(other, plus);
                    default: return m != null ? table.outerJoin(other, plus, m) : table.outerJoin(other, plus);
                }
            }
            case "table_foreign_join": {
                KTable<Object, Object> other = from(step, "other");
                java.util.function.Function<Object, Object> key = v -> Functions.key(f, null, v);
                Materialized result = m == null ? Materialized.with(STRING, STRING) : m;
                if (step.has("named")) {
                    return table.join(other, key, plus, TableJoined.as(text(step, "named")), result);
                }
                return step.get("kind").asText().equals("inner") ? table.join(other, key, plus, result) : table.leftJoin(other, key, plus, result);
            }
            default: throw new IllegalArgumentException(op);
        }
    }
}
