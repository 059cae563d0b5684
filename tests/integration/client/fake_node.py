"""A node that answers as a test wants, over a real socket in the test's own event loop."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Request, Response
from ottla.protocol.frame import decode_request, decode_request_header, encode_response
from ottla.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker

Answer: TypeAlias = Callable[[Request], Response | None]
"""What a request is answered with; None: never."""


class FakeNode:
    """Broker 1. Answers for its versions, for Metadata (itself), and `answer` for the rest."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        """All that was asked, versions apart."""
        self.frames: list[bytes] = []
        """The same as it came."""
        self.connection_count = 0
        self.is_reading = asyncio.Event()
        self.is_reading.set()
        self.port = 0
        self._serving: list[asyncio.Task[None]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A new connection."""
        self.connection_count += 1
        self._serving.append(asyncio.create_task(self._serve(reader, writer)))

    async def close(self) -> None:
        """Ends all connections."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
                answer = self._answered(frame)
                if answer is not None:
                    writer.write(answer)
                await self.is_reading.wait()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()
            await asyncio.sleep(0)  # the transport says goodbye in a later round

    def _answered(self, frame: bytes) -> bytes | None:
        header, _ = decode_request_header(frame)
        version = header.request_api_version
        if header.request_api_key == ApiKey.API_VERSIONS:
            return self._versions(version, header.correlation_id)
        _, request = decode_request(frame)
        self.requests.append(request)
        self.frames.append(frame)
        response = self.answer(request)
        if response is None and isinstance(request, MetadataRequest):
            response = self.metadata()
        return None if response is None else encode_response(response, version, correlation_id=header.correlation_id)

    def _versions(self, version: int, correlation_id: int) -> bytes:
        keys = [
            ApiVersion(api_key=api, min_version=ranges.lowest, max_version=ranges.highest)
            for api in (ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.HEARTBEAT, ApiKey.FETCH, ApiKey.FIND_COORDINATOR)
            for ranges in [request_type(api).valid_versions]
        ]
        keys.append(ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=0, max_version=2))
        if version > 2:  # as brokers did before version 3, so that every test goes through the fall back (KIP-511)
            refused = ApiVersionsResponse(error_code=35, api_keys=keys)
            return encode_response(refused, 0, correlation_id=correlation_id)
        return encode_response(ApiVersionsResponse(api_keys=keys), version, correlation_id=correlation_id)

    def metadata(self, *, error_code: int = 0) -> MetadataResponse:
        """What Metadata says unless the test has something else to say."""
        broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self.port)
        return MetadataResponse(brokers=[broker], controller_id=1, error_code=error_code)


@contextlib.asynccontextmanager
async def fake_node(answer: Answer = lambda request: None) -> AsyncIterator[FakeNode]:
    """A node that listens for the length of a test."""
    node = FakeNode(answer)
    server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
    node.port = server.sockets[0].getsockname()[1]
    async with server:
        try:
            yield node
        finally:
            await node.close()
