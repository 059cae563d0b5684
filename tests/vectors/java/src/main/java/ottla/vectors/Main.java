// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes all vectors below the directory given as the only argument, and prints how large they are. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        Path root = Path.of(args[0]);
        MessageVectors.write(root);
        Path batches = root.resolve("batches");
        DataBatches.write(batches);
        ProducerBatches.write(batches);
        ControlBatches.write(batches);
        CompactedBatches.write(batches);
        LegacyBatches.write(batches);
        ErrorVectors.write(root);
        ApiVectors.write(root);
        HashVectors.write(root);
        printSizes(root);
    }

    private static void printSizes(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            files.filter(file -> file.toString().endsWith(".jsonl"))
                .collect(Collectors.groupingBy(
                    file -> root.relativize(file).getName(0).toString(), TreeMap::new,
                    Collectors.summingLong(file -> file.toFile().length())))
                .forEach((name, size) -> System.out.printf("%-14s %,9d bytes%n", name, size));
        }
    }
}
