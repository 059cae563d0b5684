// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/** Passes records on, remembers them in a store if it has one, and reports each punctuation. */
final class Punctual extends ContextualProcessor<String, Object, String, Object> {
    private final JsonNode step;
    private KeyValueStore<String, String> store;

    Punctual(JsonNode step) {
        this.step = step;
    }

    @Override
    public void init(ProcessorContext<String, Object> context) {
        super.init(context);
        if (step.has("stores")) store = context.getStateStore(step.get("stores").asText());
        schedule("stream", PunctuationType.STREAM_TIME);
        schedule("clock", PunctuationType.WALL_CLOCK_TIME);
    }

    private void schedule(String field, PunctuationType type) {
        if (!step.has(field)) return;
        context().schedule(Duration.ofMillis(step.get(field).asLong()), type, time -> {
            context().forward(new Record<>(field, "fired", time));
            if (store == null) return;
            try (var all = store.all()) {
                while (all.hasNext()) {
                    var entry = all.next();
                    context().forward(new Record<>(entry.key, entry.value, time));
                }
            }
        });
    }

    @Override
    public void process(Record<String, Object> record) {
        if (store != null && record.key() != null) {
            String old = store.get(record.key());
            store.put(record.key(), record.value() == null ? null : (old == null ? "" : old) + record.value());
        }
        context().forward(record);
    }

    /** Shows key and value. */
    static final class FixedKey extends ContextualFixedKeyProcessor<String, Object, Object> {
        @Override
        public void process(FixedKeyRecord<String, Object> record) {
            context().forward(record.withValue(Functions.shown(record.key()) + "=" + Functions.shown(record.value())));
        }
    }
}
