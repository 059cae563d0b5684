"""Writes the dead letters of one task, and makes their topic if it is not there.

What was written is durable when `flush` returns; until then no offset is committed.
"""

import logging
from collections.abc import Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.errors import RecordTooLargeError
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from ottla.connect.config.connector_key import SINK
from ottla.connect.pipeline.dead_letter import ProducerRecord
from ottla.pipelines.connect.client_setting import admin_settings, dead_letter_settings
from ottla.pipelines.connect.definition import TaskJob
from ottla.protocol.errors import TopicAlreadyExistsError

_log: Final = logging.getLogger(__name__)
_TOPIC: Final = "errors.deadletterqueue.topic.name"
_REPLICAS: Final = "errors.deadletterqueue.topic.replication.factor"


class DeadLetterWriter:
    """Connects with the first dead letter."""

    def __init__(self, job: TaskJob) -> None:
        self._job: Final = job
        self._producer: Producer | None = None
        self._error: BaseException | None = None

    def write(self, record: ProducerRecord) -> None:
        """Sends it."""
        if self._producer is None:
            self._make_topic()
            job = self._job
            self._producer = Producer(dead_letter_settings(job.config, job.worker, job.number))
        try:
            self._producer.send(
                record.topic, record.value, record.key, timestamp_ms=record.timestamp, headers=record.headers,
                on_delivery=self._delivered,
            )  # fmt: skip
        except RecordTooLargeError as error:
            # errors.tolerance=all: what no topic takes is skipped, as Kafka skips every bad record of a source.
            _log.error("A dead letter of %s-%d is lost: %s", self._job.name, self._job.number, error)

    def flush(self) -> None:
        """Waits until they are durable; raises what went wrong."""
        if self._producer is not None:
            self._producer.flush()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Ends the connection."""
        if self._producer is not None:
            self._producer.close(5.0)

    def _delivered(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        self._error = self._error or error

    def _make_topic(self) -> None:
        config: Mapping[str, str] = self._job.config
        key = SINK.keys[_REPLICAS]
        replicas = int(str(key.parse(config[_REPLICAS]) if _REPLICAS in config else key.default))
        with Admin(admin_settings(config, self._job.worker)) as admin:
            name = config[_TOPIC].strip()
            if name in admin.list_topics():
                return
            brokers = len(admin.describe_cluster().nodes)
            try:
                admin.create_topics([NewTopic(name, 1, min(replicas, brokers))])
            except TopicAlreadyExistsError:
                return
            except OttlaError as error:
                error.add_note(f"while making the dead letter topic {name}")
                raise
