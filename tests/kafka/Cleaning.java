import java.io.File;
import java.util.Optional;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Cleans the logs in partition directories with Kafka's cleaner and its default settings; prints seconds for each. */
public class Cleaning {
    public static void main(String[] directories) throws Exception {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", Time.SYSTEM);
        Cleaner cleaner = new Cleaner(
            0, new SkimpyOffsetMap(128 << 20), 256 << 10, 1 << 20, 0.9, throttler, Time.SYSTEM, partition -> { });
        for (String directory : directories) {
            UnifiedLog log = open(new File(directory), scheduler);
            log.updateHighWatermark(log.logEndOffset());
            LogToClean work = new LogToClean(log, log.logStartOffset(), log.activeSegment().baseOffset(), false);
            long started = System.nanoTime();
            cleaner.clean(work);
            System.out.println((System.nanoTime() - started) / 1e9);
            log.close();
        }
        System.exit(0);
    }

    private static UnifiedLog open(File directory, KafkaScheduler scheduler) throws Exception {
        java.util.Properties settings = new java.util.Properties();
        settings.put("cleanup.policy", "compact");
        settings.put("segment.bytes", String.valueOf(100 << 20));
        return UnifiedLog.create(
            directory, new LogConfig(settings), 0L, 0L, scheduler, new BrokerTopicStats(), Time.SYSTEM, 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(1), true,
            Optional.empty());
    }
}
