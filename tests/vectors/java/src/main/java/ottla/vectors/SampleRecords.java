// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** The records that the batches are made of. */
final class SampleRecords {
    static final long NOW = 1_750_000_000_000L;

    private SampleRecords() {
    }

    static SimpleRecord[] one() {
        return new SimpleRecord[] {new SimpleRecord(NOW, bytes("key"), bytes("value"))};
    }

    static SimpleRecord[] untimed() {
        return new SimpleRecord[] {new SimpleRecord(bytes("untimed")), new SimpleRecord(bytes("untimed too"))};
    }

    /** Null and empty keys and values, headers, and timestamps that go backwards or are missing. */
    static SimpleRecord[] mixed() {
        Header[] headers = {
            new RecordHeader("trace", bytes("0123456789abcdef")),
            new RecordHeader("trace", null),
            new RecordHeader("", new byte[0]),
            new RecordHeader("schlüssel", new byte[] {0, (byte) 0xff}),
        };
        return new SimpleRecord[] {
            new SimpleRecord(NOW, bytes("key"), bytes("value"), headers),
            new SimpleRecord(NOW - 5_000, (byte[]) null, bytes("keyless")),
            new SimpleRecord(NOW + 86_400_000L, bytes("tombstone"), null),
            new SimpleRecord(-1L, new byte[0], new byte[0]),
            new SimpleRecord(NOW + 1, (byte[]) null, null, new Header[] {new RecordHeader("h", bytes("v"))}),
            new SimpleRecord(0L, bytes("long"), bytes("x".repeat(200))),
        };
    }

    /** Three hundred records of about fifty bytes, half of them random. */
    static SimpleRecord[] many() {
        Random random = new Random("many".hashCode());
        SimpleRecord[] records = new SimpleRecord[300];
        for (int i = 0; i < records.length; i++) {
            String value = "{\"sensor\":" + i % 7 + ",\"reading\":" + Long.toHexString(random.nextLong()) + "}";
            records[i] = new SimpleRecord(NOW + 10L * i, bytes("sensor-" + i % 7), bytes(value));
        }
        return records;
    }

    /** Records as the oldest formats hold them, without headers. */
    static SimpleRecord[] legacy() {
        return new SimpleRecord[] {
            new SimpleRecord(NOW, bytes("key"), bytes("value")),
            new SimpleRecord(NOW - 7, (byte[]) null, bytes("keyless")),
            new SimpleRecord(NOW + 9, bytes("tombstone"), null),
            new SimpleRecord(NOW, new byte[0], new byte[0]),
            new SimpleRecord(NOW, bytes("long"), bytes("compressible ".repeat(20))),
        };
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
