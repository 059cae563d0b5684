// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.protocol.ApiKeys;

/** The live APIs with their versions, listeners and header versions. */
final class ApiVectors {
    private ApiVectors() {
    }

    static void write(Path root) throws IOException {
        List<String> lines = new ArrayList<>();
        for (ApiKeys api : ApiKeys.values()) {
            if (api.hasValidVersion()) {
                lines.add(Json.line(describe(api)));
            }
        }
        Json.write(root.resolve("apis.jsonl"), lines);
    }

    private static ObjectNode describe(ApiKeys api) {
        ObjectNode line = Json.object()
            .put("key", api.id)
            .put("name", api.name())
            .put("title", api.name)
            .put("minVersion", api.oldestVersion())
            .put("maxVersion", api.latestVersion())
            .put("latestVersionUnstable", api.messageType.latestVersionUnstable());
        ArrayNode listeners = line.putArray("listeners");
        for (ListenerType listener : api.messageType.listeners()) {
            listeners.add(listener.name().toLowerCase(Locale.ROOT));
        }
        line.put("forwardable", api.forwardable).put("clusterAction", api.clusterAction);
        ObjectNode requests = line.putObject("requestHeaderVersions");
        ObjectNode responses = line.putObject("responseHeaderVersions");
        for (short version : api.allVersions()) {
            requests.put(Short.toString(version), api.requestHeaderVersion(version));
            responses.put(Short.toString(version), api.responseHeaderVersion(version));
        }
        return line;
    }
}
