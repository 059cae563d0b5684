// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What applications do with Apache Kafka's Java client: groups of all kinds and transactions.
 *
 * Arguments: the server's address, then names of scenarios. Prints a line for each, `PASS name` or `FAIL name`.
 */
public class Clients {
    private static final Duration TURN = Duration.ofMillis(50);
    private static final String ASSIGNOR = "org.apache.kafka.clients.consumer.";
    private static final Map<String, Scenario> SCENARIOS = new LinkedHashMap<>();
    private static String bootstrap;

    private interface Scenario {
        void run(String name) throws Exception;
    }

    static {
        SCENARIOS.put("range", name -> share(name, classic(name, "RangeAssignor")));
        SCENARIOS.put("roundrobin", name -> share(name, classic(name, "RoundRobinAssignor")));
        SCENARIOS.put("sticky", name -> share(name, classic(name, "StickyAssignor")));
        SCENARIOS.put("cooperative-sticky", name -> share(name, classic(name, "CooperativeStickyAssignor")));
        SCENARIOS.put("consumer-protocol-uniform", name -> share(name, modern(name, "uniform")));
        SCENARIOS.put("consumer-protocol-range", name -> share(name, modern(name, "range")));
        SCENARIOS.put("pattern", Clients::pattern);
        SCENARIOS.put("both-protocols", Clients::bothProtocols);
        SCENARIOS.put("static-members", Clients::staticMembers);
        SCENARIOS.put("fenced-instance", Clients::fencedInstance);
        SCENARIOS.put("transactions", Clients::transactions);
        SCENARIOS.put("fenced-producer", Clients::fencedProducer);
        SCENARIOS.put("consume-transform-produce", Clients::transform);
    }

