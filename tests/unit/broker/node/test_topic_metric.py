"""What is counted about topics, as somebody who scrapes it sees it."""

from ottla.base.ids import Uuid
from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import render
from ottla.broker.node.topic_metric import TopicMetrics
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.metadata_log.topic import RemoveTopicRecord, TopicRecord

ID = Uuid(b"0123456789abcdef")


def test_counts_are_there_for_each_topic_and_for_all() -> None:
    registry = MetricRegistry()
    metrics = TopicMetrics(registry)
    metrics.of("a").messages_in += 3
    metrics.of("b").messages_in += 4
    text = render(registry)
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic="a"} 3' in text
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic="b"} 4' in text
    assert 'kafka_server_brokertopicmetrics_messagesin_total{topic=""} 7' in text
    assert 'kafka_server_brokertopicmetrics_bytesout_total{topic=""} 0' in text
    assert "# TYPE kafka_server_brokertopicmetrics_bytesin_total counter" in text


def test_deleted_topics_vanish_but_not_from_the_sum() -> None:
    registry = MetricRegistry()
    metrics = TopicMetrics(registry)
    metrics.of("gone").bytes_in += 3
    metrics.of("kept").bytes_in += 4
    image, _ = apply_records(EMPTY_IMAGE, [TopicRecord(name="gone", topic_id=ID)], Provenance(0, 0, 0))
    image, delta = apply_records(image, [RemoveTopicRecord(topic_id=ID)], Provenance(1, 0, 0))
    metrics.metadata_changed(delta, image)
    text = render(registry)
    assert '{topic="gone"}' not in text
    assert 'kafka_server_brokertopicmetrics_bytesin_total{topic=""} 7' in text
