"""A broker's life as the controller knows it: registered, fenced, unfenced, shutting down.

It registers under an incarnation id of its own, then sends heartbeats for as long as it lives. It asks to be unfenced
from the first one on, because it registers only once its logs are open: the controller unfences it as soon as it has
read its own registration. A controller that knows it no more makes it register again. To stop, it asks for leave, and
gets it once its partitions are led elsewhere; but it does not wait for a controller that does not answer.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Final, Protocol

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.base.log import IdentityLogger
from ottla.metadata.feature import supported_features
from ottla.metadata.image.cluster import Endpoint
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ApiError,
    BrokerIdNotRegisteredError,
    InconsistentClusterIdError,
    InvalidRegistrationError,
    RequestTimedOutError,
    StaleBrokerEpochError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)

NO_EPOCH: Final = -1
_CATCH_UP_INTERVAL_MS: Final = 10
_CATCH_UP_INTERVAL_MS_MAX: Final = 200
"""Until a broker is unfenced for the first time it asks often: it has nothing else to wait for."""
_SHUTDOWN_INTERVAL_MS: Final = 20
_BACKOFF_MS: Final = 100
_BACKOFF_MS_MAX: Final = 1_000
"""A broker whose earlier session has just ended should not sleep through it."""
_HOPELESS: Final = (InconsistentClusterIdError, InvalidRegistrationError, UnsupportedVersionError)
"""Refusals of a registration that asking again does not mend."""


class LifecycleState(Enum):
    """The steps in the life of a broker; the numbers are those of Kafka's BrokerState metric."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


class Timer(Protocol):
    """Something that was scheduled."""

    def cancel(self) -> None:
        """It is not to happen any more."""
        ...


class Scheduler(Protocol):
    """The part of an event loop that a broker's lifecycle uses."""

    def time(self) -> float:
        """Seconds on the loop's own clock."""
        ...

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Calls after so many seconds."""
        ...


class Channel(Protocol):
    """The way to the controller."""

    def send(self, request: Request, done: Callable[[Response | ApiError], None], *, timeout_ms: int) -> None:
        """Asks the controller; `done` hears once."""
        ...


@frozen(kw_only=True)
class BrokerIdentity:
    """The content of a broker's registration."""

    node_id: int
    cluster_id: str
    incarnation_id: Uuid
    listeners: Sequence[Endpoint]
    rack: str | None
    directories: Sequence[Uuid]
    previous_epoch: int = NO_EPOCH
    """The epoch of the run before, if that ended in order."""


@frozen(kw_only=True)
class LifecycleSettings:
    """The intervals and timeouts of registration and heartbeats."""

    heartbeat_interval_ms: int = 2_000
    session_timeout_ms: int = 9_000
    registration_timeout_ms: int = 60_000
    """`initial.broker.registration.timeout.ms`"""
    shutdown_timeout_ms: int = 300_000
    """How long a broker asks for leave, as long as it is answered."""
    directory_failure_timeout_ms: int = 30_000
    """`log.dir.failure.timeout.ms`: a broker that cannot tell of a lost directory for this long must stop."""


@frozen
class BrokerState:
    """The broker's state for a heartbeat, read each time."""

    metadata_offset: Callable[[], int]
    """How far the metadata is applied here."""
    cordoned_directories: Callable[[], list[Uuid] | None]
    directory_unheard: Callable[[Uuid], None]
    """The controller was not told of a lost directory in time: it goes on to believe in replicas that are gone."""


