// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/**
 * The applications of `tests/bench/streams.py`, on Kafka Streams: exactly once, every update an output, two threads.
 *
 * Arguments: the server's address, the application's id, the directory of its state, `stateless`, `count` or `minute`,
 * `rocksdb` or `memory`. Prints its states; ends when its input does.
 */
public class StreamsBench {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[1]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[2]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put("consumer.auto.offset.reset", "earliest");
        KafkaStreams streams = new KafkaStreams(topology(arguments[3], arguments[4].equals("memory")).build(), settings);
        streams.setStateListener((now, before) -> System.out.println("STATE " + now));
        streams.start();
        while (System.in.read() >= 0) {
            // Until the bench closes its end.
        }
        streams.close(Duration.ofSeconds(60));
    }

    private static StreamsBuilder topology(String name, boolean inMemory) {
        StreamsBuilder builder = new StreamsBuilder();
        Serdes.StringSerde text = new Serdes.StringSerde();
        KStream<String, String> records = builder.stream("in", Consumed.with(text, text));
        if (name.equals("stateless")) {
            records.filter((key, value) -> !value.isEmpty()).mapValues(value -> value.toUpperCase()).to("out", Produced.with(text, text));
            return builder;
        }
        KGroupedStream<String, String> grouped = records.groupByKey(Grouped.with(text, text));
        if (name.equals("count")) {
            Materialized<String, Long, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>> store =
                inMemory ? Materialized.as(Stores.inMemoryKeyValueStore("counts")) : Materialized.as("counts");
            grouped.count(store).toStream().to("out", Produced.with(text, Serdes.Long()));
            return builder;
        }
        Duration size = Duration.ofMinutes(1);
        Materialized<String, Long, org.apache.kafka.streams.state.WindowStore<org.apache.kafka.common.utils.Bytes, byte[]>> store =
            inMemory ? Materialized.as(Stores.inMemoryWindowStore("counts", size, size, false)) : Materialized.as("counts");
        grouped.windowedBy(TimeWindows.ofSizeWithNoGrace(size)).count(store)
            .toStream((key, count) -> key.key() + "@" + key.window().start()).to("out", Produced.with(text, Serdes.Long()));
        return builder;
    }
}
