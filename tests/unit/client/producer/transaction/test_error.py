"""Refusals of a transaction in words that say what to do."""

import pytest

from ottla.client.producer.transaction_error import explained, outdated
from ottla.protocol.errors import ErrorCode, ProducerFencedError, error_for


@pytest.mark.parametrize("code", [ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_an_old_epoch_is_a_fenced_producer(code: ErrorCode) -> None:
    found = explained(error_for(code), "billing")
    assert isinstance(found, ProducerFencedError)
    assert "'billing' has started since" in str(found)


def test_a_transaction_that_the_coordinator_has_not_may_have_taken_too_long() -> None:
    found = explained(error_for(ErrorCode.INVALID_TXN_STATE), "billing")
    assert found.code is ErrorCode.INVALID_TXN_STATE
    assert "longer than transaction.timeout.ms" in str(found)


@pytest.mark.parametrize("code", [ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_a_refused_write_leaves_it_to_the_coordinator(code: ErrorCode) -> None:
    found = outdated(error_for(code), "billing")
    assert found.code is code
    assert "abort_transaction() tells which" in str(found)
