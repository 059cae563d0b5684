"""A client that is in nobody's way: a process of its own which produces a small record every few milliseconds.

`python -m tests.stalls.bystander HOST PORT TOPIC-ID`: each line on its input ends a count, and the waits since the last
one are printed, in milliseconds, sorted.
"""

import json
import select
import sys
import time
from typing import Final

from ottla.base.ids import Uuid
from ottla.protocol.messages.produce import ProduceResponse
from tests.bench.broker_frame import PRODUCE_VERSION, Target, produce, records_of
from tests.kafka.wire import Wire

_PAUSE_S: Final = 0.003


def main() -> None:
    """Asks and waits, until the input ends."""
    host, port, topic_id = sys.argv[1], int(sys.argv[2]), Uuid.parse(sys.argv[3])
    request = produce(Target("", topic_id), records_of(1, 100))
    waits: list[float] = []
    with Wire((host, port), timeout=600) as wire:
        while True:
            started = time.perf_counter()
            answer = wire.ask(request, PRODUCE_VERSION)
            waits.append((time.perf_counter() - started) * 1000)
            assert isinstance(answer, ProduceResponse)
            assert not answer.responses[0].partition_responses[0].error_code
            if select.select([sys.stdin], [], [], _PAUSE_S)[0]:
                if not sys.stdin.readline():
                    return
                print(json.dumps(sorted(waits)), flush=True)
                waits = []


if __name__ == "__main__":
    main()
