import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Prints the facts of every config key as `tests/unit/broker/config/kafka_keys.tsv` has them. */
public class KafkaKeys {
    public static void main(String[] args) {
        List<String> rows = new ArrayList<>();
        add(rows, "broker", AbstractKafkaConfig.CONFIG_DEF);
        add(rows, "topic", LogConfig.configDefCopy());
        add(rows, "group", GroupConfig.CONFIG_DEF);
        add(rows, "client-metrics", ClientMetricsConfigs.configDef());
        rows.sort(null);
        rows.forEach(System.out::println);
    }

    private static void add(List<String> rows, String of, ConfigDef keys) {
        for (ConfigDef.ConfigKey key : keys.configKeys().values()) {
            String dynamic = DynamicBrokerConfig.dynamicConfigUpdateModes().getOrDefault(key.name, "read-only");
            String valid = key.validator == null ? "" : key.validator.toString();
            rows.add(String.join("\t", of, key.name, key.type.toString(), defaultOf(key),
                of.equals("broker") ? dynamic : "", key.internalConfig ? "internal" : "", valid,
                of.equals("topic") ? synonymsOf(key.name) : "").stripTrailing());
        }
    }

    private static String defaultOf(ConfigDef.ConfigKey key) {
        if (!key.hasDefault()) {
            return "REQUIRED";
        }
        return key.defaultValue == null ? "NULL" : ConfigDef.convertToString(key.defaultValue, key.type);
    }

    private static String synonymsOf(String topicKey) {
        List<String> names = new ArrayList<>();
        for (var synonym : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(topicKey, List.of())) {
            names.add(synonym.name() + "/" + synonym.converter().apply("1"));
        }
        return String.join(",", names);
    }
}
