"""A broker for tests: started in a moment, on a port of its own, with data that is thrown away.

Nothing of the broker is imported before the first one is made: a test that does not use one pays nothing.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Protocol

from ottla.base.collector import collector_off, grow_old
from ottla.base.errors import OttlaError
from ottla.testing.advancing_clock import AdvancingClock
from ottla.testing.broker_setting import SettingValue, broker_settings, setting_text
from ottla.testing.data_directory import DataDirectory
from ottla.testing.fault import Fault, FaultRule, Faults
from ottla.testing.reserved_port import ReservedPort


class BrokerHost(Protocol):
    """Where the broker runs: a thread of this process, or a process of its own.

    It is one life of a broker, from its start to its end; the next one needs a new host on the same directory.
    """

    @property
    def pid(self) -> int:
        """The process that it runs in."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither ended nor failed since."""
        ...

    def start(self) -> list[tuple[str, int]]:
        """Returns the addresses of its listeners once clients can use it; `OttlaError` if they never will."""
        ...

    def stop(self) -> None:
        """Ends it in order."""
        ...

    def kill(self) -> None:
        """Ends it at once."""
        ...

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        ...

    def add_fault(self, rule: FaultRule) -> Fault:
        """Has it commit a fault."""
        ...

    def clear_faults(self) -> None:
        """Has it commit none."""
        ...


class BrokerDownError(OttlaError):
    """The broker does not run: it was not started, or was stopped or killed."""


class BrokerClock:
    """The time that a broker lives in: the machine's, put forward as often as a test likes."""

    def __init__(self, broker: "EmbeddedBroker", clock: AdvancingClock) -> None:
        self._broker = broker
        self._clock = clock

    def now_ms(self) -> int:
        """The broker's time of day, in milliseconds since 1970."""
        return self._clock.now_ms()

    def advance(self, *, seconds: float = 0.0, minutes: float = 0.0, hours: float = 0.0, days: float = 0.0) -> None:
        """Lets time pass for the broker at once, and returns when whatever came due has been begun.

        Sessions, transactions, delayed answers, idle connections and retention end as if that long had gone by in
        which no client said a word: clients live in their own time. What the broker does on other threads, deleting
        files above all, may take it a moment longer. Time put forward stays so, also after a restart.
        """
        span_s = seconds + 60 * (minutes + 60 * (hours + 24 * days))
        if span_s < 0:
            raise ValueError(f"time does not go back: {span_s} s")
        self._broker.advance(span_s)


class EmbeddedBroker:
    """A Kafka broker inside of the test's own process, or beside it.

        with EmbeddedBroker({"num.partitions": "3"}) as broker:
            producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

    It is a whole cluster of one node, served by a thread with an event loop of its own; any client in any process on
    this machine can use it. Several may run at once. `process=True` gives it a process of its own instead, which
    starts slower and dies by a real SIGKILL.
    """

    def __init__(self, settings: Mapping[str, SettingValue] | None = None, *, process: bool = False) -> None:
        """`settings` are those of a server.properties file, by their dotted names; see `broker_setting` for the rest.

        A name that no broker knows is refused when the broker starts.
        """
        self._given: Final = dict(settings or {})
        self._has_process: Final = process
        self._advancing: Final = AdvancingClock()
        self._directory: DataDirectory | None = None
        self._ports: tuple[ReservedPort, ReservedPort] | None = None
        self._host: BrokerHost | None = None
        self._addresses: list[tuple[str, int]] = []
        self.clock: Final = BrokerClock(self, self._advancing)
        """The broker's time."""
        self.faults: Final = Faults(self._add_fault, self._clear_faults)
        """The faults of the broker."""

    def __enter__(self) -> "EmbeddedBroker":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # What it is

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients; it survives restarts."""
        if not self._addresses:
            raise BrokerDownError("the broker was not started")
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self._addresses)

    @property
    def data_directory(self) -> str:
        """Where its data is, as long as it is not closed."""
        if self._directory is None:
            raise BrokerDownError("the broker was not started")
        return self._directory.path

    @property
    def is_running(self) -> bool:
        """Whether clients can use it."""
        return self._host is not None and self._host.is_running

    @property
    def pid(self) -> int:
        """The process that it runs in."""
        return self._running().pid

    # Its life

    def start(self) -> None:
        """Returns once clients can use it; does nothing if it runs.

        Raises an `OttlaError` that says what is wrong with the settings or the machine.
        """
        if self.is_running:
            return
        try:
            # The first start imports the broker, and the collector would look at all of it ten times over.
            with collector_off():
                host = self._make_host(self._settings())
                self._addresses = host.start()
                grow_old()
        except BaseException:
            # The data of a killed broker may be what a test wants to look at.
            if not self._addresses:
                self.close()
            raise
        self._host = host

    def stop(self) -> None:
        """Ends it in order: everything is on the disk, and a start finds it so. The data stays until `close`."""
        host, self._host = self._host, None
        if host is not None:
            host.stop()

    def kill(self) -> None:
        """Ends it at once, as if its process had died.

        With `process=True` that is what happens: SIGKILL. Inside of this process it is the nearest thing: in one
        moment every connection is cut and the disk takes nothing more in, so nothing is flushed, no checkpoint is
        written, and no mark of a clean shutdown; the next start recovers as after a crash. What had been written
        before is there, flushed or not, as the kernel would keep it for a process that died. Its threads and
        descriptors are given back before this returns, which a dead process would not wait for.
        """
        host, self._host = self._host, None
        if host is not None:
            host.kill()

    def restart(self) -> None:
        """Starts it again with its data, at the same address; in order if it still runs, else after what ended it."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stops it and removes its data; a second call does nothing."""
        try:
            self.stop()
        finally:
            if self._ports is not None:
                for port in self._ports:
                    port.release()
                self._ports = None
            if self._directory is not None:
                self._directory.remove()
                self._directory = None

    # What tests do to it

    def create_topic(
        self, name: str, *, partitions: int | None = None, configs: Mapping[str, SettingValue] | None = None
    ) -> str:
        """Makes a topic, and returns its name once every partition takes records.

        Without `partitions` it has as many as `num.partitions` says. Raises the `ApiError` of a broker that refuses.
        """
        from ottla.testing.topic_request import create_topic

        self._running()
        texts = {key: setting_text(value) for key, value in (configs or {}).items()}
        create_topic(self._addresses[0], name, partitions, texts)
        return name

    def advance(self, seconds: float) -> None:
        """See `BrokerClock.advance`; a broker that is down finds that the time has passed."""
        if self._host is not None and self._host.is_running:
            self._host.advance(seconds)
        else:
            self._advancing.push(seconds)

    def _settings(self) -> dict[str, str]:
        if self._directory is None:
            self._directory = DataDirectory()
        if self._ports is None:
            self._ports = ReservedPort(), ReservedPort()
        clients, controller = self._ports
        return broker_settings(self._directory.path, (clients.number, controller.number), self._given)

    def _make_host(self, settings: Mapping[str, str]) -> "BrokerHost":
        if self._has_process:
            from ottla.testing.broker_child import BrokerChild

            return BrokerChild(settings, self._advancing)
        from ottla.testing.broker_thread import BrokerThread

        return BrokerThread(settings, self._advancing)

    def _running(self) -> "BrokerHost":
        if self._host is None or not self._host.is_running:
            raise BrokerDownError("the broker does not run")
        return self._host

    def _add_fault(self, rule: FaultRule) -> Fault:
        return self._running().add_fault(rule)

    def _clear_faults(self) -> None:
        if self._host is not None and self._host.is_running:
            self._host.clear_faults()
