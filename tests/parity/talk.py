"""Talks to a server about one subject and keeps what it answered.

Every question has a connection of its own unless a script holds one, as a connection that the server closes says
nothing about the next question. What is asked `quietly` prepares the ground and is not compared.
"""

import re
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import DecodeError
from ottla.protocol.frame import decode_response, encode_request, request_header_version
from ottla.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from ottla.protocol.messages.header import RequestHeader
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.kafka.server import Server
from tests.kafka.wire import CLIENT_ID, Wire
from tests.parity.plain import Masking

CLOSED = "closed"
SILENT = "no answer"
_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Topic:
    """A topic that a script made."""

    name: str
    id: Uuid


class Talk:
    """The questions of one subject, in order, and their answers."""

    def __init__(self, server: Server, subject: str, masking: Masking) -> None:
        self.server = server
        self.subject = subject
        self.answers: dict[str, Any] = {}
        """What came back: plain values, or that the connection was closed, or nothing."""
        self.requests: dict[str, str] = {}
        self._masking = masking
        self._address = server.address
        self._held: Wire | None = None
        self._source = ""

    # What is compared

    def ask(self, name: str, request: Request, version: int, *, patience: float = _PATIENCE_SECONDS) -> Response | None:
        """Asks, and keeps the answer under the name and version; returns it, or None if there was none."""
        frame = encode_request(request, version, correlation_id=7, client_id=CLIENT_ID)
        key = f"{request.api.name.lower()} v{version}: {name}"
        return self._keep(key, frame, request.api, version, patience, shown=repr(request))

    def ask_all_versions(self, name: str, request: Request | Callable[[int], Request], versions: str = "") -> None:
        """The same question in all versions that a client may use, or in a part of them, as `3-7`.

        A request that looks different from version to version is given as a function of it.
        """
        make = request if callable(request) else lambda _: request
        served = request_type(make(99).api).valid_versions
        lowest, _, highest = (versions or f"{served.lowest}-{served.highest}").partition("-")
        for version in range(int(lowest), int(highest or lowest) + 1):
            self.ask(name, make(version), version)

    def raw(self, name: str, frame: bytes, api: ApiKey, version: int, *, patience: float = _PATIENCE_SECONDS) -> None:
        """Sends bytes as they are (with their size), and reads an answer as one to `api` in `version`."""
        self._keep(f"raw: {name}", frame, api, version, patience, shown=frame[:60].hex())

    def body(self, name: str, api: ApiKey, version: int, body: bytes) -> None:
        """Sends a proper header with any bytes for a body."""
        self.raw(name, framed(api, version, body), api, version)

    def begin(self, name: str, request: Request, version: int) -> "Callable[[], Response | None]":
        """Asks, and goes on without waiting; what is returned waits and keeps the answer."""
        wire = Wire(self._address)
        wire.socket.settimeout(_PATIENCE_SECONDS)
        wire.socket.sendall(encode_request(request, version, correlation_id=7, client_id=CLIENT_ID))

        def finish() -> Response | None:
            with wire:
                response, value = self._receive_on(wire, request.api, version)
            self._note(f"{request.api.name.lower()} v{version}: {name}", value, repr(request))
            return response

        return finish

    def note(self, name: str, response: Response) -> None:
        """Keeps an answer, or a part of one, that was asked for quietly."""
        self._note(name, self._masking.plain(response), name)

    # What prepares

    def call(self, value: str, name: str) -> str:
        """Something that the server made up is known by a name from now on."""
        self._masking.paths[value] = name
        return value

    def quietly(self, request: Request, version: int) -> Any:
        """Asks without keeping the answer."""
        with Wire(self._address, timeout=_PATIENCE_SECONDS) as wire:
            return wire.ask(request, version)

    def topic(self, name: str, partitions: int = 1, **configs: str) -> Topic:
        """A new topic whose leaders serve; underscores in the names of settings stand for dots."""
        settings = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
        wanted = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=settings)
        [created] = self.quietly(CreateTopicsRequest(topics=[wanted]), 7).topics
        assert created.error_code == 0, created
        self._masking.topic_names[created.topic_id] = name
        for index in range(partitions):
            self._wait_for_leader(name, index)
        return Topic(name, created.topic_id)

    def id_of(self, name: str) -> Uuid:
        """The id of a topic that was made by a question; it is known by its name from now on."""
        [topic] = self.quietly(DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name)]), 0).topics
        self._masking.topic_names[topic.topic_id] = name
        found: Uuid = topic.topic_id
        return found

    def _wait_for_leader(self, name: str, index: int) -> None:
        partition = ListOffsetsPartition(partition_index=index, timestamp=-1)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[partition])])
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self.quietly(request, 5).topics[0].partitions[0].error_code:
            assert time.monotonic() < deadline, f"{name}-{index} has no leader"
            time.sleep(0.02)

    @contextmanager
    def one_connection(self) -> Iterator[Wire]:
        """All questions inside go over the same connection."""
        with Wire(self._address, timeout=_PATIENCE_SECONDS) as wire:
            self._held = wire
            try:
                yield wire
            finally:
                self._held = None

    @contextmanager
    def controller(self) -> Iterator[None]:
        """All questions inside go to the controller's listener."""
        self._address = ("127.0.0.1", self.server.controller_port)
        try:
            yield
        finally:
            self._address = self.server.address

    @contextmanager
    def coming_from(self, source: str) -> Iterator[None]:
        """All questions inside come from that address."""
        self._source = source
        try:
            yield
        finally:
            self._source = ""

    # How

    def _keep(
        self, key: str, frame: bytes, api: ApiKey, version: int, patience: float, *, shown: str
    ) -> Response | None:
        response, value = self._exchange(frame, api, version, patience)
        self._note(key, value, shown)
        return response

    def _note(self, key: str, value: Any, shown: str) -> None:
        assert key not in self.answers, f"asked twice: {key}"
        self.answers[key] = value
        shown = self._masking.plain(re.sub(r"Uuid\('[^']+'\)", "Uuid(…)", shown))
        self.requests[key] = re.sub(r"session_id=\d+", "session_id=…", shown)[:300]

    def _exchange(self, frame: bytes, api: ApiKey, version: int, patience: float) -> tuple[Response | None, Any]:
        if self._held is not None:
            return self._exchange_on(self._held, frame, api, version, patience)
        with Wire(self._address, source=self._source) as wire:
            return self._exchange_on(wire, frame, api, version, patience)

    def _exchange_on(
        self, wire: Wire, frame: bytes, api: ApiKey, version: int, patience: float
    ) -> tuple[Response | None, Any]:
        wire.socket.settimeout(patience)
        try:
            wire.socket.sendall(frame)
        except ConnectionError:
            return None, CLOSED
        return self._receive_on(wire, api, version)

    def _receive_on(self, wire: Wire, api: ApiKey, version: int) -> tuple[Response | None, Any]:
        try:
            received = wire.receive()
        except TimeoutError:
            return None, SILENT
        except ConnectionError:
            return None, CLOSED
        if received is None:
            return None, CLOSED
        try:
            _, response = decode_response(received, api, version)
        except DecodeError:
            return None, f"undecodable: {received[:64].hex()}"
        return response, self._masking.plain(response)


def framed(api: int, version: int, body: bytes, *, client_id: str | None = CLIENT_ID) -> bytes:
    """A frame with a proper header for a call, known or not, and any bytes behind it."""
    known = api in ApiKey.__members__.values()
    header_version = 1 if not known else request_header_version(ApiKey(api), version)
    header = RequestHeader(request_api_key=api, request_api_version=version, correlation_id=7, client_id=client_id)
    content = header.encode(header_version) + body
    return struct.pack(">i", len(content)) + content


def highest_version(api: ApiKey) -> int:
    """The newest version of a call that we know."""
    return response_type(api).valid_versions.highest
