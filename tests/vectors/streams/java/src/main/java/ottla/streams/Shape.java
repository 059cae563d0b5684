// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.TopologyException;
import org.apache.kafka.streams.kstream.*;

/** A topology whose description is recorded, without optimization and with each. */
@FunctionalInterface
interface Shape {
    Serde<String> TEXTS = Serdes.String();
    Consumed<String, String> TEXT = Consumed.with(TEXTS, TEXTS);
    Grouped<String, String> GROUPED = Grouped.with(TEXTS, TEXTS);
    TimeWindows TUMBLING = TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(10));
    SlidingWindows SLIDING = SlidingWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(10));
    SessionWindows SESSIONS = SessionWindows.ofInactivityGapWithNoGrace(Duration.ofMillis(10));
    JoinWindows NEAR = JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(10));

    String[] OPTIMIZATIONS = {"none", "all", "reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join"};

    void build(StreamsBuilder builder);

    static KStream<String, String> stream(StreamsBuilder b, String topic) {
        return b.stream(topic, Consumed.with(TEXTS, TEXTS));
    }

    static KTable<String, String> table(StreamsBuilder b, String topic) {
        return b.table(topic, Consumed.with(TEXTS, TEXTS));
    }

    /** The texts by optimization; those that are as without one are left out. */
    static Map<String, Map<String, String>> described() {
        Map<String, Map<String, String>> described = new LinkedHashMap<>();
        all().forEach((name, shape) -> {
            Map<String, String> texts = new LinkedHashMap<>();
            for (String optimization : OPTIMIZATIONS) {
                String text = shape.described(optimization);
                if (texts.isEmpty() || !text.equals(texts.get("none"))) texts.put(optimization, text);
            }
            described.put(name, texts);
        });
        return described;
    }

    private String described(String optimization) {
        Properties config = new Properties();
        config.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, optimization);
        try {
            StreamsBuilder builder = new StreamsBuilder();
            build(builder);
            return builder.build(config).describe().toString();
        } catch (TopologyException refused) {
            return refused.getMessage();
        }
    }

    private static Map<String, Shape> all() {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        Shapes.streams(shapes);
        Shapes.aggregates(shapes);
        TableShapes.tables(shapes);
        TableShapes.joins(shapes);
        TableShapes.optimized(shapes);
        return shapes;
    }
}
