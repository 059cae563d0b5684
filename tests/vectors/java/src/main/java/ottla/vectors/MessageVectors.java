// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Type;

/** Messages and records of every kind, in every version, in several variants. */
final class MessageVectors {
    private static final int LONGEST_LINE = 20_000;

    private MessageVectors() {
    }

    static void write(Path root) throws IOException, ReflectiveOperationException {
        for (Area area : Area.ALL) {
            for (GeneratedMessage message : area.messages()) {
                Json.write(root.resolve(area.directory()).resolve(message.name() + ".jsonl"), lines(message));
            }
        }
    }

    private static List<String> lines(GeneratedMessage message) throws ReflectiveOperationException {
        List<String> lines = new ArrayList<>();
        lines.add(Json.line(Json.object()
            .put("message", message.name())
            .put("apiKey", message.apiKey())
            .put("type", message.kind())
            .put("lowest", message.lowest())
            .put("highest", message.highest())
            .put("flexible", message.lowestFlexible())));
        for (short version = message.lowest(); version <= message.highest(); version++) {
            for (Variant variant : variants(message.schema(version))) {
                lines.add(line(message, version, variant));
            }
        }
        return lines;
    }

    private static List<Variant> variants(Schema schema) {
        List<Variant> variants = new ArrayList<>(List.of(Variant.DEFAULT, Variant.FILLED, Variant.FILLED_2));
        if (Shape.hasNullableInside(schema)) {
            variants.add(Variant.NULLS);
        }
        if (Shape.hasNestedNullable(schema)) {
            variants.add(Variant.NULLS_INNER);
        }
        return variants;
    }

    private static String line(GeneratedMessage message, short version, Variant variant)
            throws ReflectiveOperationException {
        if (variant == Variant.FILLED_2) {
            String line = line(message, version, variant, longArray(message, version));
            if (line.length() <= LONGEST_LINE) {
                return line;
            }
        }
        return line(message, version, variant, null);
    }

    /** The array to lengthen: one of plain values in every version, one of structs in the highest only. */
    private static Type longArray(GeneratedMessage message, short version) throws ReflectiveOperationException {
        Type array = Shape.cheapestArray(message.schema(version));
        boolean ofStructs = array != null && Shape.struct(array) != null;
        return ofStructs && version < message.highest() ? null : array;
    }

    private static String line(GeneratedMessage message, short version, Variant variant, Type longArray)
            throws ReflectiveOperationException {
        ApiMessage data = message.create();
        Filler filler = new Filler(variant, message.name() + "/" + version + "/" + variant.label).lengthen(longArray);
        if (variant != Variant.DEFAULT) {
            filler.fill(data, message.schema(version), "");
        }
        if (variant == Variant.FILLED_2 && message.isFlexible(version)) {
            filler.addUnknownTags(data, message.schema(version));
        }
        JsonNode value = message.json(data, version);
        ObjectNode line = Json.object()
            .put("version", version)
            .put("variant", variant.label)
            .put("hex", Json.hex(message.bytes(data, version)));
        line.set("value", value);
        if (!filler.records().isEmpty()) {
            line.set("records", Json.tree(filler.records()));
        }
        if (!filler.unknownTags().isEmpty()) {
            line.set("unknownTags", Json.tree(filler.unknownTags()));
        }
        return Json.line(line);
    }
}
