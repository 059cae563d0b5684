"""Spark's source and sink on a cluster with TLS, log-in and rights: the same settings as any client's."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.failure import reason
from ottla.protocol.acl import AclOperation, AclResourceType
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.long
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
ROWS = 100


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("secured"), **GUARDED) as found:
        with Admin(bootstrap_servers=found.address("PLAINTEXT", "127.0.0.1")) as admin:
            admin.create_topics([NewTopic(name, 2, 1) for name in ("in", "out", "hidden")])
        for operation in (AclOperation.READ, AclOperation.WRITE):
            for topic in ("in", "out"):
                allow(found, operation, AclResourceType.TOPIC, topic)
        yield found


def options(node: SecuredNode) -> dict[str, str]:
    """Alice's."""
    return {
        "kafka.bootstrap.servers": node.address("SASLTLS"),
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": f'{_MODULE} username="alice" password="secret";',
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(node.authority.certificate),
    }


def load(spark: "SparkSession", node: SecuredNode, topic: str) -> "DataFrame":
    return spark.read.format("ottla").options(**options(node)).option("subscribe", topic).load()


def test_batch_and_stream(spark: "SparkSession", node: SecuredNode, tmp_path: Path) -> None:
    rows = spark.range(ROWS).selectExpr("cast(id as string) as value")
    rows.write.format("ottla").options(**options(node)).option("topic", "in").mode("append").save()
    assert load(spark, node, "in").count() == ROWS
    stream = spark.readStream.format("ottla").options(**options(node)).option("subscribe", "in")
    read = stream.option("startingOffsets", "earliest").load().select("value")
    sink = read.writeStream.format("ottla").options(**options(node)).option("topic", "out")
    running = sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    assert running.awaitTermination(240)
    assert load(spark, node, "out").distinct().count() == ROWS


def test_what_may_not_be_read_or_written_says_so(spark: "SparkSession", node: SecuredNode) -> None:
    with pytest.raises(Exception) as refused:
        load(spark, node, "hidden").count()
    assert "uthoriz" in reason(refused.value)
    assert "secret" not in reason(refused.value)
    rows = spark.range(1).selectExpr("cast(id as string) as value")
    with pytest.raises(Exception) as refused:
        rows.write.format("ottla").options(**options(node)).option("topic", "hidden").mode("append").save()
    assert "uthoriz" in reason(refused.value)
