// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Batches of the current format as producers without idempotence write them: every codec, both timestamp types. */
final class DataBatches {
    private static final long BASE_OFFSET = 1_234_567_890_123L;

    private DataBatches() {
    }

    static void write(Path directory) throws IOException {
        BatchFile file = new BatchFile();
        Map<String, SimpleRecord[]> samples = new LinkedHashMap<>();
        samples.put("one", SampleRecords.one());
        samples.put("mixed", SampleRecords.mixed());
        samples.put("many", SampleRecords.many());
        for (CompressionType codec : CompressionType.values()) {
            samples.forEach((sample, records) -> {
                String name = codec.name + "-" + sample;
                file.add(name + "-create",
                    build(Codecs.of(codec), TimestampType.CREATE_TIME, RecordBatch.NO_TIMESTAMP, records));
                file.add(name + "-append",
                    build(Codecs.of(codec), TimestampType.LOG_APPEND_TIME, SampleRecords.NOW + 77, records));
            });
        }
        file.add("none-untimed-create", build(
            Compression.NONE, TimestampType.CREATE_TIME, RecordBatch.NO_TIMESTAMP, SampleRecords.untimed()));
        level(file, CompressionType.GZIP, 1);
        level(file, CompressionType.GZIP, 9);
        level(file, CompressionType.LZ4, 1);
        level(file, CompressionType.LZ4, 17);
        level(file, CompressionType.ZSTD, -7);
        level(file, CompressionType.ZSTD, 19);
        file.write(directory.resolve("data.jsonl"));
    }

    private static void level(BatchFile file, CompressionType codec, int level) {
        String name = codec.name + "-level" + level + "-create";
        file.add(name, level, build(
            Codecs.of(codec, level), TimestampType.CREATE_TIME, RecordBatch.NO_TIMESTAMP, SampleRecords.mixed()));
    }

    private static MemoryRecords build(
            Compression codec, TimestampType type, long logAppendTime, SimpleRecord[] records) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1024),
            RecordBatch.CURRENT_MAGIC_VALUE, codec, type, BASE_OFFSET, logAppendTime, 42);
        for (SimpleRecord record : records) {
            builder.append(record);
        }
        return builder.build();
    }
}
