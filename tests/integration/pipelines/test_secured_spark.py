"""Spark's source and sink on a cluster with TLS, log-in and rights: the same settings as any client's."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.failure import reason
from ottla.pipelines.streams.kafka_streams import KafkaStreams
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.streams import RunState
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow
from tests.integration.streams.counting import counting, counts, expected, produce
from tests.integration.streams.test_local_secured import VALUES, rights

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.long
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
ROWS = 100
PATIENCE_S = 300.0
SETTINGS = {
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    # Records are dated long ago.
    "log.initial.task.delay.ms": "86400000",
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("secured"), **GUARDED, **SETTINGS) as found:
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


def streams(spark: "SparkSession", node: SecuredNode, name: str, directory: Path, lacking: str = "") -> KafkaStreams:
    """The application of the local host's tests, on Spark; alice lacks one right, or none."""
    with Admin(bootstrap_servers=node.address("PLAINTEXT", "127.0.0.1")) as admin:
        admin.create_topics([NewTopic(f"{name}-{end}", 2, 1) for end in ("in", "out")])
    produce(node.address("PLAINTEXT", "127.0.0.1"), f"{name}-in", VALUES)
    for what, (operation, kind, resource, pattern) in rights(name, "exactly_once_v2").items():
        if what != lacking:
            allow(node, operation, kind, resource, pattern=pattern)
    settings = {key.removeprefix("kafka."): value for key, value in options(node).items()}
    config = {
        "application.id": name,
        "state.dir": str(directory),
        "replication.factor": "1",
        "processing.guarantee": "exactly_once_v2",
        **settings,
    }
    return KafkaStreams(counting(f"{name}-in", f"{name}-out"), config, spark=spark)


def test_an_application_of_streams(spark: "SparkSession", node: SecuredNode, tmp_path: Path) -> None:
    plain = node.address("PLAINTEXT", "127.0.0.1")
    running = streams(spark, node, "least-spark", tmp_path)
    running.start()
    try:
        deadline = time.monotonic() + PATIENCE_S
        while counts(plain, "least-spark-out") != expected(VALUES):
            assert time.monotonic() < deadline, running.state
            time.sleep(0.2)
    finally:
        running.close()


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ("read its group", "Group authorization failed.+ needs READ on the group NAME"),
        ("write its output", "NAME-out: Topic authorization failed.+ WRITE on those that it writes"),
        ("write transactions", "authorization failed.+ needs WRITE on transactional ids that begin with NAME"),
    ],
)
def test_an_application_that_lacks_a_right(
    spark: "SparkSession", node: SecuredNode, tmp_path: Path, lacking: str, said: str
) -> None:
    name = f"spark-{lacking.replace(' ', '-')}"
    running = streams(spark, node, name, tmp_path, lacking)
    running.start()
    try:
        assert not running.wait_for(RunState.NOT_RUNNING, PATIENCE_S)
        assert running.failure is not None, running.state
        assert re.search(said.replace("NAME", name), str(running.failure))
    finally:
        running.close()
