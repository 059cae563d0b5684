"""The messages between a control process and its runners: JSON objects, one a line, over a socket.

A socket, because nothing else is there in every case: spark-submit puts a Java process between the two, which passes no
pipes on; the cluster's topics are away just when a broker is; and the end of a connection tells either side at once
that the other one was killed.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

CONTROL_VARIABLE: Final = "OTTLA_RUNNER_CONTROL"
"""host:port of the control process."""
NAME_VARIABLE: Final = "OTTLA_RUNNER_NAME"
TOKEN_VARIABLE: Final = "OTTLA_RUNNER_TOKEN"
"""Shows that it is the runner that was started."""
LOG_VARIABLE: Final = "OTTLA_RUNNER_LOG"
LINE_BYTES_MAX: Final = 16 << 20
BEAT_SECONDS: Final = 2.0


def encode(message: Mapping[str, Any]) -> bytes:
    """A line."""
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """A message; `ValueError` for something else."""
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError(f"not a message: {line[:100]!r}")
    return found
