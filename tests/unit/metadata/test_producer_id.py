"""Blocks of producer ids."""

import pytest

from ottla.protocol.errors import StaleBrokerEpochError, UnknownServerError
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord
from tests.unit.metadata.cluster import Cluster


def test_no_block_is_given_out_twice() -> None:
    cluster = Cluster()
    cluster.start(1, 2)
    blocks = []
    for broker_id in (1, 2, 1):
        epoch = cluster.image.cluster.brokers[broker_id].epoch
        response = cluster.ask(AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch))
        blocks.append((response.producer_id_start, response.producer_id_len))
    assert blocks == [(0, 1000), (1000, 1000), (2000, 1000)]
    assert cluster.image.next_producer_id == 3000


def test_an_earlier_life_gets_none() -> None:
    cluster = Cluster()
    cluster.start(1)
    with pytest.raises(StaleBrokerEpochError):
        cluster.ask(AllocateProducerIdsRequest(broker_id=1, broker_epoch=0))


def test_the_last_id() -> None:
    cluster = Cluster()
    cluster.start(1)
    record = ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=(1 << 63) - 1000)
    cluster.write(record)
    epoch = cluster.image.cluster.brokers[1].epoch
    with pytest.raises(UnknownServerError, match="Exhausted all producerIds"):
        cluster.ask(AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch))
