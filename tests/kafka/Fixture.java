import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Fills a broker with what a log can hold: every codec, tombstones, transactions of both ends, compacted or not. */
public class Fixture {
    private static final long T0 = 1_700_000_000_000L;
    private static String bootstrap;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        if (args.length > 1) {
            compact();
            return;
        }
        createTopics();
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            codecs(codec);
        }
        compacted();
        transactions("transactions", "lz4");
        transactions("compacted-transactions", "none");
    }

    private static void createTopics() throws Exception {
        Map<String, String> kept = Map.of("retention.ms", "-1");
        Map<String, String> small =
            Map.of("internal.segment.bytes", "2048", "index.interval.bytes", "256", "retention.ms", "-1");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            List<NewTopic> topics = new ArrayList<>();
            topics.add(new NewTopic("codecs", 1, (short) 1).configs(kept));
            topics.add(new NewTopic("transactions", 1, (short) 1).configs(small));
            topics.add(new NewTopic("compacted", 1, (short) 1).configs(small));
            topics.add(new NewTopic("compacted-transactions", 1, (short) 1).configs(small));
            admin.createTopics(topics).all().get();
        }
    }

    /** Topics are filled before they are compacted, so that one round of cleaning sees all of it. */
    private static void compact() throws Exception {
        List<AlterConfigOp> changes = List.of(
            new AlterConfigOp(new ConfigEntry("min.cleanable.dirty.ratio", "0.01"), AlterConfigOp.OpType.SET),
            new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"), AlterConfigOp.OpType.SET));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.incrementalAlterConfigs(Map.of(
                new ConfigResource(ConfigResource.Type.TOPIC, "compacted"), changes,
                new ConfigResource(ConfigResource.Type.TOPIC, "compacted-transactions"), changes)).all().get();
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, String> more) {
        Map<String, Object> settings = new TreeMap<>(Map.of("bootstrap.servers", bootstrap, "linger.ms", "50"));
        settings.putAll(more);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, long at, String key, String value) {
        return new ProducerRecord<>(topic, 0, T0 + at, bytes(key), bytes(value), new RecordHeaders());
    }

    private static void codecs(String codec) {
        try (var producer = producer(Map.of("compression.type", codec))) {
            for (int i = 0; i < 20; i++) {
                var record = record("codecs", i, i % 5 == 0 ? null : "key-" + i, i % 7 == 0 ? null : codec + "-" + i);
                if (i % 3 == 0) {
                    record.headers().add("codec", bytes(codec)).add("none", null);
                }
                producer.send(record);
            }
        }
    }

    private static void compacted() throws Exception {
        try (var producer = producer(Map.of("compression.type", "none", "linger.ms", "0"))) {
            for (int i = 0; i < 200; i++) {
                String value = i % 23 == 0 ? null : "value-" + i + "-" + "x".repeat(20);
                producer.send(record("compacted", i, "key-" + i % 17, value));
                if (i % 4 == 3) {
                    producer.flush();
                }
            }
        }
    }

    private static void transactions(String topic, String codec) {
        for (int producerNumber = 0; producerNumber < 2; producerNumber++) {
            String id = topic + "-" + producerNumber;
            try (var producer = producer(Map.of("transactional.id", id, "compression.type", codec))) {
                producer.initTransactions();
                for (int round = 0; round < 6; round++) {
                    producer.beginTransaction();
                    for (int i = 0; i < 8; i++) {
                        String value = (round % 2 == 0 ? "committed-" : "aborted-") + round + "-" + i + "y".repeat(60);
                        producer.send(record(topic, round * 100 + i, "key-" + (round + i) % 9, value));
                    }
                    producer.flush();
                    if (round % 2 == 0) {
                        producer.commitTransaction();
                    } else {
                        producer.abortTransaction();
                    }
                }
            }
        }
    }
}
