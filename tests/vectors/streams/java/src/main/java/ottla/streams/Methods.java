// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.*;
import org.apache.kafka.streams.state.*;

/** The public methods of what users of Kafka Streams call, by class; those that are deprecated are left out. */
final class Methods {
    private static final List<Class<?>> CLASSES = List.of(
        StreamsBuilder.class, Topology.class, KafkaStreams.class, KStream.class, KTable.class, KGroupedStream.class,
        KGroupedTable.class, TimeWindowedKStream.class, SessionWindowedKStream.class, CogroupedKStream.class,
        TimeWindowedCogroupedKStream.class, SessionWindowedCogroupedKStream.class, BranchedKStream.class, Branched.class,
        Consumed.class, Produced.class, Grouped.class, Joined.class, StreamJoined.class, TableJoined.class,
        Repartitioned.class, Materialized.class, Named.class, Suppressed.class, Suppressed.BufferConfig.class,
        EmitStrategy.class, TimeWindows.class, SlidingWindows.class, SessionWindows.class, UnlimitedWindows.class,
        JoinWindows.class, Processor.class, FixedKeyProcessor.class, ProcessorContext.class,
        FixedKeyProcessorContext.class, FixedKeyRecord.class, MockProcessorContext.class, WindowedSerdes.class, Printed.class,
        org.apache.kafka.streams.processor.api.Record.class, Stores.class, StoreBuilder.class, KeyValueStore.class,
        WindowStore.class, SessionStore.class, VersionedKeyValueStore.class, TopologyTestDriver.class,
        TestInputTopic.class, TestOutputTopic.class);

    static void write(Path path) throws Exception {
        ObjectMapper json = new ObjectMapper();
        ObjectNode found = json.createObjectNode();
        for (Class<?> one : CLASSES) {
            TreeSet<String> names = new TreeSet<>();
            for (Method method : one.getMethods()) {
                boolean isOfAll = method.getDeclaringClass() == Object.class || method.isSynthetic();
                if (!isOfAll && !method.isAnnotationPresent(Deprecated.class)) names.add(method.getName());
            }
            names.removeAll(Arrays.asList("equals", "hashCode", "toString", "wait", "notify", "notifyAll", "getClass"));
            found.set(one.getSimpleName(), json.valueToTree(names));
        }
        Files.writeString(path, json.writerWithDefaultPrettyPrinter().writeValueAsString(found) + "\n", StandardCharsets.UTF_8);
    }
}
