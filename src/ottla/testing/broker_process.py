"""The process of a broker for tests: `python -m ottla.testing.broker_process`, started by `broker_child`.

Orders come as lines of JSON on its input and are answered, one line each, on its output; the first says what to start.
It ends when it is told to, and when its input ends because the process that started it has died.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from ottla.base.errors import OttlaError
from ottla.testing.advancing_clock import AdvancingClock
from ottla.testing.broker_thread import BrokerThread
from ottla.testing.fault import Fault, FaultRule


def main() -> int:
    """Serves until the input ends or it is told to stop."""
    answers = _take_output()
    orders = _orders(sys.stdin)
    first = next(orders, None)
    if first is None:
        return 1
    try:
        broker = BrokerThread(first["settings"], AdvancingClock(first["ahead_s"]))
        _say(answers, broker.start())
    except OttlaError as error:
        _say(answers, {"error": str(error)})
        return 1
    try:
        _Service(broker).follow(orders, answers)
    finally:
        broker.stop()
    _say(answers, None)
    return 0


class _Service:
    """Does what it is told to a broker."""

    def __init__(self, broker: BrokerThread) -> None:
        self._broker = broker
        self._faults: list[Fault] = []

    def follow(self, orders: Iterator[dict[str, Any]], answers: TextIO) -> None:
        """Returns when there are no more orders, or the broker is to stop."""
        for order in orders:
            if order["do"] == "stop":
                return
            _say(answers, self._do(order))

    def _do(self, order: dict[str, Any]) -> object:
        match order["do"]:
            case "advance":
                self._broker.advance(order["seconds"])
            case "add_fault":
                self._faults.append(self._broker.add_fault(FaultRule.from_json(order["rule"])))
                return len(self._faults) - 1
            case "read_hits":
                return self._faults[order["fault"]].hits
            case "clear_faults":
                self._broker.clear_faults()
        return None


def _orders(lines: TextIO) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield json.loads(line)


def _say(answers: TextIO, answer: object) -> None:
    print(json.dumps(answer), file=answers, flush=True)


def _take_output() -> TextIO:
    """The output for answers alone; whatever else is printed goes where errors go."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


if __name__ == "__main__":
    sys.exit(main())
