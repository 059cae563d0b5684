// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;

/** The hash of the default partitioner, Java's string hash, and the text form of UUIDs. */
final class HashVectors {
    private static final List<String> TEXTS = List.of(
        "", "a", "b", "ab", "ba", "key", "group", "my-group", "consumer-group-0", "transactional.id",
        "__consumer_offsets", "__transaction_state", "a rather longer name that overflows thirty-two bits",
        "é", "日本語", "Ωmega", "😀", "a😀b", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "Aa", "BB", "\u0000", "tab\tand\nline");

    private HashVectors() {
    }

    static void write(Path root) throws IOException {
        Random random = new Random("hashes".hashCode());
        List<String> lines = new ArrayList<>();
        for (String text : TEXTS) {
            lines.add(murmur2(text.getBytes(StandardCharsets.UTF_8)));
        }
        for (int length : new int[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 255}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            lines.add(murmur2(bytes));
        }
        for (String text : TEXTS) {
            lines.add(Json.line(Json.object()
                .put("kind", "javaStringHash").put("text", text).put("value", text.hashCode())));
        }
        for (Uuid uuid : List.of(Uuid.ZERO_UUID, Uuid.METADATA_TOPIC_ID, new Uuid(-1, -1))) {
            lines.add(uuid(uuid));
        }
        for (int i = 0; i < 17; i++) {
            lines.add(uuid(new Uuid(random.nextLong(), random.nextLong())));
        }
        Json.write(root.resolve("hashes.jsonl"), lines);
    }

    private static String murmur2(byte[] bytes) {
        int hash = Utils.murmur2(bytes);
        return Json.line(Json.object()
            .put("kind", "murmur2").put("hex", Json.hex(bytes)).put("value", hash)
            .put("toPositive", Utils.toPositive(hash)));
    }

    private static String uuid(Uuid uuid) {
        ByteBuffer bytes = ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
        return Json.line(Json.object()
            .put("kind", "uuid").put("hex", Json.hex(bytes.flip())).put("text", uuid.toString()));
    }
}
