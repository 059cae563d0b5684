from ottla.client.cluster.request_frame import encode_request_around
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData


def test_records_leave_as_the_very_object_that_was_set() -> None:
    records = [memoryview(bytearray(b"one" * 100)), b"two" * 100]
    data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(records)]
    request = ProduceRequest(acks=-1, timeout_ms=5, topic_data=[TopicProduceData(name="t", partition_data=data)])
    pieces = encode_request_around(request, 12, correlation_id=7, client_id="me")
    assert [piece for piece in pieces if any(piece is each for each in records)] == records
    whole = b"".join(bytes(piece) for piece in pieces)  # type: ignore[arg-type]
    assert whole == encode_request(request, 12, correlation_id=7, client_id="me")
