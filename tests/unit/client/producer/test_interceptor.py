"""Interceptors see and change records; what they raise counts for nothing."""

import pytest

from ottla.client.producer.interceptor import Interceptors, ProducerRecord
from ottla.client.record import RecordMetadata


class Upper:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        assert isinstance(record.value, bytes)
        return record._replace(value=record.value.upper())


class Broken:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise RuntimeError("broken")

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        raise RuntimeError("broken")

    def close(self) -> None:
        raise RuntimeError("broken")


class Listening:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        self.heard.append(metadata or error)


def test_record_goes_through_all_of_them(caplog: pytest.LogCaptureFixture) -> None:
    found = Interceptors([Broken(), Upper(), Listening()]).on_send(ProducerRecord("t", b"v"))
    assert found.value == b"V"
    assert "failed in on_send" in caplog.text


def test_all_hear_before_the_callback(caplog: pytest.LogCaptureFixture) -> None:
    listening = Listening()
    order: list[object] = []
    told = Interceptors([Broken(), listening]).around(
        lambda metadata, _: order.append((list(listening.heard), metadata))
    )
    assert told is not None
    metadata = RecordMetadata("t", 0, 7)
    told(metadata, None)
    assert order == [([metadata], metadata)]
    assert "on_acknowledgement" in caplog.text


def test_without_any_the_callback_is_called_directly() -> None:
    def callback(metadata: RecordMetadata | None, error: Exception | None) -> None: ...

    assert Interceptors([]).around(callback) is callback
    assert not Interceptors([])


def test_close_reaches_all(caplog: pytest.LogCaptureFixture) -> None:
    Interceptors([Broken(), Listening()]).close()
    assert "failed in close" in caplog.text
