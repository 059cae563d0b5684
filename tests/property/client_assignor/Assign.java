import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** Reads an input a line (JSON) from a file and prints what Apache Kafka's assignor makes of each. */
public class Assign {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0])))
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }

    private static JsonNode answer(JsonNode input) {
        ObjectNode members = JSON.createObjectNode();
        try {
            Map<String, Subscription> group = new LinkedHashMap<>();
            input.get("members").properties().forEach(m -> group.put(m.getKey(), subscription(m.getValue())));
            assignor(input.get("assignor").asText()).assign(cluster(input.get("topics")), new GroupSubscription(group))
                .groupAssignment().forEach((member, assignment) -> members.set(member, partitions(assignment.partitions())));
        } catch (NullPointerException | IllegalStateException bug) {
            return JSON.getNodeFactory().textNode(bug.toString());
        }
        return members;
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Cluster cluster(JsonNode topics) {
        List<Node> nodes = new ArrayList<>();
        List<PartitionInfo> infos = new ArrayList<>();
        topics.properties().forEach(topic -> {
            int number = 0;
            for (JsonNode racks : topic.getValue()) {
                List<Node> replicas = new ArrayList<>();
                for (JsonNode rack : racks)
                    replicas.add(new Node(nodes.size() + replicas.size(), "host", 9092, rack.asText()));
                if (replicas.isEmpty())
                    replicas.add(new Node(nodes.size(), "host", 9092));
                nodes.addAll(replicas);
                Node[] all = replicas.toArray(new Node[0]);
                infos.add(new PartitionInfo(topic.getKey(), number++, all[0], all, all));
            }
        });
        return new Cluster("cluster", nodes, infos, Set.of(), Set.of());
    }

    private static Subscription subscription(JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").forEach(p -> owned.add(new TopicPartition(p.get(0).asText(), p.get(1).asInt())));
        JsonNode data = member.get("user_data");
        ByteBuffer bytes = data.isNull() ? null : ByteBuffer.wrap(HexFormat.of().parseHex(data.asText()));
        JsonNode rack = member.get("rack");
        Subscription subscription = new Subscription(topics, bytes, owned, member.get("generation").asInt(),
            rack.isNull() ? Optional.empty() : Optional.of(rack.asText()));
        JsonNode instance = member.get("instance");
        subscription.setGroupInstanceId(instance.isNull() ? Optional.empty() : Optional.of(instance.asText()));
        return subscription;
    }

    private static ArrayNode partitions(List<TopicPartition> partitions) {
        ArrayNode list = JSON.createArrayNode();
        partitions.forEach(p -> list.addArray().add(p.topic()).add(p.partition()));
        return list;
    }
}
