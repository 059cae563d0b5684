"""A client that an operator's policy refuses reads the policy's own sentence."""

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from ottla.testing import EmbeddedBroker
from tests.unit.broker.node.test_operator_policy import NoInfiniteRetention, ThreePartitions, named


def test_a_client_reads_why_a_policy_refused_it() -> None:
    settings = {
        "create.topic.policy.class.name": named(ThreePartitions),
        "alter.config.policy.class.name": named(NoInfiniteRetention),
    }
    with EmbeddedBroker(settings) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.create_topics([NewTopic("small", 3, 1)])["small"].result(30)
        with pytest.raises(KafkaException) as refused:
            admin.create_topics([NewTopic("large", 4, 1)])["large"].result(30)
        assert refused.value.args[0].code() == KafkaError.POLICY_VIOLATION
        assert refused.value.args[0].str() == "large: at most 3 partitions"

        entry = ConfigEntry("retention.ms", "-1", incremental_operation=AlterConfigOpType.SET)
        change = ConfigResource(ResourceType.TOPIC, "small", incremental_configs=[entry])
        with pytest.raises(KafkaException, match="small may not be kept for ever"):
            admin.incremental_alter_configs([change])[change].result(30)
