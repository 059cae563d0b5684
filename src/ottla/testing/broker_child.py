"""A broker in a process of its own, which a real SIGKILL can end; the process is `broker_process`."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.testing.advancing_clock import AdvancingClock
from ottla.testing.fault import Fault, FaultRule


class BrokerProcessError(OttlaError):
    """The process of a broker could not start, or ended by itself."""


class BrokerChild:
    """See `broker_host.BrokerHost`."""

    def __init__(self, settings: Mapping[str, str], clock: AdvancingClock) -> None:
        self.pid = 0
        self._settings: Final = dict(settings)
        self._clock: Final = clock
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> list[tuple[str, int]]:
        """See `BrokerHost`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ottla.testing.broker_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for the tests: the broker hears from them.
            process_group=0,
        )
        self.pid = self._process.pid
        try:
            answer = self._order({"settings": self._settings, "ahead_s": self._clock.ahead_s})
        except BaseException:
            self.kill()
            raise
        if isinstance(answer, dict):
            self._gather()
            raise BrokerProcessError(answer["error"])
        return [(host, port) for host, port in answer]

    def stop(self) -> None:
        """See `BrokerHost`."""
        if self.is_running:
            self._order({"do": "stop"})
        self._gather()

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()
        self._gather()

    def advance(self, seconds: float) -> None:
        """See `BrokerHost`."""
        self._order({"do": "advance", "seconds": seconds})
        self._clock.push(seconds)

    def add_fault(self, rule: FaultRule) -> Fault:
        """See `BrokerHost`."""
        number = self._order({"do": "add_fault", "rule": rule.to_json()})
        return Fault(rule, lambda: int(self._order({"do": "read_hits", "fault": number})))

    def clear_faults(self) -> None:
        """See `BrokerHost`."""
        self._order({"do": "clear_faults"})

    def _order(self, order: dict[str, Any]) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None or process.stdin.closed:
            raise BrokerProcessError("the process of the broker has ended")
        try:
            print(json.dumps(order), file=process.stdin, flush=True)
        except BrokenPipeError:
            answer = ""
        else:
            answer = process.stdout.readline()
        if not answer:
            raise BrokerProcessError(f"the process of the broker ended with exit code {process.wait()}")
        return json.loads(answer)

    def _gather(self) -> None:
        """Waits for the end of the process and lets go of its pipes."""
        process = self._process
        if process is not None:
            process.communicate()
