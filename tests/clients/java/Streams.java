// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * An application of Kafka Streams that counts words, exactly once: a repartition topic, a store with its changelog, a table
 * joined with the counts.
 *
 * Arguments: the server's address, the application's id, the directory of its state. Reads `<id>-lines` and the table
 * `<id>-names`, writes `<id>-counts` (word → count) and `<id>-named` (word → name count). Prints its states; ends when its
 * input does.
 */
public class Streams {
    public static void main(String[] arguments) throws Exception {
        String id = arguments[1];
        KafkaStreams streams = new KafkaStreams(topology(id).build(), settings(arguments[0], id, arguments[2]));
        streams.setStateListener((now, before) -> System.out.println("STATE " + now));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        while (System.in.read() >= 0) {
            // Until whoever started it closes its end, or kills it.
        }
        System.out.println("CLOSED " + streams.close(Duration.ofSeconds(60)));
    }

    private static StreamsBuilder topology(String id) {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, String> names = builder.table(id + "-names");
        KStream<String, String> lines = builder.stream(id + "-lines");
        KStream<String, Long> counts = lines
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .map((key, word) -> KeyValue.pair(word, word))
            .groupByKey()
            .count(Materialized.as("counts"))
            .toStream();
        counts.to(id + "-counts", Produced.with(Serdes.String(), Serdes.Long()));
        counts.mapValues(count -> Long.toString(count))
            .join(names, (count, name) -> name + " " + count)
            .to(id + "-named");
        return builder;
    }

    private static Properties settings(String bootstrap, String id, String directory) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, directory);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        // Every count is written, not only the last of a second.
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put("consumer.auto.offset.reset", "earliest");
        settings.put("consumer.session.timeout.ms", 6_000);
        return settings;
    }
}
