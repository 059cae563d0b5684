// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.streams.KeyValue;

/** The functions that cases name. The interpreter in Python has the same ones; null is shown as ~. */
final class Functions {
    private Functions() {}

    static String shown(Object value) {
        return value == null ? "~" : value.toString();
    }

    static String argument(String name) {
        return name.substring(name.indexOf(':') + 1);
    }

    static boolean test(String name, String key, Object value) {
        if (name.equals("true")) return true;
        if (name.equals("nonnull")) return value != null;
        if (name.startsWith("contains:")) return shown(value).contains(argument(name));
        if (name.startsWith("key:")) return argument(name).equals(key);
        if (name.startsWith("over:")) return value != null && Long.parseLong(value.toString()) > Long.parseLong(argument(name));
        throw new IllegalArgumentException(name);
    }

    static String value(String name, Object key, Object value) {
        if (name.equals("upper")) return value == null ? null : value.toString().toUpperCase();
        if (name.equals("show")) return shown(value) + "!";
        if (name.equals("pair")) return shown(key) + "/" + shown(value);
        if (name.equals("first")) return value == null ? null : value.toString().substring(0, 1);
        if (name.startsWith("fail_on:")) {
            if (shown(value).contains(argument(name))) throw new IllegalStateException("no " + argument(name));
            return shown(value);
        }
        if (name.startsWith("null_if:")) return shown(value).contains(argument(name)) ? null : shown(value);
        throw new IllegalArgumentException(name);
    }

    static String key(String name, Object key, Object value) {
        if (name.equals("value")) return value == null ? null : value.toString();
        if (name.equals("first")) return value == null || value.toString().isEmpty() ? null : value.toString().substring(0, 1);
        if (name.equals("prefix")) {
            if (value == null) return null;
            String prefix = value.toString().split(":", 2)[0];
            return prefix.isEmpty() ? null : prefix;
        }
        if (name.equals("key")) return key == null ? null : key.toString();
        throw new IllegalArgumentException(name);
    }

    static KeyValue<String, String> pair(String name, String key, Object value) {
        if (name.equals("swap")) return KeyValue.pair(value == null ? null : value.toString(), key);
        return KeyValue.pair(key(name, key, value), value == null ? null : value.toString());
    }

    static List<String> parts(Object value) {
        return value == null ? List.of() : new ArrayList<>(Arrays.asList(value.toString().split("")));
    }

    static String add(String name, Object value, String aggregate) {
        if (name.startsWith("null_on:") && shown(value).contains(argument(name))) return null;
        return aggregate + shown(value);
    }

    static String subtract(Object value, String aggregate) {
        return aggregate + "-" + shown(value);
    }
}
