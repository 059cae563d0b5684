// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Seeded random values for every field type that is neither a struct nor an array. */
final class Scalars {
    private static final String ASCII = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. /\"\\";
    private static final String[] NON_ASCII = {"é", "ß", "λ", "Ж", "日", "😀"};

    private final Random random;

    Scalars(Random random) {
        this.random = random;
    }

    /** A value of the schema type in the Java type; {@code length} bounds strings and bytes. */
    Object next(Type type, Class<?> javaType, int length) {
        if (type == Type.BOOLEAN) {
            return random.nextBoolean();
        } else if (type == Type.INT8) {
            return (byte) signed(Byte.SIZE);
        } else if (type == Type.INT16) {
            return (short) signed(Short.SIZE);
        } else if (type == Type.UINT16) {
            return (int) unsigned(Short.SIZE);
        } else if (type == Type.INT32) {
            return (int) signed(Integer.SIZE);
        } else if (type == Type.UNSIGNED_INT32) {
            return unsigned(Integer.SIZE);
        } else if (type == Type.INT64) {
            return signed(Long.SIZE);
        } else if (type == Type.FLOAT64) {
            return random.nextGaussian() * Math.pow(10, random.nextInt(41) - 20);
        } else if (type == Type.UUID) {
            return new Uuid(random.nextLong(), random.nextLong());
        } else if (javaType == String.class) {
            return text(length);
        } else if (javaType == byte[].class) {
            return bytes(length);
        } else if (javaType == ByteBuffer.class) {
            return ByteBuffer.wrap(bytes(length));
        }
        return records();
    }

    /** A whole number of any magnitude and sign in that many bits, the extremes included. */
    private long signed(int bits) {
        return switch (random.nextInt(8)) {
            case 0 -> -1L << (bits - 1);
            case 1 -> ~(-1L << (bits - 1));
            default -> random.nextLong() >> (Long.SIZE - bits + random.nextInt(bits));
        };
    }

    /** The same without a sign. */
    private long unsigned(int bits) {
        if (random.nextInt(4) == 0) {
            return ~(-1L << bits);
        }
        return random.nextLong() >>> (Long.SIZE - bits + random.nextInt(bits));
    }

    private String text(int length) {
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            if (random.nextInt(12) == 0) {
                text.append(NON_ASCII[random.nextInt(NON_ASCII.length)]);
            } else {
                text.append(ASCII.charAt(random.nextInt(ASCII.length())));
            }
        }
        return text.toString();
    }

    byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** A batch of one or two records, as Kafka's producer would send it. */
    private MemoryRecords records() {
        SimpleRecord[] records = new SimpleRecord[1 + random.nextInt(2)];
        for (int i = 0; i < records.length; i++) {
            records[i] = new SimpleRecord(random.nextInt(Integer.MAX_VALUE), bytes(3), bytes(5));
        }
        return MemoryRecords.withRecords(Compression.NONE, records);
    }
}
