// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;

/** One generated message class of Kafka with its JSON converter. */
final class GeneratedMessage {
    private final Class<?> type;
    private final Schema[] schemas;
    private final Method toJson;

    GeneratedMessage(Class<?> type, Class<?> converter) throws ReflectiveOperationException {
        this.type = type;
        this.schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        this.toJson = converter.getMethod("write", type, short.class, boolean.class);
    }

    ApiMessage create() throws ReflectiveOperationException {
        return (ApiMessage) type.getConstructor().newInstance();
    }

    /** The name in Kafka's message definition, which the class name extends by "Data" for some kinds. */
    String name() throws ReflectiveOperationException {
        String name = type.getSimpleName();
        return kind().equals("data") ? name : name.replaceFirst("Data$", "");
    }

    /** The key of the API or the record, or null where the definition has none. */
    Integer apiKey() throws ReflectiveOperationException {
        int key = create().apiKey();
        return key < 0 ? null : key;
    }

    /** What the definition calls the message's type. */
    String kind() throws ReflectiveOperationException {
        String name = type.getSimpleName();
        boolean keyed = create().apiKey() >= 0;
        if (type.getPackage().equals(ApiMessageType.class.getPackage())) {
            if (keyed) {
                return name.endsWith("RequestData") ? "request" : "response";
            }
            return name.endsWith("HeaderData") ? "header" : "data";
        }
        if (!keyed) {
            return "data";
        }
        if (type.getPackageName().contains(".coordinator.")) {
            return name.endsWith("Key") ? "coordinator-key" : "coordinator-value";
        }
        return "metadata";
    }

    short lowest() throws ReflectiveOperationException {
        return create().lowestSupportedVersion();
    }

    short highest() throws ReflectiveOperationException {
        return create().highestSupportedVersion();
    }

    Schema schema(short version) {
        return schemas[version];
    }

    /** Whether structs of this version end with tagged fields. */
    boolean isFlexible(short version) {
        BoundField[] fields = schemas[version].fields();
        return fields.length > 0 && fields[fields.length - 1].def.type instanceof TaggedFields;
    }

    /** The lowest supported flexible version, or null. */
    Integer lowestFlexible() throws ReflectiveOperationException {
        for (short version = lowest(); version <= highest(); version++) {
            if (isFlexible(version)) {
                return (int) version;
            }
        }
        return null;
    }

    /** The message in Kafka's own JSON rendering. */
    JsonNode json(ApiMessage message, short version) throws ReflectiveOperationException {
        return (JsonNode) toJson.invoke(null, message, version, true);
    }

    /** The message's bytes, after checking that Kafka reads the same message back from them. */
    byte[] bytes(ApiMessage message, short version) throws ReflectiveOperationException {
        byte[] bytes = serialize(message, version);
        ApiMessage copy = create();
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        copy.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining() || !copy.equals(message) || !Arrays.equals(serialize(copy, version), bytes)) {
            throw new IllegalStateException(
                name() + " v" + version + " does not survive a round trip: " + message + " became " + copy);
        }
        return bytes;
    }

    private static byte[] serialize(ApiMessage message, short version) {
        ByteBuffer buffer = MessageUtil.toByteBufferAccessor(message, version).buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        int size = message.size(new ObjectSerializationCache(), version);
        if (size != bytes.length) {
            throw new IllegalStateException("size() says " + size + " but " + bytes.length + " bytes were written");
        }
        return bytes;
    }
}
