// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/** Collects record batches, each described by what Kafka's reader finds in its bytes. */
final class BatchFile {
    private final List<String> lines = new ArrayList<>();

    /** Adds the batches of a set; where there are several, their names get a running number. */
    void add(String name, Integer level, MemoryRecords set) {
        List<MutableRecordBatch> batches = new ArrayList<>();
        MemoryRecords.readableRecords(set.buffer().duplicate()).batches().forEach(batches::add);
        for (int i = 0; i < batches.size(); i++) {
            lines.add(Json.line(describe(batches.size() == 1 ? name : name + "-" + i, level, batches.get(i))));
        }
    }

    void add(String name, MemoryRecords set) {
        add(name, null, set);
    }

    void write(Path file) throws IOException {
        Json.write(file, lines);
    }

    private static ObjectNode describe(String name, Integer level, MutableRecordBatch batch) {
        batch.ensureValid();
        ByteBuffer bytes = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(bytes);
        ObjectNode line = Json.object()
            .put("name", name)
            .put("hex", Json.hex(bytes.flip()))
            .put("baseOffset", batch.baseOffset())
            .put("lastOffset", batch.lastOffset())
            .put("magic", batch.magic())
            .put("crc", batch.checksum())
            .put("codec", batch.compressionType().name)
            .put("level", level)
            .put("timestampType", batch.timestampType().name)
            .put("baseTimestamp", batch instanceof DefaultRecordBatch v2 ? v2.baseTimestamp() : null)
            .put("maxTimestamp", batch.maxTimestamp())
            .put("producerId", batch.producerId())
            .put("producerEpoch", batch.producerEpoch())
            .put("baseSequence", batch.baseSequence())
            .put("lastSequence", batch.lastSequence())
            .put("partitionLeaderEpoch", batch.partitionLeaderEpoch())
            .put("transactional", batch.isTransactional())
            .put("control", batch.isControlBatch())
            .put("deleteHorizon", batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null);
        ArrayNode records = line.putArray("records");
        for (Record record : batch) {
            record.ensureValid();
            records.add(describe(record));
        }
        return line;
    }

    private static ObjectNode describe(Record record) {
        ObjectNode node = Json.object()
            .put("offset", record.offset())
            .put("timestamp", record.timestamp())
            .put("key", Json.hex(record.key()))
            .put("value", Json.hex(record.value()));
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(Json.hex(header.value()));
        }
        return node;
    }
}
