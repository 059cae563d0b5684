// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter.BatchRetention;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter.BatchRetentionResult;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;

/** Batches as log compaction leaves them: with gaps, with a delete horizon, or empty. */
final class CompactedBatches {
    private static final long BASE_OFFSET = 40L;

    private CompactedBatches() {
    }

    static void write(Path directory) throws IOException {
        BatchFile file = new BatchFile();
        for (CompressionType codec : CompressionType.values()) {
            MemoryRecords original = MemoryRecords.withIdempotentRecords(
                BASE_OFFSET, Codecs.of(codec), 77L, (short) 1, 10, 5, SampleRecords.mixed());
            file.add(codec.name + "-gaps", compact(original, Set.of(1L, 3L)));
            file.add(codec.name + "-delete-horizon", compact(original, Set.of(0L, 2L)));
        }
        MemoryRecords twice = compact(
            compact(MemoryRecords.withRecords(BASE_OFFSET, Compression.NONE, SampleRecords.mixed()), Set.of(2L, 5L)),
            Set.of(2L));
        file.add("none-delete-horizon-kept", twice);
        file.add("emptied-idempotent", compact(MemoryRecords.withIdempotentRecords(
            BASE_OFFSET, Compression.NONE, 77L, (short) 1, 10, 5, SampleRecords.mixed()), Set.of()));
        file.add("emptied-transactional", compact(MemoryRecords.withTransactionalRecords(
            BASE_OFFSET, Codecs.of(CompressionType.LZ4), 77L, (short) 1, 10, 5, SampleRecords.mixed()), Set.of()));
        file.add("empty-log-append-time", empty());
        file.write(directory.resolve("compacted.jsonl"));
    }

    /** What compaction makes of the records when it keeps those at these offsets from the base. */
    private static MemoryRecords compact(MemoryRecords records, Set<Long> kept) {
        RecordFilter filter = new RecordFilter(SampleRecords.NOW + 1_000, 86_400_000L) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, false);
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                return kept.contains(record.offset() - BASE_OFFSET);
            }
        };
        ByteBuffer output = ByteBuffer.allocate(4096);
        ByteBuffer filtered = records.filterTo(filter, output, BufferSupplier.NO_CACHING).outputBuffer();
        return MemoryRecords.readableRecords(filtered.flip());
    }

    private static MemoryRecords empty() {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(buffer, RecordBatch.CURRENT_MAGIC_VALUE, 77L, (short) 1, 10,
            BASE_OFFSET, BASE_OFFSET + 9, 5, TimestampType.LOG_APPEND_TIME, SampleRecords.NOW, false, false);
        return MemoryRecords.readableRecords(buffer.flip());
    }
}
