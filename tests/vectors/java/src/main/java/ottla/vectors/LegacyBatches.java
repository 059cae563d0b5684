// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Message sets of the two oldest formats: plain messages, and wrappers around compressed ones. */
final class LegacyBatches {
    private static final long BASE_OFFSET = 1_000L;
    private static final List<CompressionType> CODECS =
        List.of(CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4);

    private LegacyBatches() {
    }

    static void write(Path directory) throws IOException {
        BatchFile file = new BatchFile();
        for (CompressionType codec : CODECS) {
            for (int offsetStep : new int[] {1, 3}) {
                String suffix = offsetStep == 1 ? "" : "-gaps";
                file.add("v0-" + codec.name + suffix,
                    build(RecordBatch.MAGIC_VALUE_V0, codec, TimestampType.NO_TIMESTAMP_TYPE, offsetStep));
                file.add("v1-" + codec.name + "-create" + suffix,
                    build(RecordBatch.MAGIC_VALUE_V1, codec, TimestampType.CREATE_TIME, offsetStep));
                file.add("v1-" + codec.name + "-append" + suffix,
                    build(RecordBatch.MAGIC_VALUE_V1, codec, TimestampType.LOG_APPEND_TIME, offsetStep));
            }
        }
        file.write(directory.resolve("legacy.jsonl"));
    }

    private static MemoryRecords build(byte magic, CompressionType codec, TimestampType type, int offsetStep) {
        long logAppendTime =
            type == TimestampType.LOG_APPEND_TIME ? SampleRecords.NOW + 77 : RecordBatch.NO_TIMESTAMP;
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(1024), magic, Codecs.of(codec), type, BASE_OFFSET, logAppendTime);
        long offset = BASE_OFFSET;
        for (SimpleRecord record : SampleRecords.legacy()) {
            builder.appendWithOffset(offset, record);
            offset += offsetStep;
        }
        return builder.build();
    }
}
