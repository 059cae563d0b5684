"""Log lines of tools on the error output, as Kafka's tools write them."""

import sys
import time


def log_error(message: str, logger: str) -> None:
    """One line: time, level, message, and who says it."""
    now = time.time()
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    print(f"[{moment},{int(now * 1000) % 1000:03d}] ERROR {message} ({logger})", file=sys.stderr, flush=True)
