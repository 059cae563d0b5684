// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.ImplicitLinkedHashCollection;

/** Gives every field that a message carries in one version a seeded value that is not its default. */
final class Filler {
    private static final int LONG_ARRAY = 130;
    private static final int MOST_LONG_VALUES = 6;
    private static final int ATTEMPTS = 50;

    private final Variant variant;
    private final Random random;
    private final Scalars scalars;
    private final Map<String, String> records = new TreeMap<>();
    private final Map<String, Map<String, String>> unknownTags = new TreeMap<>();
    private Type longArray;
    private boolean insideLongArray;
    private int longValues;
    private boolean hasLongText;

    Filler(Variant variant, String seed) {
        this.variant = variant;
        this.random = new Random(seed.hashCode());
        this.scalars = new Scalars(random);
    }

    /** Makes the first array of this type longer than a one-byte length can say. */
    Filler lengthen(Type array) {
        longArray = array;
        return this;
    }

    /** The hexadecimal content of the record fields set so far, by JSON pointer. */
    Map<String, String> records() {
        return records;
    }

    /** The unknown tagged fields added so far: by JSON pointer of the struct, then by tag, in hexadecimal. */
    Map<String, Map<String, String>> unknownTags() {
        return unknownTags;
    }

    /** Fills the struct at the JSON pointer. */
    void fill(Message struct, Schema schema, String pointer) throws ReflectiveOperationException {
        for (Field field : Shape.fields(schema)) {
            Property property = Property.find(struct.getClass(), field.name);
            property.set(struct, value(field.type, property, property.get(struct), pointer + "/" + property.name()));
        }
    }

    /** Adds unknown tagged fields to the message and to the first struct inside it. */
    void addUnknownTags(Message message, Schema schema) throws ReflectiveOperationException {
        tag(message, "", 3, LONG_ARRAY);
        for (Field field : Shape.fields(schema)) {
            if (Shape.struct(field.type) != null) {
                Property property = Property.find(message.getClass(), field.name);
                Object value = property.get(message);
                if (value instanceof Collection<?> elements) {
                    tag((Message) elements.iterator().next(), "/" + property.name() + "/0", 1, 0);
                } else {
                    tag((Message) value, "/" + property.name(), 1, 0);
                }
                return;
            }
        }
    }

    private void tag(Message struct, String pointer, int... sizes) {
        Map<String, String> added = new TreeMap<>();
        for (int i = 0; i < sizes.length; i++) {
            RawTaggedField field = new RawTaggedField(100 + 200 * i, scalars.bytes(sizes[i]));
            struct.unknownTaggedFields().add(field);
            added.put(Integer.toString(field.tag()), Json.hex(field.data()));
        }
        unknownTags.put(pointer, added);
    }

    private Object value(Type type, Property property, Object defaultValue, String pointer)
            throws ReflectiveOperationException {
        if (type.isNullable() && isNull(type)) {
            return null;
        } else if (type.isArray()) {
            return array(type, property, pointer);
        } else if (type instanceof Schema schema) {
            return struct(property.type(), schema, pointer);
        }
        Object value = scalar(type, property.type(), defaultValue);
        if (value instanceof MemoryRecords batches) {
            records.put(pointer, Json.hex(batches.buffer()));
        }
        return value;
    }

    private boolean isNull(Type type) {
        return variant == Variant.NULLS || variant == Variant.NULLS_INNER && !Shape.hasNullableInside(type);
    }

    private Message struct(Class<?> type, Schema schema, String pointer) throws ReflectiveOperationException {
        Message struct = (Message) type.getConstructor().newInstance();
        fill(struct, schema, pointer);
        return struct;
    }

    private Object array(Type type, Property property, String pointer) throws ReflectiveOperationException {
        boolean isNested = pointer.lastIndexOf('/') > 0;
        int size = 1 + random.nextInt(isNested ? 2 : 3);
        boolean lengthened = type == longArray;
        if (lengthened) {
            longArray = null;
            insideLongArray = true;
            size = LONG_ARRAY;
        }
        Type elementType = type.arrayElementType().get();
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Object element = elementType instanceof Schema schema
                ? keyedStruct(elements, property.elementType(), schema, pointer + "/" + i)
                : scalar(elementType, property.elementType(), null);
            elements.add(element);
        }
        insideLongArray &= !lengthened;
        if (property.type() == List.class) {
            return elements;
        }
        return property.type().getConstructor(Iterator.class).newInstance(elements.iterator());
    }

    /** A struct whose key, where its class has one, none of the others has; unless the key is all null. */
    private Message keyedStruct(List<Object> others, Class<?> type, Schema schema, String pointer)
            throws ReflectiveOperationException {
        Message struct = struct(type, schema, pointer);
        for (int i = 0; i < ATTEMPTS && isDuplicate(struct, others); i++) {
            struct = struct(type, schema, pointer);
        }
        return struct;
    }

    private static boolean isDuplicate(Message struct, List<Object> others) {
        return struct instanceof ImplicitLinkedHashCollection.Element element
            && others.stream().anyMatch(element::elementKeysAreEqual);
    }

    private Object scalar(Type type, Class<?> javaType, Object defaultValue) {
        int length = length(javaType);
        Object value = scalars.next(type, javaType, length);
        while (Objects.equals(value, defaultValue)) {
            value = scalars.next(type, javaType, length);
        }
        return value;
    }

    /** How long a string or bytes shall be: in {@code filled2} some need a length of two bytes. */
    private int length(Class<?> javaType) {
        if (insideLongArray) {
            return 1 + random.nextInt(3);
        }
        boolean isText = javaType == String.class;
        boolean isBytes = javaType == byte[].class || javaType == ByteBuffer.class;
        boolean mayBeLong = (isText || isBytes) && longValues < MOST_LONG_VALUES && random.nextInt(4) == 0;
        if (variant == Variant.FILLED_2 && (mayBeLong || isText && !hasLongText)) {
            longValues++;
            hasLongText |= isText;
            return 130 + random.nextInt(60);
        }
        return 1 + random.nextInt(12);
    }
}
