"""What the user's call makes of what was fetched: records, and where they leave the consumer."""

from ottla.client.consumer.fetch.collector import CollectOptions, Collector
from ottla.client.consumer.fetch.fetch_buffer import FetchBuffer
from ottla.client.consumer.fetch.fetch_metric import FetchMetrics
from ottla.client.consumer.fetch.record import Record
from ottla.client.consumer.fetch.records import Records
from ottla.client.consumer.interceptor import Interceptors
from ottla.client.consumer.offset.offset_reset import OffsetReset
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.record import OffsetAndMetadata
from ottla.protocol.records.control import ControlRecordType
from tests.unit.client.consumer.fetch.test_completed_fetch import PARTITION, data, fetched, marker
from tests.unit.client.consumer.scripted import SETTINGS


def collected(records: bytes, records_max: int = 500) -> Records:
    """What a poll returns."""
    buffer, subscription = FetchBuffer(), SubscriptionState()
    buffer.put(fetched(records))
    metrics = FetchMetrics(ClientMetrics(SETTINGS, "me"), subscription, is_committed_only=False)
    options = CollectOptions(records_max, None, None, OffsetReset.parse("latest"), check_crcs=True)
    return Collector(buffer, options, metrics, lambda: None, lambda: None).records()


def test_what_to_commit_lies_behind_the_last_record() -> None:
    assert collected(data(0, 1, 2), records_max=2).next_offsets() == {PARTITION: OffsetAndMetadata(2, "", 4)}


def test_what_to_commit_lies_behind_the_end_of_the_transaction() -> None:
    """A consumer that stops there has no lag."""
    records = collected(data(0, 1, producer_id=7) + marker(2, 7, ControlRecordType.COMMIT))
    assert [record.offset for record in records] == [0, 1]
    assert records.next_offsets() == {PARTITION: OffsetAndMetadata(3, "", 4)}


class Even:
    """Lets every other record pass."""

    def on_consume(self, records: Records) -> list[Record]:
        return [record for record in records if record.offset % 2 == 0]


def test_what_an_interceptor_leaves_out_is_done_with() -> None:
    records = Interceptors([Even()]).on_consume(collected(data(0, 1, 2, 3)))
    assert [record.offset for record in records] == [0, 2]
    assert records.next_offsets() == {PARTITION: OffsetAndMetadata(4, "", 4)}
