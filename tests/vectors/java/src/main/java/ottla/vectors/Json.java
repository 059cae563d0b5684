// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/** JSON lines and hexadecimal, as every vector file uses them. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {
    }

    /** A new object whose members keep the order in which they are put. */
    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** Maps, lists and plain values as a tree. */
    static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** The node as one line of JSON without its line end. */
    static String line(JsonNode node) {
        try {
            return MAPPER.writeValueAsString(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes the lines to a file, creating its directories. */
    static void write(Path file, List<String> lines) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, String.join("\n", lines) + "\n");
    }

    /** Lower-case hexadecimal of the bytes, or null for null. */
    static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    /** Lower-case hexadecimal of what remains in the buffer, or null for null. */
    static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return hex(bytes);
    }
}
