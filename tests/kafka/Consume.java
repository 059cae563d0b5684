import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Prints every record of partition 0 of some topics, one a line: topic, isolation, offset, timestamp, key, value, headers. */
public class Consume {
    public static void main(String[] args) {
        for (String topic : List.of(args).subList(1, args.length)) {
            for (String isolation : List.of("read_uncommitted", "read_committed")) {
                print(args[0], topic, isolation);
            }
        }
    }

    private static void print(String bootstrap, String topic, String isolation) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "isolation.level", isolation);
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    StringBuilder line = new StringBuilder();
                    line.append(topic).append('\t').append(isolation).append('\t').append(record.offset()).append('\t');
                    line.append(record.timestamp()).append('\t').append(text(record.key())).append('\t');
                    line.append(text(record.value())).append('\t');
                    for (Header header : record.headers()) {
                        line.append(header.key()).append('=').append(text(header.value())).append(';');
                    }
                    System.out.println(line);
                }
            }
        }
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "<null>" : new String(bytes, StandardCharsets.UTF_8);
    }
}
