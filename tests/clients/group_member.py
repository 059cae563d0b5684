"""A member of a group in a process of its own, to be killed.

`python -m tests.clients.group_member BOOTSTRAP GROUP TOPIC [NAME=VALUE]…` prints a line for each record that it gets
(`partition offset`), and commits what it has printed.
"""

import sys

from tests.clients.client import confluent

SESSION_TIMEOUT_MS = 6_000
"""The shortest that a broker takes by default."""


def main(bootstrap: str, group: str, topic: str, *more: str) -> None:
    """Runs until it is killed."""
    settings: dict[str, object] = dict(setting.split("=", 1) for setting in more)
    if "group_protocol" not in settings:
        # Members of the consumer protocol are told both by the broker.
        settings |= {"session_timeout_ms": SESSION_TIMEOUT_MS, "heartbeat_interval_ms": 500}
    client = confluent.consumer(bootstrap, group_id=group, **settings)
    client.subscribe([topic])
    while True:
        message = client.poll(1)
        if message is not None and message.error() is None:
            print(message.partition(), message.offset(), flush=True)
            client.commit(message, asynchronous=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
