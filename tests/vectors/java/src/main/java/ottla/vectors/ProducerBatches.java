// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Batches of idempotent and transactional producers. */
final class ProducerBatches {
    private static final long PRODUCER = 4_000_000_001L;

    private ProducerBatches() {
    }

    static void write(Path directory) throws IOException {
        BatchFile file = new BatchFile();
        file.add("idempotent-first", MemoryRecords.withIdempotentRecords(
            0L, Compression.NONE, PRODUCER, (short) 0, 0, 3, SampleRecords.one()));
        file.add("idempotent-mixed-zstd", MemoryRecords.withIdempotentRecords(
            5L, Codecs.of(CompressionType.ZSTD), PRODUCER, (short) 7, 1000, 3, SampleRecords.mixed()));
        file.add("idempotent-sequence-wraps", MemoryRecords.withIdempotentRecords(
            70L, Compression.NONE, PRODUCER, Short.MAX_VALUE, Integer.MAX_VALUE - 2, 3, SampleRecords.mixed()));
        file.add("transactional", MemoryRecords.withTransactionalRecords(
            100L, Compression.NONE, PRODUCER, (short) 2, 17, 9, SampleRecords.mixed()));
        file.add("transactional-lz4", MemoryRecords.withTransactionalRecords(
            200L, Codecs.of(CompressionType.LZ4), Long.MAX_VALUE, (short) 2, 23, 9, SampleRecords.mixed()));
        file.write(directory.resolve("producer.jsonl"));
    }
}
