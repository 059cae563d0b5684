// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/** Questions about what a schema carries. */
final class Shape {
    private static final List<Type> FIXED_SIZE = List.of(
        Type.BOOLEAN, Type.INT8, Type.INT16, Type.UINT16, Type.INT32, Type.UNSIGNED_INT32, Type.INT64,
        Type.FLOAT64, Type.UUID);

    private Shape() {
    }

    /** The fields of a struct: the plain ones, then the tagged ones by ascending tag. */
    static List<Field> fields(Schema schema) {
        List<Field> fields = new ArrayList<>();
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                fields.addAll(new TreeMap<>(tagged.fields()).values());
            } else {
                fields.add(bound.def);
            }
        }
        return fields;
    }

    /** The struct that a field holds, by itself or as an array's elements, or null. */
    static Schema struct(Type type) {
        return type.arrayElementType().orElse(type) instanceof Schema schema ? schema : null;
    }

    /** Whether something inside a value of this type, at any depth, may be null. */
    static boolean hasNullableInside(Type type) {
        Schema struct = struct(type);
        return struct != null && fields(struct).stream()
            .anyMatch(field -> field.type.isNullable() || hasNullableInside(field.type));
    }

    /** Whether a nullable field holds something nullable. */
    static boolean hasNestedNullable(Type type) {
        Schema struct = struct(type);
        return struct != null && fields(struct).stream()
            .anyMatch(field -> field.type.isNullable() && hasNullableInside(field.type)
                || hasNestedNullable(field.type));
    }

    /** The array that is cheapest to make long: of plain values, else of structs without arrays; or null. */
    static Type cheapestArray(Schema schema) {
        List<Type> arrays = arrays(schema);
        for (Type array : arrays) {
            if (FIXED_SIZE.contains(array.arrayElementType().get())) {
                return array;
            }
        }
        for (Type array : arrays) {
            Schema struct = struct(array);
            if (struct == null || arrays(struct).isEmpty()) {
                return array;
            }
        }
        return null;
    }

    private static List<Type> arrays(Schema schema) {
        List<Type> arrays = new ArrayList<>();
        for (Field field : fields(schema)) {
            if (field.type.isArray()) {
                arrays.add(field.type);
            }
            if (struct(field.type) != null) {
                arrays.addAll(arrays(struct(field.type)));
            }
        }
        return arrays;
    }
}
