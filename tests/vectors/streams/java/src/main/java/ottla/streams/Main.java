// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.*;
import org.apache.kafka.streams.test.TestRecord;

/** Runs each case through the TopologyTestDriver and writes outputs, stores and description: `Main DIRECTORY`. */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        Methods.write(directory.resolve("methods.json"));
        JSON.writerWithDefaultPrettyPrinter().writeValue(directory.resolve("shapes.json").toFile(), Shape.described());
        JSON.writerWithDefaultPrettyPrinter().writeValue(directory.resolve("refusals.json").toFile(), Refusals.all());
        write(directory.resolve("cases.jsonl"), directory.resolve("recorded.jsonl"));
        write(directory.resolve("behaviour_cases.jsonl"), directory.resolve("behaviour_recorded.jsonl"));
    }

    private static void write(Path cases, Path recorded) throws Exception {
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(recorded, StandardCharsets.UTF_8))) {
            for (String line : Files.readAllLines(cases)) {
                JsonNode scenario = JSON.readTree(line);
                try {
                    out.println(JSON.writeValueAsString(record(scenario)));
                } catch (RuntimeException error) {
                    throw new IllegalStateException(scenario.get("name").asText(), error);
                }
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static ObjectNode record(JsonNode scenario) {
        Topology topology = new Interpreter().build(scenario.get("build"), scenario.path("optimization").asText("none"));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        config.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0L);
        config.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_OUTER_JOIN_SPURIOUS_RESULTS_FIX, 0L);
        config.put(StreamsConfig.STATE_DIR_CONFIG, "/tmp/ottla-streams-vectors-" + ProcessHandle.current().pid());
        Handlers.configure(config, scenario.get("config"));
        ObjectNode result = JSON.createObjectNode();
        result.put("name", scenario.get("name").asText());
        result.put("describe", topology.describe().toString());
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config, Instant.ofEpochMilli(0))) {
            int done = 0;
            try {
                for (JsonNode input : scenario.get("input")) {
                    pipe(driver, input);
                    done++;
                }
            } catch (RuntimeException error) {
                if (!scenario.has("config")) throw error;
                result.put("failed_at", done);
            }
            ObjectNode outputs = result.putObject("outputs");
            scenario.get("outputs").fields().forEachRemaining(entry -> {
                ArrayNode records = outputs.putArray(entry.getKey());
                boolean isLong = entry.getValue().asText().equals("long");
                Deserializer<Object> values = (Deserializer<Object>) (Deserializer<?>) (isLong ? new LongDeserializer() : new StringDeserializer());
                TestOutputTopic<String, Object> topic = driver.createOutputTopic(entry.getKey(), new StringDeserializer(), values);
                for (TestRecord<String, Object> one : topic.readRecordsToList()) {
                    ArrayNode written = records.addArray().add(one.key()).addPOJO(one.value()).add(one.timestamp());
                    if (scenario.has("config")) headers(written.addArray(), one);
                }
            });
            ObjectNode stores = result.putObject("stores");
            for (String name : new TreeSet<>(driver.getAllStateStores().keySet())) {
                ArrayNode content = content(driver, name);
                if (content != null) stores.set(name, content);
            }
        }
        return result;
    }

    private static void pipe(TopologyTestDriver driver, JsonNode input) {
        if (input.has("clock")) {
            driver.advanceWallClockTime(Duration.ofMillis(input.get("clock").asLong()));
            return;
        }
        RecordHeaders headers = new RecordHeaders();
        if (input.has(4)) headers.add("from", input.get(4).asText().getBytes(StandardCharsets.UTF_8));
        driver.createInputTopic(input.get(0).asText(), new StringSerializer(), new StringSerializer())
            .pipeInput(new TestRecord<>(input.get(1).asText(null), input.get(2).asText(null), headers, input.get(3).asLong()));
    }

    /** Names and values; of what depends on the language, the name. */
    private static void headers(ArrayNode shown, TestRecord<?, ?> record) {
        for (Header header : record.headers()) {
            String name = header.key();
            boolean isOfLanguage = name.matches("__streams.errors.(exception|stacktrace|message).*");
            shown.add(isOfLanguage ? name : name + "=" + (header.value() == null ? "~" : new String(header.value(), StandardCharsets.UTF_8)));
        }
    }

    private static ArrayNode content(TopologyTestDriver driver, String name) {
        ArrayNode content = JSON.createArrayNode();
        StateStore store = driver.getAllStateStores().get(name);
        if (store instanceof VersionedKeyValueStore) return null;
        if (store instanceof SessionStore) {
            return content;
        } else if (store instanceof WindowStore) {
            WindowStore<Object, Object> windows = driver.getWindowStore(name);
            if (windows == null) return null;
            try (var all = windows.all()) {
                all.forEachRemaining(e -> content.addArray().add(e.key.key() + "@" + e.key.window().start()).addPOJO(shown(e.value)));
            }
        } else if (store instanceof KeyValueStore) {
            try {
                KeyValueStore<Object, Object> pairs = driver.getKeyValueStore(name);
                if (pairs == null) return null;
                try (var all = pairs.all()) {
                    while (all.hasNext()) {
                        var e = all.next();
                        if (!(e.key instanceof String)) return null;
                        content.addArray().add(e.key.toString()).addPOJO(shown(e.value));
                    }
                }
            } catch (ClassCastException notOfStrings) {
                return null;
            }
        } else {
            return null;
        }
        return content;
    }

    private static Object shown(Object value) {
        return value instanceof Long ? value : Functions.shown(value);
    }
}
