"""Which clients are to push which metrics (KIP-714): subscriptions from the image, and the clients that asked.

Nothing receives the metrics: there is no receiver plugin, so the calls are not advertised, and what a client pushes all
the same is checked and dropped. A client is forgotten when its connection closes, or after a minute (three intervals,
if that is longer) of silence; no more than `CLIENTS_MAX` are remembered, the longest silent go first.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ottla.base.buffer import Buffer
from ottla.base.config import ConfigError
from ottla.base.dice import DICE
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.request.client_session import ClientSession
from ottla.broker.request.telemetry.client_subscription import ClientAttributes, Subscription
from ottla.metadata.image.config import ResourceType
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.checksum import crc32c
from ottla.protocol.compression import CompressionType, decompress
from ottla.protocol.errors import (
    ApiError,
    DecodeError,
    ErrorCode,
    InvalidRecordError,
    InvalidRequestError,
    MessageTooLargeError,
    TelemetryTooLargeError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
)

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.broker.config.dynamic_config import DynamicConfig

_log = logging.getLogger(__name__)

CLIENTS_MAX: Final = 16_384
SILENCE_MS_MIN: Final = 60_000
PUSH_INTERVAL_MS_DEFAULT: Final = 300_000
ALL_METRICS: Final = "*"
_RESERVED: Final = (ZERO_UUID, Uuid((1).to_bytes(16, "big")))
"""Ids that no client may have."""
_TOO_SOON: Final = "Request from the client [{}] arrived before the next push interval time"


class OpenConnection(Protocol):
    """The part of a connection that decides how long a client is remembered (`ottla.net.connection.Connection`)."""

    @property
    def session(self) -> object | None:
        """Tells when the client leaves, if it is a `ClientSession`."""

    @property
    def is_open(self) -> bool:
        """Whether the client is still there."""


class Push(NamedTuple):
    """The checked part of a client's push."""

    subscription_id: int
    is_terminating: bool
    compression_type: int
    metrics: Buffer


@dataclass(slots=True)
class ClientInstance:
    """A client that asked for its subscriptions or pushed metrics."""

    id: Uuid
    connection: OpenConnection
    metrics: tuple[str, ...]
    push_interval_ms: int
    subscription_id: int
    generation: int
    """Which state of the subscriptions it was made from."""
    asked_ms: int | None = None
    pushed_ms: int | None = None
    seen_ms: int = 0
    is_terminating: bool = False
    last_error: ErrorCode = ErrorCode.NONE

    def may_ask(self, now_ms: int) -> bool:
        """Whether a push interval has gone by since the client last said anything that counted."""
        last_ms = max((ms for ms in (self.asked_ms, self.pushed_ms) if ms is not None), default=None)
        if last_ms is not None and now_ms - last_ms < self.push_interval_ms:
            return False
        self.asked_ms = now_ms
        return True

    def may_push(self, now_ms: int) -> bool:
        """Like `may_ask`, but right after asking a client may push at any time: it delays its first push by chance."""
        pushed_ms, asked_ms = self.pushed_ms, self.asked_ms
        has_just_asked = asked_ms is not None and (pushed_ms is None or asked_ms > pushed_ms)
        if not has_just_asked and pushed_ms is not None and now_ms - pushed_ms < self.push_interval_ms:
            return False
        self.pushed_ms = now_ms
        return True


