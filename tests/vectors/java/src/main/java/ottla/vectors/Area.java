// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.NoOpRecord;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotKey;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogKey;
import org.apache.kafka.raft.generated.QuorumStateData;
import org.apache.kafka.server.log.remote.metadata.storage.generated.ProducerSnapshot;

/** A package of generated message classes and the directory its vectors go to. */
record Area(String directory, Class<?> anchor) {
    private static final String CONVERTER = "JsonConverter";

    static final List<Area> ALL = List.of(
        new Area("messages", RequestHeaderData.class),
        new Area("records/metadata", NoOpRecord.class),
        new Area("records/group-coordinator", GroupMetadataKey.class),
        new Area("records/transaction-coordinator", TransactionLogKey.class),
        new Area("records/share-coordinator", ShareSnapshotKey.class),
        new Area("records/storage", ProducerSnapshot.class),
        new Area("records/raft", QuorumStateData.class));

    /** Every message of the package: those for which its jar holds a JSON converter. */
    List<GeneratedMessage> messages() throws IOException, ReflectiveOperationException {
        String prefix = anchor.getPackageName().replace('.', '/') + "/";
        URL jar = anchor.getProtectionDomain().getCodeSource().getLocation();
        List<String> names;
        try (JarFile file = new JarFile(new File(URI.create(jar.toString())))) {
            names = file.stream()
                .map(JarEntry::getName)
                .filter(name -> name.startsWith(prefix) && !name.contains("$"))
                .filter(name -> name.endsWith(CONVERTER + ".class"))
                .map(name -> name.substring(0, name.lastIndexOf(CONVERTER)).replace('/', '.'))
                .sorted()
                .toList();
        }
        List<GeneratedMessage> messages = new ArrayList<>();
        for (String name : names) {
            messages.add(new GeneratedMessage(Class.forName(name), Class.forName(name + CONVERTER)));
        }
        return messages;
    }
}
