"""Events of the verifiable clients: a JSON object on a line each, time and name first."""

import json
import sys
import time


def print_event(name: str, **fields: object) -> None:
    """Prints one event at once: the test that reads it decides by it what to do next."""
    event = {"timestamp": int(time.time() * 1000), "name": name, **fields}
    sys.stdout.write(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()