class BrokerLifecycle:
    """Registers a broker and keeps its session alive. A metadata listener. Loop thread only."""

    def __init__(
        self,
        identity: BrokerIdentity,
        settings: LifecycleSettings,
        channel: Channel,
        state_of_broker: BrokerState,
        loop: Scheduler,
    ) -> None:
        self.state = LifecycleState.NOT_RUNNING
        self.broker_epoch = NO_EPOCH
        """-1 until the first registration."""
        self._identity = identity
        self._settings = settings
        self._channel = channel
        self._broker = state_of_broker
        self._loop = loop
        self._log = IdentityLogger(logging.getLogger(__name__), f"BrokerLifecycleManager id={identity.node_id}")
        self._is_registered = False
        self._is_fenced = True
        self._is_in_flight = False
        self._is_urgent = False
        self._failures = 0
        self._catch_up_interval_ms = _CATCH_UP_INTERVAL_MS
        self._timer: Timer | None = None
        self._offline: dict[Uuid, bool] = {}
        """Directories that failed, and whether the controller knows."""
        self._image_unfenced = False
        self._when_running: Callable[[ApiError | None], None] | None = None
        self._when_stopped: Callable[[], None] | None = None
        self._give_up_s = 0.0
        self._give_up_at_the_latest_s = 0.0

    @property
    def is_fenced(self) -> bool:
        """Whether the controller lets this broker lead nothing, by its last word."""
        return self._is_fenced

    def start(self, when_running: Callable[[ApiError | None], None]) -> None:
        """Registers; `when_running` hears when the broker is unfenced, or why it could not even register."""
        self.state = LifecycleState.STARTING
        self._when_running = when_running
        self._give_up_s = self._loop.time() + self._settings.registration_timeout_ms / 1000
        self._log.info("incarnation %s is now STARTING", self._identity.incarnation_id)
        self._communicate()

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Sees how the cluster sees this broker."""
        identity = self._identity
        broker = image.cluster.brokers.get(identity.node_id)
        if broker is None or broker.incarnation_id != identity.incarnation_id:
            self._image_unfenced = False
            return
        was_unfenced, self._image_unfenced = self._image_unfenced, not broker.fenced
        if self.state is LifecycleState.RUNNING and was_unfenced and broker.fenced:
            # It lives, so it was only late, after a pause of the machine perhaps: the cluster need not wait for the
            # next heartbeat that is due.
            self._communicate_now()
        if not broker.directories and image.features.version.supports_directory_assignment and self._is_registered:
            # The cluster was upgraded to know directories, and this registration is from before (KIP-858).
            self._is_registered = False
            self._communicate_now()
        self._check_running()

    def directory_failed(self, directory_id: Uuid) -> None:
        """A directory is lost: the controller is told with the next heartbeat, which is due now."""
        if directory_id not in self._offline:
            self._offline[directory_id] = False
            if self._is_registered:
                self._communicate_now()
            timeout_s = self._settings.directory_failure_timeout_ms / 1000
            self._loop.call_later(timeout_s, lambda: self._check_told(directory_id))

    def begin_controlled_shutdown(self, when_stopped: Callable[[], None]) -> None:
        """Asks for leave; `when_stopped` hears when it is given, or when waiting for it is of no use."""
        self._when_stopped = when_stopped
        if self.state is not LifecycleState.RUNNING:
            self._stop("it is not running")
            return
        self._log.info("beginning controlled shutdown")
        self.state = LifecycleState.PENDING_CONTROLLED_SHUTDOWN
        now_s = self._loop.time()
        self._give_up_s = now_s + self._settings.session_timeout_ms / 1000
        self._give_up_at_the_latest_s = now_s + self._settings.shutdown_timeout_ms / 1000
        self._failures = 0
        self._communicate_now()
        self._loop.call_later(self._settings.session_timeout_ms / 1000, self._check_shutdown)

    def close(self) -> None:
        """Says nothing any more."""
        self.state = LifecycleState.SHUTTING_DOWN
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Talking to the controller, one request at a time

    def _communicate_now(self) -> None:
        if self._is_in_flight:
            self._is_urgent = True
        else:
            self._schedule(0)

    def _schedule(self, delay_ms: float) -> None:
        if self.state is LifecycleState.SHUTTING_DOWN:
            return
        if self._timer is not None:
            self._timer.cancel()
        delay_ms, self._is_urgent = (0 if self._is_urgent else delay_ms), False
        self._timer = self._loop.call_later(delay_ms / 1000, self._communicate)

    def _communicate(self) -> None:
        self._timer = None
        if self._is_in_flight or self.state is LifecycleState.SHUTTING_DOWN:
            return
        self._is_in_flight = True
        with self._going_on():
            if self._is_registered:
                self._heartbeat()
            else:
                self._register()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Whatever breaks in here, the controller hears of this broker again: one that fell silent would be fenced."""
        try:
            yield
        except Exception:
            self._is_in_flight = False
            self._schedule_after_failure()
            raise

    def _send(self, request: Request, done: Callable[[Response | ApiError], None]) -> None:
        def answered(answer: Response | ApiError) -> None:
            self._is_in_flight = False
            with self._going_on():
                done(answer)

        self._channel.send(request, answered, timeout_ms=self._settings.session_timeout_ms // 2)

    def _register(self) -> None:
        identity = self._identity
        request = BrokerRegistrationRequest(
            broker_id=identity.node_id,
            cluster_id=identity.cluster_id,
            incarnation_id=identity.incarnation_id,
            listeners=[Listener(**endpoint._asdict()) for endpoint in identity.listeners],
            features=[
                Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
                for name, levels in supported_features().items()
            ],
            rack=identity.rack,
            log_dirs=sorted(identity.directories),
            previous_broker_epoch=identity.previous_epoch,
        )
        self._send(request, self._registered)

    def _registered(self, answer: Response | ApiError) -> None:
        if isinstance(answer, BrokerRegistrationResponse):
            self._failures = 0
            self.broker_epoch = answer.broker_epoch
            self._is_registered = True
            self._log.info("registered with broker epoch %d", self.broker_epoch)
            if self.state is LifecycleState.STARTING:
                self.state = LifecycleState.RECOVERY
            self._schedule(0)
            return
        self._log.info("unable to register: %s", answer)
        is_over = self._loop.time() >= self._give_up_s or isinstance(answer, _HOPELESS)
        if self.state is LifecycleState.STARTING and is_over:
            self._tell_running(answer if isinstance(answer, ApiError) else RequestTimedOutError())
            return
        self._schedule_after_failure()

    def _heartbeat(self) -> None:
        offline = list(self._offline)
        request = BrokerHeartbeatRequest(
            broker_id=self._identity.node_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._broker.metadata_offset(),
            want_fence=False,
            want_shut_down=self.state is LifecycleState.PENDING_CONTROLLED_SHUTDOWN,
            offline_log_dirs=offline,
            cordoned_log_dirs=self._broker.cordoned_directories(),
        )
        self._send(request, lambda answer: self._heard(answer, offline))

    def _heard(self, answer: Response | ApiError, offline: Sequence[Uuid]) -> None:
        if not isinstance(answer, BrokerHeartbeatResponse):
            if isinstance(answer, (StaleBrokerEpochError, BrokerIdNotRegisteredError)):
                self._is_registered = False
                self._is_fenced = True
            self._log.warning("a heartbeat was refused: %s", answer)
            self._schedule_after_failure()
            return
        self._failures = 0
        self._is_fenced = answer.is_fenced
        self._offline.update(dict.fromkeys(offline, True))
        if self.state is LifecycleState.PENDING_CONTROLLED_SHUTDOWN:
            self._give_up_s = self._loop.time() + self._settings.session_timeout_ms / 1000
            if answer.should_shut_down:
                self._stop("the controller gave leave")
            else:
                self._schedule(_SHUTDOWN_INTERVAL_MS)
            return
        self._check_running()
        if self.state is LifecycleState.RUNNING:
            self._schedule(self._settings.heartbeat_interval_ms)
        else:
            self._schedule(self._catch_up_interval_ms)
            self._catch_up_interval_ms = min(self._catch_up_interval_ms * 2, _CATCH_UP_INTERVAL_MS_MAX)

    def _check_running(self) -> None:
        """Unfenced by the controller's word, and by the log: clients are told what the log says."""
        if self.state is LifecycleState.RECOVERY and not self._is_fenced and self._image_unfenced:
            self.state = LifecycleState.RUNNING
            self._log.info("the broker has been unfenced and is now RUNNING")
            self._tell_running(None)

    def _tell_running(self, error: ApiError | None) -> None:
        callback, self._when_running = self._when_running, None
        if callback is not None:
            callback(error)

    def _check_told(self, directory_id: Uuid) -> None:
        if not self._offline[directory_id] and self.state is not LifecycleState.SHUTTING_DOWN:
            self._broker.directory_unheard(directory_id)

    def _check_shutdown(self) -> None:
        if self.state is not LifecycleState.PENDING_CONTROLLED_SHUTDOWN:
            return
        now_s = self._loop.time()
        give_up_s = min(self._give_up_s, self._give_up_at_the_latest_s)
        if now_s >= give_up_s:
            self._stop("the controller does not give leave in time")
        else:
            self._loop.call_later(give_up_s - now_s, self._check_shutdown)

    def _stop(self, reason: str) -> None:
        self._log.info("shutting down: %s", reason)
        self.close()
        callback, self._when_stopped = self._when_stopped, None
        if callback is not None:
            callback()

    def _schedule_after_failure(self) -> None:
        """Waits 100, 200, 400 ms and so on, up to a second."""
        self._is_urgent = False
        delay_ms = min(_BACKOFF_MS * 2 ** min(self._failures, 10), _BACKOFF_MS_MAX)
        self._failures += 1
        self._schedule(delay_ms)
