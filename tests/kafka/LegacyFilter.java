import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;

/** Filters a log file as Kafka's cleaner does. Arguments: file, offsets to keep, time, delete.retention.ms; prints hex. */
public class LegacyFilter {
    public static void main(String[] args) throws Exception {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))));
        Set<Long> kept = Arrays.stream(args[1].split(",")).map(Long::valueOf).collect(Collectors.toSet());
        MemoryRecords.RecordFilter filter = new MemoryRecords.RecordFilter(Long.parseLong(args[2]), Long.parseLong(args[3])) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                return new BatchRetentionResult(BatchRetention.DELETE_EMPTY, false);
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                return kept.contains(record.offset());
            }
        };
        ByteBuffer written = ByteBuffer.allocate(1 << 20);
        ByteBuffer output = records.filterTo(filter, written, BufferSupplier.NO_CACHING).outputBuffer();
        output.flip();
        byte[] bytes = new byte[output.remaining()];
        output.get(bytes);
        System.out.print(HexFormat.of().formatHex(bytes));
    }
}
