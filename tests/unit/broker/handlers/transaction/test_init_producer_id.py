"""InitProducerId as a client sees it, where Apache Kafka's own answers (`test_data_as_kafka`) don't reach."""

import pytest

from ottla.protocol.errors import ErrorCode, RequestTimedOutError
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.unit.broker.data_broker import DataBroker


@pytest.mark.parametrize("version", range(6))
def test_every_producer_gets_an_id_of_its_own(broker: DataBroker, version: int) -> None:
    ids = [
        broker.ask(InitProducerIdRequest(transactional_id=None), version, InitProducerIdResponse).producer_id
        for _ in range(3)
    ]
    assert len(set(ids)) == 3
    assert min(ids) >= 0


def test_an_old_id_is_exchanged_for_a_new_one(broker: DataBroker) -> None:
    request = InitProducerIdRequest(transactional_id=None, producer_id=77, producer_epoch=3)
    answer = broker.ask(request, 4, InitProducerIdResponse)
    assert answer == InitProducerIdResponse(producer_id=0, producer_epoch=0)


def test_transactions_have_their_coordinator_elsewhere(broker: DataBroker) -> None:
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
    answer = broker.ask(request, 5, InitProducerIdResponse)
    expected = InitProducerIdResponse(error_code=ErrorCode.NOT_COORDINATOR, producer_id=-1, producer_epoch=-1)
    assert answer == expected


def test_while_the_controller_is_away_producers_come_again(broker: DataBroker) -> None:
    broker.controller.refuses_with = RequestTimedOutError()
    answer = broker.ask(InitProducerIdRequest(transactional_id=None), 4, InitProducerIdResponse)
    assert answer == InitProducerIdResponse(error_code=14, producer_id=-1, producer_epoch=-1)
    broker.controller.refuses_with = None
    assert broker.ask(InitProducerIdRequest(transactional_id=None), 4, InitProducerIdResponse).producer_id == 0
