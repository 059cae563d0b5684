"""Streamed records: many objects on one connection, each answered while the next ones are still to come."""

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.web.rest_process import RestProcess


class Stream:
    """One chunked request whose answer is read while it is sent."""

    def __init__(self, rest: RestProcess, topic: str) -> None:
        cluster = rest.ask("GET", "/v3/clusters")[1]["data"][0]["cluster_id"]
        self.link = socket.create_connection(("127.0.0.1", rest.port), timeout=60)
        head = f"POST /v3/clusters/{cluster}/topics/{topic}/records HTTP/1.1\r\nHost: x\r\n"
        self.link.sendall(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        self._read = self.link.makefile("rb")
        self._head = False
        self._lines: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.link.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.link.sendall(b"0\r\n\r\n")

    def answer(self) -> Any:
        """The next answer; None at the end."""
        if not self._head:
            assert self._read.readline().split()[1] == b"200"
            while self._read.readline() != b"\r\n":
                pass
            self._head = True
        while not self._lines:
            size = int(self._read.readline(), 16)
            self._lines = self._read.read(size).split(b"\r\n")[:-1]
            self._read.readline()
            if not size:
                return None
        return json.loads(self._lines.pop(0))

    def close(self) -> None:
        self._read.close()
        self.link.close()


@pytest.fixture
def stream(rest: RestProcess, request: pytest.FixtureRequest) -> Iterator[Stream]:
    topic = f"stream-{request.node.originalname}"
    rest.v3("POST", "/topics", {"topic_name": topic, "partitions_count": 1, "replication_factor": 1})
    stream = Stream(rest, topic)
    yield stream
    stream.close()


def record(data: object) -> bytes:
    return json.dumps({"value": {"type": "JSON", "data": data}}).encode()


def test_answers_come_while_the_request_is_open(stream: Stream) -> None:
    for number in range(3):
        stream.send(record(number))
        found = stream.answer()
        assert (found["error_code"], found["offset"]) == (200, number)
    half = record("a long one")
    stream.send(half[:9])
    stream.send(half[9:] + b"\n" + record(1) + record(2))
    assert [stream.answer()["offset"] for _ in range(3)] == [3, 4, 5]
    stream.end()
    assert stream.answer() is None


def test_an_error_does_not_end_the_stream(stream: Stream) -> None:
    stream.send(b'{"value": {"type": "BINARY", "data": 1}}{"x": 1}{"value": nonsense}[1]' + record(1))
    stream.end()
    assert [stream.answer()["error_code"] for _ in range(5)] == [400, 422, 400, 400, 200]
    assert stream.answer() is None


def test_what_can_not_be_cut_ends_the_stream(stream: Stream) -> None:
    stream.send(record(1) + b"nonsense")
    assert stream.answer()["error_code"] == 200
    found = stream.answer()
    assert (found["error_code"], "nonsense" in found["message"]) == (400, True)
    assert stream.answer() is None


def test_a_record_without_an_end(stream: Stream) -> None:
    stream.send(b'{"value":')
    stream.end()
    assert stream.answer()["error_code"] == 400
    assert stream.answer() is None


def test_many_records_keep_their_order(stream: Stream) -> None:
    for start in range(0, 5_000, 500):
        stream.send(b"".join(record(number) for number in range(start, start + 500)))
    stream.end()
    answers = [stream.answer() for _ in range(5_000)]
    assert [each["offset"] for each in answers] == list(range(5_000))
    assert stream.answer() is None


def test_who_does_not_read_is_not_read(stream: Stream) -> None:
    """Answers that nobody takes hold the stream back: the proxy keeps a bounded number of records."""
    stream.link.settimeout(2)
    piece = record("x" * 50) * 1_000
    for _ in range(2_000):
        try:
            stream.send(piece)
        except TimeoutError:
            break
    else:
        pytest.fail("the proxy took 150 MB from a client that reads no answer")
    stream.link.settimeout(60)
    assert stream.answer()["offset"] == 0


def test_a_client_that_leaves_costs_nothing(stream: Stream, rest: RestProcess) -> None:
    stream.send(record(1) * 50 + b'{"val')
    assert stream.answer()["offset"] == 0
    stream.close()
    deadline = time.monotonic() + 30
    while "http_requests_in_flight 1" not in rest.ask("GET", "/metrics")[1]:
        assert time.monotonic() < deadline, rest.ask("GET", "/metrics")[1]
        time.sleep(0.05)
    assert "Traceback" not in rest.log.read_text()
