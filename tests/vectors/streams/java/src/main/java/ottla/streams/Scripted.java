// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.*;

/** Does to a store what each record's value says (`put a x`, `range a c` …), and forwards what the store answers. */
final class Scripted extends ContextualProcessor<String, Object, String, Object> {
    private static final Serde<String> STRING = Serdes.String();
    static final String NAME = "scripted";
    private final JsonNode step;
    private Object store;
    private Cancellable punctuation;

    Scripted(JsonNode step) {
        this.step = step;
    }

    static StoreBuilder<?> builder(JsonNode step) {
        Duration retention = Duration.ofMillis(step.path("retention").asLong(100_000));
        switch (step.get("kind").asText()) {
            case "key_value": return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(NAME), STRING, STRING);
            case "memory": return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(NAME), STRING, STRING);
            case "window": return Stores.windowStoreBuilder(
                Stores.persistentWindowStore(NAME, retention, Duration.ofMillis(10), step.has("duplicates")), STRING, STRING);
            case "session": return Stores.sessionStoreBuilder(Stores.persistentSessionStore(NAME, retention), STRING, STRING);
            default: return Stores.versionedKeyValueStoreBuilder(Stores.persistentVersionedKeyValueStore(NAME, retention), STRING, STRING);
        }
    }

    @Override
    public void init(ProcessorContext<String, Object> context) {
        super.init(context);
        store = context.getStateStore(NAME);
        if (step.has("stream")) {
            Duration interval = Duration.ofMillis(step.get("stream").asLong());
            Punctuator fire = time -> {
                if (step.has("fails")) throw new IllegalStateException("the punctuation fails");
                context.forward(new Record<>("stream", "fired", time));
            };
            punctuation = step.has("start")
                ? context.schedule(Instant.ofEpochMilli(step.get("start").asLong()), interval, PunctuationType.STREAM_TIME, fire)
                : context.schedule(interval, PunctuationType.STREAM_TIME, fire);
        }
        if (step.has("clock")) {
            context.schedule(Instant.ofEpochMilli(step.get("start").asLong()), Duration.ofMillis(step.get("clock").asLong()),
                PunctuationType.WALL_CLOCK_TIME, time -> context.forward(new Record<>("clock", "fired", time)));
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public void process(Record<String, Object> record) {
        String[] words = record.value().toString().split(" ");
        if (words[0].equals("cancel")) {
            punctuation.cancel();
            return;
        }
        if (words[0].equals("fail")) throw new IllegalStateException("told to");
        String said;
        if (store instanceof KeyValueStore) said = onKeyValue((KeyValueStore<String, String>) store, words);
        else if (store instanceof WindowStore) said = onWindow((WindowStore<String, String>) store, words);
        else if (store instanceof SessionStore) said = onSession((SessionStore<String, String>) store, words);
        else said = onVersioned((VersionedKeyValueStore<String, String>) store, words);
        if (said != null) context().forward(record.withValue(said));
    }

    private static String bound(String word) {
        return word.equals("-") ? null : word;
    }

    private static long number(String word) {
        return Long.parseLong(word);
    }

    private static Instant time(String word) {
        return Instant.ofEpochMilli(number(word));
    }

    private static <T> String all(Iterator<T> found, Function<T, String> shown) {
        List<String> texts = new ArrayList<>();
        while (found.hasNext()) texts.add(shown.apply(found.next()));
        return String.join(",", texts);
    }

    private static String pair(KeyValue<?, String> one) {
        return one.key + "=" + one.value;
    }

    private static String windowed(KeyValue<Windowed<String>, String> one) {
        return one.key.key() + "@" + one.key.window().start() + "/" + one.key.window().end() + "=" + one.value;
    }

    private static String onKeyValue(KeyValueStore<String, String> store, String[] words) {
        switch (words[0]) {
            case "put": store.put(words[1], bound(words[2])); return null;
            case "absent": return Functions.shown(store.putIfAbsent(words[1], words[2]));
            case "del": return Functions.shown(store.delete(words[1]));
            case "get": return Functions.shown(store.get(words[1]));
            case "range": return all(store.range(bound(words[1]), bound(words[2])), Scripted::pair);
            case "reverse": return all(store.reverseRange(bound(words[1]), bound(words[2])), Scripted::pair);
            case "all": return all(store.all(), Scripted::pair);
            case "backwards": return all(store.reverseAll(), Scripted::pair);
            case "prefix": return all(store.prefixScan(words[1], STRING.serializer()), Scripted::pair);
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    private static String onWindow(WindowStore<String, String> store, String[] words) {
        switch (words[0]) {
            case "put": store.put(words[1], bound(words[2]), number(words[3])); return null;
            case "one": return Functions.shown(store.fetch(words[1], number(words[2])));
            case "fetch": return all(store.fetch(words[1], time(words[2]), time(words[3])), Scripted::pair);
            case "back": return all(store.backwardFetch(words[1], time(words[2]), time(words[3])), Scripted::pair);
            case "keys": return all(store.fetch(bound(words[1]), bound(words[2]), time(words[3]), time(words[4])), Scripted::windowed);
            case "all": return all(store.all(), Scripted::windowed);
            case "backwards": return all(store.backwardAll(), Scripted::windowed);
            case "between": return all(store.fetchAll(time(words[1]), time(words[2])), Scripted::windowed);
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    private static Windowed<String> session(String[] words, int at) {
        return new Windowed<>(words[1], new SessionWindow(number(words[at]), number(words[at + 1])));
    }

    private static String onSession(SessionStore<String, String> store, String[] words) {
        switch (words[0]) {
            case "put": store.put(session(words, 3), words[2]); return null;
            case "del": store.remove(session(words, 2)); return null;
            case "one": return Functions.shown(store.fetchSession(words[1], number(words[2]), number(words[3])));
            case "fetch": return all(store.fetch(words[1]), Scripted::windowed);
            case "back": return all(store.backwardFetch(words[1]), Scripted::windowed);
            case "keys": return all(store.fetch(bound(words[1]), bound(words[2])), Scripted::windowed);
            case "find": return all(store.findSessions(words[1], number(words[2]), number(words[3])), Scripted::windowed);
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    private static String version(VersionedRecord<String> found) {
        if (found == null) return "~";
        Optional<Long> end = found.validTo();
        return found.value() + "@" + found.timestamp() + (end.isPresent() ? "-" + end.get() : "");
    }

    private static String onVersioned(VersionedKeyValueStore<String, String> store, String[] words) {
        switch (words[0]) {
            case "put": store.put(words[1], bound(words[2]), number(words[3])); return null;
            case "del": store.delete(words[1], number(words[2])); return null;
            case "get": return version(store.get(words[1]));
            case "asof": return version(store.get(words[1], number(words[2])));
            default: throw new IllegalArgumentException(words[0]);
        }
    }
}
