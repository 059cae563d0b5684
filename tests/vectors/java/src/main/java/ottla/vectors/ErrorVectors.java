// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** The error codes and what clients make of them. */
final class ErrorVectors {
    private ErrorVectors() {
    }

    static void write(Path root) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Errors error : Errors.values()) {
            ApiException exception = error.exception();
            lines.add(Json.line(Json.object()
                .put("code", error.code())
                .put("name", error.name())
                .put("message", error.message())
                .put("retriable", exception instanceof RetriableException)
                .put("exception", exception == null ? null : exception.getClass().getSimpleName())
                .put("invalidMetadata", exception instanceof InvalidMetadataException)));
        }
        Json.write(root.resolve("errors.jsonl"), lines);
    }
}
