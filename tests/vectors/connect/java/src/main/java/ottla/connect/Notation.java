// SPDX-License-Identifier: Apache-2.0
package ottla.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Values and schemas as JSON that keeps their Java types; tests/vectors/connect/notation.py is its twin. */
final class Notation {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private Notation() {
    }

    static Schema schema(JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        Schema.Type type = Schema.Type.valueOf(node.get("type").asText());
        SchemaBuilder builder = switch (type) {
            case ARRAY -> SchemaBuilder.array(schema(node.get("values")));
            case MAP -> SchemaBuilder.map(schema(node.get("keys")), schema(node.get("values")));
            default -> new SchemaBuilder(type);
        };
        if (type == Schema.Type.STRUCT) {
            for (JsonNode field : node.get("fields")) {
                builder.field(field.get("name").asText(), schema(field.get("schema")));
            }
        }
        if (node.path("optional").asBoolean()) {
            builder.optional();
        }
        if (node.has("name")) {
            builder.name(node.get("name").asText());
        }
        if (node.has("version")) {
            builder.version(node.get("version").asInt());
        }
        if (node.has("doc")) {
            builder.doc(node.get("doc").asText());
        }
        if (node.has("parameters")) {
            node.get("parameters").properties().forEach(e -> builder.parameter(e.getKey(), e.getValue().asText()));
        }
        if (node.has("default")) {
            builder.defaultValue(value(builder.build(), node.get("default")));
        }
        return builder.build();
    }

    static Object value(Schema schema, JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        if (node.isTextual()) {
            return node.textValue();
        }
        if (node.isIntegralNumber()) {
            return node.longValue();
        }
        if (node.isArray()) {
            List<Object> items = new ArrayList<>();
            node.forEach(item -> items.add(value(schema == null ? null : schema.valueSchema(), item)));
            return items;
        }
        String kind = node.fieldNames().next();
        JsonNode inner = node.get(kind);
        return switch (kind) {
            case "int8" -> (byte) inner.intValue();
            case "int16" -> (short) inner.intValue();
            case "int32" -> inner.intValue();
            case "int64" -> inner.longValue();
            case "float32" -> Float.parseFloat(inner.asText());
            case "float64" -> Double.parseDouble(inner.asText());
            case "bytes" -> HexFormat.of().parseHex(inner.asText());
            case "decimal" -> new BigDecimal(inner.asText());
            case "moment" -> new Date(inner.longValue());
            case "map" -> map(schema, inner);
            case "struct" -> struct(schema, inner);
            default -> throw new IllegalArgumentException("no such kind: " + kind);
        };
    }

    private static Map<Object, Object> map(Schema schema, JsonNode pairs) {
        Map<Object, Object> made = new HashMap<>();
        for (JsonNode pair : pairs) {
            made.put(value(schema == null ? null : schema.keySchema(), pair.get(0)),
                    value(schema == null ? null : schema.valueSchema(), pair.get(1)));
        }
        return made;
    }

    private static Struct struct(Schema schema, JsonNode fields) {
        Struct made = new Struct(schema);
        fields.properties().forEach(e -> made.put(e.getKey(), value(schema.field(e.getKey()).schema(), e.getValue())));
        return made;
    }

    static JsonNode shown(Schema schema) {
        if (schema == null) {
            return MAPPER.nullNode();
        }
        ObjectNode made = MAPPER.createObjectNode().put("type", schema.type().name());
        if (schema.isOptional()) {
            made.put("optional", true);
        }
        if (schema.name() != null) {
            made.put("name", schema.name());
        }
        if (schema.version() != null) {
            made.put("version", schema.version());
        }
        if (schema.doc() != null) {
            made.put("doc", schema.doc());
        }
        if (schema.parameters() != null) {
            made.set("parameters", MAPPER.valueToTree(schema.parameters()));
        }
        if (schema.defaultValue() != null) {
            made.set("default", shown(schema.defaultValue()));
        }
        switch (schema.type()) {
            case STRUCT -> {
                ArrayNode fields = made.putArray("fields");
                for (Field field : schema.fields()) {
                    fields.addObject().put("name", field.name()).set("schema", shown(field.schema()));
                }
            }
            case MAP -> {
                made.set("keys", shown(schema.keySchema()));
                made.set("values", shown(schema.valueSchema()));
            }
            case ARRAY -> made.set("values", shown(schema.valueSchema()));
            default -> { }
        }
        return made;
    }

    static JsonNode shown(Object value) {
        ObjectNode made = MAPPER.createObjectNode();
        if (value == null) {
            return MAPPER.nullNode();
        } else if (value instanceof Boolean || value instanceof String) {
            return MAPPER.valueToTree(value);
        } else if (value instanceof Byte number) {
            return made.put("int8", number);
        } else if (value instanceof Short number) {
            return made.put("int16", number);
        } else if (value instanceof Integer number) {
            return made.put("int32", number);
        } else if (value instanceof Long number) {
            return made.put("int64", number);
        } else if (value instanceof Float) {
            return made.put("float32", value.toString());
        } else if (value instanceof Double) {
            return made.put("float64", value.toString());
        } else if (value instanceof byte[] bytes) {
            return made.put("bytes", HexFormat.of().formatHex(bytes));
        } else if (value instanceof ByteBuffer buffer) {
            return made.put("bytes", HexFormat.of().formatHex(buffer.array()));
        } else if (value instanceof BigDecimal) {
            return made.put("decimal", value.toString());
        } else if (value instanceof Date date) {
            return made.put("moment", date.getTime());
        }
        return composed(value, made);
    }

    private static JsonNode composed(Object value, ObjectNode made) {
        if (value instanceof List<?> list) {
            ArrayNode items = MAPPER.createArrayNode();
            list.forEach(item -> items.add(shown(item)));
            return items;
        } else if (value instanceof Map<?, ?> map) {
            ArrayNode pairs = made.putArray("map");
            map.entrySet().stream()
                    .map(e -> MAPPER.createArrayNode().add(shown(e.getKey())).add(shown(e.getValue())))
                    .sorted(Comparator.comparing(pair -> pair.get(0).toString()))
                    .forEach(pairs::add);
            return made;
        } else if (value instanceof Struct struct) {
            ObjectNode fields = made.putObject("struct");
            for (Field field : struct.schema().fields()) {
                fields.set(field.name(), shown(struct.getWithoutDefault(field.name())));
            }
            return made;
        }
        return made.put("class", value.getClass().getName());
    }
}