class ClientMetrics:
    """The subscriptions and the clients of one broker. Loop thread only."""

    def __init__(self, clock: "Clock", dynamic: "DynamicConfig") -> None:
        self._clock = clock
        self._dynamic = dynamic
        self._subscriptions: dict[str, Subscription] = {}
        self._generation = 0
        self._clients: dict[Uuid, ClientInstance] = {}

    def __len__(self) -> int:
        """How many clients are remembered."""
        return len(self._clients)

    @property
    def telemetry_max_bytes(self) -> int:
        """The maximal size of a push."""
        return self._dynamic.current.integer("telemetry.max.bytes")

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes what changed in the subscriptions; clients learn of it when they next ask."""
        for resource, configs in delta.configs.changes.items():
            if resource.type == ResourceType.CLIENT_METRICS:
                self._changed(resource.name, configs)

    def subscribed(self, client_id: Uuid, attributes: ClientAttributes, connection: OpenConnection) -> ClientInstance:
        """The client with what it is to push; a client without an id gets one.

        Raises `ThrottlingQuotaExceededError` for one that asks again too soon, unless it was told to.
        """
        now_ms = self._clock.monotonic_ms()
        client = self._client(client_id if client_id != ZERO_UUID else self._new_id(), attributes, connection)
        told_to = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if not client.may_ask(now_ms) and client.last_error not in told_to:
            raise ThrottlingQuotaExceededError(_TOO_SOON.format(client.id))
        client.last_error = ErrorCode.NONE
        return client

    def push(self, client_id: Uuid, push: Push, attributes: ClientAttributes, connection: OpenConnection) -> None:
        """Checks metrics that a client pushed; raises the `ApiError` that says what is wrong with them."""
        if client_id in _RESERVED:
            raise InvalidRequestError(f"Invalid request from the client [{client_id}], invalid client instance id")
        client = self._client(client_id, attributes, connection)
        try:
            self._check(client, push)
        except ApiError as error:
            client.last_error = error.code
            raise
        else:
            client.last_error = ErrorCode.NONE
        finally:
            client.is_terminating = push.is_terminating

    def _check(self, client: ClientInstance, push: Push) -> None:
        if client.is_terminating:
            raise InvalidRequestError(
                f"Client [{client.id}] sent the previous request with state terminating to TRUE, can not accept any "
                "requests after that"
            )
        if not client.may_push(self._clock.monotonic_ms()) and not push.is_terminating:
            raise ThrottlingQuotaExceededError(_TOO_SOON.format(client.id))
        if push.subscription_id != client.subscription_id:
            raise UnknownSubscriptionIdError(f"Unknown client subscription id for the client [{client.id}]")
        if push.compression_type not in set(CompressionType):
            raise UnsupportedCompressionTypeError(
                f"Unknown compression type [{push.compression_type}] is received in telemetry request from "
                f"[{client.id}]"
            )
        if len(push.metrics) > self.telemetry_max_bytes:
            raise TelemetryTooLargeError(
                f"Telemetry request from [{client.id}] is larger than the maximum allowed size "
                f"[{self.telemetry_max_bytes}]"
            )
        if push.metrics:
            self._check_contents(push)

    def _check_contents(self, push: Push) -> None:
        """Checks that the metrics decompress to no more than the limit; their content is not read."""
        try:
            decompress(CompressionType(push.compression_type), push.metrics, self.telemetry_max_bytes)
        except (DecodeError, MessageTooLargeError) as error:
            raise InvalidRecordError(str(error)) from error

    def _changed(self, name: str, configs: Mapping[str, str] | None) -> None:
        self._subscriptions.pop(name, None)
        self._generation += 1
        if configs is not None:
            try:
                self._subscriptions[name] = Subscription.of(configs)
            except ConfigError as error:
                _log.warning("The client metrics subscription %s applies to no client: %s", name, error)

    def _client(self, client_id: Uuid, attributes: ClientAttributes, connection: OpenConnection) -> ClientInstance:
        """The client as it is remembered, or as new."""
        now_ms = self._clock.monotonic_ms()
        client = self._forget(client_id)
        if client is None or not self._is_remembered(client, now_ms) or client.generation < self._generation:
            client = self._new_client(client_id, attributes, connection)
        client.seen_ms = now_ms
        # Taken out and put in again, so that the first in the dictionary is the longest silent.
        self._clients[client_id] = client
        if isinstance(client.connection.session, ClientSession):
            client.connection.session.call_at_close(client_id, partial(self._forget, client_id))
        if len(self._clients) > CLIENTS_MAX:
            self._forget(next(iter(self._clients)))
        return client

    def _forget(self, client_id: Uuid) -> ClientInstance | None:
        client = self._clients.pop(client_id, None)
        if client is not None and isinstance(client.connection.session, ClientSession):
            client.connection.session.forgotten(client_id)
        return client

    @staticmethod
    def _is_remembered(client: ClientInstance, now_ms: int) -> bool:
        return client.connection.is_open and now_ms - client.seen_ms < max(SILENCE_MS_MIN, 3 * client.push_interval_ms)

    def _new_client(self, client_id: Uuid, attributes: ClientAttributes, connection: OpenConnection) -> ClientInstance:
        known = {**attributes, "client_instance_id": str(client_id)}
        matching = [subscription for subscription in self._subscriptions.values() if subscription.matches(known)]
        metrics = sorted({metric for subscription in matching for metric in subscription.metrics})
        interval_ms = min([PUSH_INTERVAL_MS_DEFAULT, *(subscription.interval_ms for subscription in matching)])
        wanted = (ALL_METRICS,) if ALL_METRICS in metrics else tuple(metrics)
        return ClientInstance(
            id=client_id,
            connection=connection,
            metrics=wanted,
            push_interval_ms=interval_ms,
            subscription_id=subscription_id(wanted, interval_ms, client_id),
            generation=self._generation,
        )

    def _new_id(self) -> Uuid:
        while True:
            made = Uuid(DICE.randbytes(16))
            if made not in _RESERVED and made not in self._clients and not str(made).startswith("-"):
                return made


def subscription_id(metrics: Collection[str], interval_ms: int, client_id: Uuid) -> int:
    """A number that changes when what a client is to push changes: a CRC of it, mixed with the client's id.

    >>> client = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ")
    >>> subscription_id(("a.",), 1000, client) == subscription_id(("a.", "b."), 1000, client)
    False
    """
    number = crc32c(f"[{', '.join(metrics)}]{interval_ms}".encode())
    for start in range(0, 16, 4):
        number ^= int.from_bytes(client_id[start : start + 4], "big")
    return number - (1 << 32) if number >= 1 << 31 else number