    public static void main(String[] arguments) {
        bootstrap = arguments[0];
        for (String name : Arrays.copyOfRange(arguments, 1, arguments.length)) {
            try {
                SCENARIOS.get(name).run(name);
                System.out.println("PASS " + name);
            } catch (Throwable failure) {
                System.out.println("FAIL " + name);
                failure.printStackTrace(System.out);
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    // Groups

    /** Two members share four partitions, get every record once, and one takes over what the other leaves. */
    private static void share(String topic, Map<String, Object> settings) throws Exception {
        create(topic, 4);
        Set<String> seen = new HashSet<>();
        KafkaConsumer<String, String> one = member(settings, topic);
        KafkaConsumer<String, String> two = member(settings, topic);
        until(() -> take(one, seen) + take(two, seen) >= 0 && sizes(one, two).equals(List.of(2, 2)));
        // Only now: what moves from one to the other before it is committed would be got twice.
        fill(topic, 4, 0, 100);
        until(() -> take(one, seen) + take(two, seen) >= 0 && seen.size() == 400);
        Set<TopicPartition> all = new HashSet<>(one.assignment());
        all.addAll(two.assignment());
        check(all.size() == 4, "partitions are shared: " + all);
        until(() -> take(one, seen) + take(two, seen) >= 0 && commit(one) && commit(two));
        two.close();
        fill(topic, 4, 100, 10);
        until(() -> take(one, seen) >= 0 && seen.size() == 440 && one.assignment().size() == 4 && commit(one));
        for (int partition = 0; partition < 4; partition++) {
            TopicPartition found = new TopicPartition(topic, partition);
            check(one.committed(Set.of(found)).get(found).offset() == 110, "committed offsets");
        }
        one.close();
    }

    private static void pattern(String topic) throws Exception {
        create(topic + "-a", 1);
        KafkaConsumer<String, String> one = consumer(modern(topic, "uniform"));
        one.subscribe(new SubscriptionPattern(topic + "-[ab]"));
        until(() -> take(one, new HashSet<>()) >= 0 && one.assignment().size() == 1);
        create(topic + "-b", 2);
        create(topic + "-c", 2);
        until(() -> take(one, new HashSet<>()) >= 0 && one.assignment().size() == 3);
        one.close();
    }

    /** A group on its way from one protocol to the other. */
    private static void bothProtocols(String topic) throws Exception {
        create(topic, 4);
        Set<String> seen = new HashSet<>();
        KafkaConsumer<String, String> old = member(classic(topic, "RangeAssignor"), topic);
        until(() -> take(old, seen) >= 0 && old.assignment().size() == 4);
        KafkaConsumer<String, String> young = member(modern(topic, "uniform"), topic);
        until(() -> take(old, seen) + take(young, seen) >= 0 && sizes(old, young).equals(List.of(2, 2)));
        fill(topic, 4, 0, 10);
        until(() -> take(old, seen) + take(young, seen) >= 0 && seen.size() == 40);
        until(() -> take(old, seen) + take(young, seen) >= 0 && commit(old));
        old.close();
        until(() -> take(young, seen) >= 0 && young.assignment().size() == 4);
        young.close();
    }

    /** A static member that comes back has its partitions again, and nobody else notices. */
    private static void staticMembers(String topic) throws Exception {
        for (Map<String, Object> kind : List.of(classic(topic, "RangeAssignor"), modern(topic + "-modern", "uniform"))) {
            String name = (String) kind.get("group.id");
            create(name, 2);
            List<String> rebalances = new ArrayList<>();
            KafkaConsumer<String, String> one = consumer(with(kind, "group.instance.id", "one"));
            one.subscribe(List.of(name), new ConsumerRebalanceListener() {
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    rebalances.add("revoked " + partitions);
                }

                public void onPartitionsAssigned(Collection<TopicPartition> partitions) { }
            });
            KafkaConsumer<String, String> two = member(with(kind, "group.instance.id", "two"), name);
            Set<String> seen = new HashSet<>();
            until(() -> take(one, seen) + take(two, seen) >= 0 && sizes(one, two).equals(List.of(1, 1)));
            Set<TopicPartition> before = new HashSet<>(two.assignment());
            rebalances.clear();
            two.close();
            KafkaConsumer<String, String> again = member(with(kind, "group.instance.id", "two"), name);
            until(() -> take(one, seen) + take(again, seen) >= 0 && sizes(one, again).equals(List.of(1, 1)));
            check(again.assignment().equals(before), "the same partitions");
            check(rebalances.isEmpty(), "no rebalance for the other: " + rebalances);
            one.close();
            again.close();
        }
    }

    private static void fencedInstance(String topic) throws Exception {
        create(topic, 1);
        Map<String, Object> settings = with(classic(topic, "RangeAssignor"), "group.instance.id", "same");
        KafkaConsumer<String, String> old = member(settings, topic);
        until(() -> take(old, new HashSet<>()) >= 0 && old.assignment().size() == 1);
        KafkaConsumer<String, String> young = member(settings, topic);
        boolean[] fenced = new boolean[1];
        until(() -> {
            take(young, new HashSet<>());
            try {
                take(old, new HashSet<>());
            } catch (FencedInstanceIdException expected) {
                fenced[0] = true;
            }
            return fenced[0] && young.assignment().size() == 1;
        });
        young.close();
        old.close();
    }

    // Transactions

    private static void transactions(String topic) throws Exception {
        create(topic, 2);
        KafkaProducer<String, String> producer = producer(topic);
        producer.initTransactions();
        for (int number = 0; number < 6; number++) {
            producer.beginTransaction();
            for (int partition = 0; partition < 2; partition++) {
                producer.send(new ProducerRecord<>(topic, partition, "", number + "/" + partition)).get();
            }
            if (number % 2 == 0) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
        }
        producer.close();
        check(committed(topic, 2, 6).equals(new TreeSet<>(List.of("0/0", "0/1", "2/0", "2/1", "4/0", "4/1"))), "what is committed");
    }

    private static void fencedProducer(String topic) throws Exception {
        create(topic, 1);
        KafkaProducer<String, String> old = producer(topic);
        old.initTransactions();
        old.beginTransaction();
        old.send(new ProducerRecord<>(topic, 0, "", "lost")).get();
        KafkaProducer<String, String> young = producer(topic);
        young.initTransactions();
        young.beginTransaction();
        young.send(new ProducerRecord<>(topic, 0, "", "kept")).get();
        try {
            old.commitTransaction();
            throw new AssertionError("a fenced producer committed");
        } catch (ProducerFencedException expected) {
            old.close();
        }
        young.commitTransaction();
        young.close();
        check(committed(topic, 1, 1).equals(new TreeSet<>(List.of("kept"))), "what is committed");
    }

    /** Exactly once: half of the transactions are aborted, and what they did is done again. */
    private static void transform(String topic) throws Exception {
        create(topic, 2);
        create(topic + "-out", 2);
        fill(topic, 2, 0, 100);
        KafkaProducer<String, String> producer = producer(topic);
        producer.initTransactions();
        for (Map<String, Object> kind : List.of(classic(topic, "CooperativeStickyAssignor"), modern(topic + "-modern", "uniform"))) {
            KafkaConsumer<String, String> input = member(with(kind, "max.poll.records", "20"), topic);
            int done = 0;
            int turns = 0;
            while (done < 200) {
                List<ConsumerRecord<String, String>> records = new ArrayList<>();
                input.poll(Duration.ofMillis(500)).forEach(records::add);
                if (records.isEmpty()) {
                    check(++turns < 200, "records come");
                    continue;
                }
                boolean commit = ++turns % 2 == 0;
                producer.beginTransaction();
                Map<TopicPartition, OffsetAndMetadata> offsets = new LinkedHashMap<>();
                for (ConsumerRecord<String, String> record : records) {
                    producer.send(new ProducerRecord<>(topic + "-out", record.partition(), "", kind.get("group.id") + record.value()));
                    offsets.put(new TopicPartition(topic, record.partition()), new OffsetAndMetadata(record.offset() + 1));
                }
                producer.sendOffsetsToTransaction(offsets, input.groupMetadata());
                if (commit) {
                    producer.commitTransaction();
                    done += records.size();
                } else {
                    producer.abortTransaction();
                    for (TopicPartition partition : input.assignment()) {
                        OffsetAndMetadata offset = input.committed(Set.of(partition)).get(partition);
                        input.seek(partition, offset == null ? 0 : offset.offset());
                    }
                }
            }
            input.close();
        }
        producer.close();
        check(committed(topic + "-out", 2, 400).size() == 400, "each record once");
    }

    // How

    private static Map<String, Object> classic(String group, String assignor) {
        Map<String, Object> settings = consumerSettings(group);
        settings.put("partition.assignment.strategy", ASSIGNOR + assignor);
        settings.put("heartbeat.interval.ms", "300");
        return settings;
    }

    private static Map<String, Object> modern(String group, String assignor) {
        Map<String, Object> settings = consumerSettings(group);
        settings.put("group.protocol", "consumer");
        settings.put("group.remote.assignor", assignor);
        return settings;
    }

    private static Map<String, Object> consumerSettings(String group) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", group);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        settings.put("metadata.max.age.ms", "1000");
        return settings;
    }

    private static Map<String, Object> with(Map<String, Object> settings, String name, String value) {
        Map<String, Object> more = new LinkedHashMap<>(settings);
        more.put(name, value);
        return more;
    }

    private static KafkaConsumer<String, String> consumer(Map<String, Object> settings) {
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static KafkaConsumer<String, String> member(Map<String, Object> settings, String topic) {
        KafkaConsumer<String, String> made = consumer(settings);
        made.subscribe(List.of(topic));
        return made;
    }

    private static KafkaProducer<String, String> producer(String transactionalId) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        if (transactionalId != null) {
            settings.put("transactional.id", transactionalId);
        }
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static void create(String topic, int partitions) throws Exception {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
        }
    }

    private static void fill(String topic, int partitions, int first, int count) {
        try (KafkaProducer<String, String> producer = producer(null)) {
            for (int number = first; number < first + count; number++) {
                for (int partition = 0; partition < partitions; partition++) {
                    producer.send(new ProducerRecord<>(topic, partition, "", number + "/" + partition));
                }
            }
        }
    }

    /** Polls once; a record that was seen before is an error. */
    private static int take(KafkaConsumer<String, String> consumer, Set<String> seen) {
        int count = 0;
        for (ConsumerRecord<String, String> record : consumer.poll(TURN)) {
            check(seen.add(record.topic() + ":" + record.value()), "twice: " + record);
            count++;
        }
        if (count > 0) {
            commit(consumer);
        }
        return count;
    }

    /** Whether it could commit: not while a rebalance is under way, which goes on with the next poll. */
    private static boolean commit(KafkaConsumer<String, String> consumer) {
        try {
            consumer.commitSync();
            return true;
        } catch (RebalanceInProgressException later) {
            return false;
        }
    }

    private static TreeSet<String> committed(String topic, int partitions, int count) {
        TreeSet<String> values = new TreeSet<>();
        try (KafkaConsumer<String, String> reader = consumer(consumerSettings(topic + "-reader"))) {
            List<TopicPartition> all = new ArrayList<>();
            for (int partition = 0; partition < partitions; partition++) {
                all.add(new TopicPartition(topic, partition));
            }
            reader.assign(all);
            reader.seekToBeginning(all);
            until(() -> {
                reader.poll(TURN).forEach(record -> check(values.add(record.value()), "twice: " + record));
                return values.size() >= count;
            });
            reader.poll(Duration.ofMillis(300)).forEach(record -> values.add(record.value()));
        }
        return values;
    }

    @SafeVarargs
    private static List<Integer> sizes(KafkaConsumer<String, String>... consumers) {
        return Arrays.stream(consumers).map(found -> found.assignment().size()).toList();
    }

    private static void until(BooleanSupplier look) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!look.getAsBoolean()) {
            check(System.nanoTime() < deadline, "in time");
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
