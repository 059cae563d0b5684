// SPDX-License-Identifier: Apache-2.0
package ottla.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.connector.Connector;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaProjector;
import org.apache.kafka.connect.data.Values;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.runtime.SinkConnectorConfig;
import org.apache.kafka.connect.runtime.SourceConnectorConfig;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Reads cases, a JSON object on each line, and writes them with the answers of Kafka Connect's classes. */
public final class Recorder {
    private Recorder() {
    }

    public static void main(String[] args) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        List<String> answered = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            ObjectNode asked = (ObjectNode) Notation.MAPPER.readTree(line);
            ObjectNode both = Notation.MAPPER.createObjectNode();
            both.set("case", asked);
            both.set("answer", answer(asked));
            answered.add(Notation.MAPPER.writeValueAsString(both));
        }
        Files.writeString(Path.of(args[1]), String.join("\n", answered) + "\n");
    }

    private static JsonNode answer(JsonNode asked) {
        ObjectNode made = Notation.MAPPER.createObjectNode();
        try {
            switch (asked.get("kind").asText()) {
                case "transform" -> made.set("record", transformed(asked));
                case "predicate" -> made.put("matches", matches(asked));
                case "to_connect" -> made.setAll(toConnect(asked));
                case "from_connect" -> made.put("bytes", hex(fromConnect(asked)));
                case "definition" -> made.set("keys", definition(asked));
                case "validation" -> made.set("values", validation(asked));
                case "check" -> made.put("fits", fits(asked));
                case "convert" -> made.set("value", Notation.shown(converted(asked)));
                case "project" -> made.set("value", Notation.shown(projected(asked)));
                case "infer" -> made.set("schema", Notation.shown(Values.inferSchema(Notation.value(null, asked.get("value")))));
                default -> throw new IllegalArgumentException(asked.toString());
            }
        } catch (InvocationTargetException e) {
            made.put("error", e.getCause().getClass().getName()).put("message", e.getCause().getMessage());
        } catch (Exception e) {
            made.removeAll();
            made.put("error", e.getClass().getName()).put("message", e.getMessage());
        }
        return made;
    }

    private static boolean fits(JsonNode asked) {
        Schema schema = Notation.schema(asked.get("schema"));
        ConnectSchema.validateValue(schema, Notation.value(schema, asked.get("value")));
        return true;
    }

    private static Object converted(JsonNode asked) throws Exception {
        Schema source = Notation.schema(asked.get("source"));
        Method convert = Values.class.getDeclaredMethod("convertTo", Schema.class, Schema.class, Object.class);
        convert.setAccessible(true);
        return convert.invoke(null, Notation.schema(asked.get("target")), source, Notation.value(source, asked.get("value")));
    }

    private static Object projected(JsonNode asked) {
        Schema source = Notation.schema(asked.get("source"));
        return SchemaProjector.project(source, Notation.value(source, asked.get("value")), Notation.schema(asked.get("target")));
    }

    private static Object made(JsonNode asked) throws Exception {
        return Class.forName(asked.get("class").asText()).getDeclaredConstructor().newInstance();
    }

    private static Map<String, String> settings(JsonNode asked) {
        Map<String, String> made = new HashMap<>();
        asked.path("config").properties().forEach(e ->
                made.put(e.getKey(), e.getValue().isNull() ? null : e.getValue().asText()));
        return made;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static JsonNode transformed(JsonNode asked) throws Exception {
        try (Transformation transform = (Transformation) made(asked)) {
            transform.configure(settings(asked));
            return shown(transform.apply(record(asked.get("record"))));
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static boolean matches(JsonNode asked) throws Exception {
        try (Predicate predicate = (Predicate) made(asked)) {
            predicate.configure(settings(asked));
            return predicate.test(record(asked.get("record")));
        }
    }

    private static ConnectRecord<?> record(JsonNode node) {
        Schema keySchema = Notation.schema(node.get("key_schema"));
        Schema valueSchema = Notation.schema(node.get("value_schema"));
        Object key = Notation.value(keySchema, node.get("key"));
        Object value = Notation.value(valueSchema, node.get("value"));
        Integer partition = node.hasNonNull("partition") ? node.get("partition").intValue() : null;
        Long timestamp = node.hasNonNull("timestamp") ? node.get("timestamp").longValue() : null;
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : node.path("headers")) {
            Schema schema = Notation.schema(header.get("schema"));
            headers.add(header.get("key").asText(), new SchemaAndValue(schema, Notation.value(schema, header.get("value"))));
        }
        String topic = node.get("topic").asText();
        if (node.has("offset")) {
            return new SinkRecord(topic, partition == null ? 0 : partition, keySchema, key, valueSchema, value,
                    node.get("offset").longValue(), timestamp, TimestampType.CREATE_TIME, headers);
        }
        return new SourceRecord(Map.of(), Map.of(), topic, partition, keySchema, key, valueSchema, value, timestamp, headers);
    }

    private static JsonNode shown(ConnectRecord<?> record) {
        if (record == null) {
            return Notation.MAPPER.nullNode();
        }
        ObjectNode made = Notation.MAPPER.createObjectNode().put("topic", record.topic());
        made.put("partition", record.kafkaPartition()).put("timestamp", record.timestamp());
        made.set("key_schema", Notation.shown(record.keySchema()));
        made.set("key", Notation.shown(record.key()));
        made.set("value_schema", Notation.shown(record.valueSchema()));
        made.set("value", Notation.shown(record.value()));
        ArrayNode headers = made.putArray("headers");
        for (Header header : record.headers()) {
            ObjectNode shown = headers.addObject().put("key", header.key());
            shown.set("schema", Notation.shown(header.schema()));
            shown.set("value", Notation.shown(header.value()));
        }
        return made;
    }

    private static ObjectNode toConnect(JsonNode asked) throws Exception {
        Object converter = made(asked);
        byte[] data = asked.get("bytes").isNull() ? null : HexFormat.of().parseHex(asked.get("bytes").asText());
        SchemaAndValue found = converter instanceof Converter plain
                ? configured(plain, asked).toConnectData("topic", data)
                : ((HeaderConverter) converter).toConnectHeader("topic", "header", data);
        ObjectNode made = Notation.MAPPER.createObjectNode();
        made.set("schema", Notation.shown(found == null ? null : found.schema()));
        made.set("value", Notation.shown(found == null ? null : found.value()));
        return made;
    }

    private static byte[] fromConnect(JsonNode asked) throws Exception {
        Object converter = made(asked);
        Schema schema = Notation.schema(asked.get("schema"));
        Object value = Notation.value(schema, asked.get("value"));
        return converter instanceof Converter plain
                ? configured(plain, asked).fromConnectData("topic", schema, value)
                : ((HeaderConverter) converter).fromConnectHeader("topic", "header", schema, value);
    }

    private static Converter configured(Converter converter, JsonNode asked) {
        converter.configure(settings(asked), false);
        return converter;
    }

    private static String hex(byte[] data) {
        return data == null ? null : HexFormat.of().formatHex(data);
    }

    private static ConfigDef configDef(JsonNode asked) throws Exception {
        switch (asked.get("class").asText()) {
            case "sink" -> {
                return SinkConnectorConfig.configDef();
            }
            case "source" -> {
                return SourceConnectorConfig.configDef();
            }
            default -> {
                Object owner = made(asked);
                if (owner instanceof Transformation<?> transform) {
                    return transform.config();
                } else if (owner instanceof Predicate<?> predicate) {
                    return predicate.config();
                } else if (owner instanceof Connector connector) {
                    return connector.config();
                } else if (owner instanceof Converter converter) {
                    return converter.config();
                }
                return ((HeaderConverter) owner).config();
            }
        }
    }

    private static JsonNode definition(JsonNode asked) throws Exception {
        ArrayNode made = Notation.MAPPER.createArrayNode();
        for (ConfigDef.ConfigKey key : configDef(asked).configKeys().values()) {
            made.addObject()
                    .put("name", key.name)
                    .put("type", key.type.name())
                    .put("required", !key.hasDefault())
                    .put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null)
                    .put("importance", key.importance.name())
                    .put("group", key.group)
                    .put("order", key.orderInGroup)
                    .put("width", key.width.name())
                    .put("display", key.displayName);
        }
        return made;
    }

    private static JsonNode validation(JsonNode asked) throws Exception {
        ConfigDef definition = configDef(asked);
        ArrayNode made = Notation.MAPPER.createArrayNode();
        for (ConfigValue value : definition.validate(settings(asked))) {
            ObjectNode shown = made.addObject().put("name", value.name());
            shown.put("value", ConfigDef.convertToString(value.value(), definition.configKeys().get(value.name()).type));
            shown.set("errors", Notation.MAPPER.valueToTree(value.errorMessages()));
        }
        return made;
    }
}
