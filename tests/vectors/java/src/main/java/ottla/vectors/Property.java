// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.protocol.Message;

/** A field of a generated struct, found by the name its schema uses and reached through its accessors. */
record Property(Method getter, Method setter) {

    /** The property that a schema calls by this snake_case name. */
    static Property find(Class<?> struct, String schemaName) {
        String wanted = "set" + schemaName.replace("_", "");
        Method setter = Arrays.stream(struct.getMethods())
            .filter(method -> method.getName().equalsIgnoreCase(wanted) && !method.isBridge())
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(struct + " has no field " + schemaName));
        String name = setter.getName().substring("set".length());
        Method getter = Arrays.stream(struct.getMethods())
            .filter(method -> method.getName().equalsIgnoreCase(name) && method.getParameterCount() == 0)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(struct + " cannot read " + name));
        return new Property(getter, setter);
    }

    /** The camelCase name, which Kafka's JSON rendering uses too. */
    String name() {
        return getter.getName();
    }

    Class<?> type() {
        return getter.getReturnType();
    }

    /** The class of an array's elements, whether the array is a list or one of Kafka's keyed collections. */
    Class<?> elementType() {
        Type generic = type() == List.class ? getter.getGenericReturnType() : type().getGenericSuperclass();
        return (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
    }

    Object get(Message struct) throws ReflectiveOperationException {
        return getter.invoke(struct);
    }

    void set(Message struct, Object value) throws ReflectiveOperationException {
        setter.invoke(struct, value);
    }
}
