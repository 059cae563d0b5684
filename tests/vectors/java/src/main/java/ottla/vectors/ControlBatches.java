// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Batches that the transaction coordinator and the quorum write to steer their readers. */
final class ControlBatches {
    private static final long NOW = SampleRecords.NOW;
    private static final int EPOCH = 12;
    private static final Uuid DIRECTORY = new Uuid(0x0123456789abcdefL, 0xfedcba9876543210L);

    private ControlBatches() {
    }

    static void write(Path directory) throws IOException {
        BatchFile file = new BatchFile();
        file.add("commit", marker(ControlRecordType.COMMIT));
        file.add("abort", marker(ControlRecordType.ABORT));
        file.add("leader-change", MemoryRecords.withLeaderChangeMessage(300L, NOW, EPOCH, buffer(), leaderChange()));
        file.add("snapshot-header", MemoryRecords.withSnapshotHeaderRecord(0L, NOW, EPOCH, buffer(),
            new SnapshotHeaderRecord().setLastContainedLogTimestamp(NOW - 1)));
        file.add("snapshot-footer", MemoryRecords.withSnapshotFooterRecord(9L, NOW, EPOCH, buffer(),
            new SnapshotFooterRecord()));
        file.add("kraft-version", MemoryRecords.withKRaftVersionRecord(1L, NOW, EPOCH, buffer(),
            new KRaftVersionRecord().setKRaftVersion((short) 1)));
        file.add("voters", MemoryRecords.withVotersRecord(2L, NOW, EPOCH, buffer(), voters()));
        file.write(directory.resolve("control.jsonl"));
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocate(512);
    }

    private static MemoryRecords marker(ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(
            500L, NOW, EPOCH, 4_000_000_001L, (short) 2, new EndTransactionMarker(type, 31));
    }

    /** Version 0, the only one that Kafka's builder writes. */
    private static LeaderChangeMessage leaderChange() {
        List<LeaderChangeMessage.Voter> voters = List.of(
            new LeaderChangeMessage.Voter().setVoterId(1),
            new LeaderChangeMessage.Voter().setVoterId(2));
        return new LeaderChangeMessage()
            .setLeaderId(1).setVoters(voters).setGrantingVoters(voters.subList(0, 1));
    }

    private static VotersRecord voters() {
        VotersRecord.EndpointCollection endpoints = new VotersRecord.EndpointCollection();
        endpoints.add(new VotersRecord.Endpoint().setName("CONTROLLER").setHost("localhost").setPort(59093));
        return new VotersRecord().setVoters(List.of(
            new VotersRecord.Voter()
                .setVoterId(1)
                .setVoterDirectoryId(DIRECTORY)
                .setEndpoints(endpoints)
                .setKRaftVersionFeature(new VotersRecord.KRaftVersionFeature().setMaxSupportedVersion((short) 1))));
    }
}
