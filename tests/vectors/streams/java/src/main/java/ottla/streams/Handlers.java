// SPDX-License-Identifier: Apache-2.0
package ottla.streams;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.*;

/** The settings of a case, and a serde that refuses some values. */
final class Handlers {
    private Handlers() {}

    static void configure(Properties config, JsonNode given) {
        if (given == null) return;
        if (given.has("processing")) {
            config.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG,
                given.get("processing").asText().equals("continue") ? LogAndContinueProcessingExceptionHandler.class : LogAndFailProcessingExceptionHandler.class);
        }
        if (given.has("deserialization")) {
            config.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG,
                given.get("deserialization").asText().equals("continue") ? LogAndContinueExceptionHandler.class : LogAndFailExceptionHandler.class);
        }
        if (given.has("production")) {
            config.put(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG,
                given.get("production").asText().equals("continue") ? Continue.class : DefaultProductionExceptionHandler.class);
        }
        if (given.has("dead_letters")) {
            config.put(StreamsConfig.ERRORS_DEAD_LETTER_QUEUE_TOPIC_NAME_CONFIG, given.get("dead_letters").asText());
        }
    }

    /** Goes on without what cannot be written. */
    public static final class Continue implements ProductionExceptionHandler {
        @Override
        public Response handleError(ErrorHandlerContext context, ProducerRecord<byte[], byte[]> record, Exception error) {
            return Response.resume();
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Response handleSerializationError(
            ErrorHandlerContext context, ProducerRecord record, Exception error, SerializationExceptionOrigin origin
        ) {
            return Response.resume();
        }

        @Override
        public void configure(Map<String, ?> configs) {}
    }

    /** Strings, but for those with a y. */
    static Serde<String> picky() {
        StringSerializer plain = new StringSerializer();
        return Serdes.serdeFrom((topic, value) -> {
            if (value != null && value.contains("y")) throw new SerializationException("no y");
            return plain.serialize(topic, value);
        }, Serdes.String().deserializer());
    }
}
