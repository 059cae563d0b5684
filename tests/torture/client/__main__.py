"""Runs one client: `python -m tests.torture.client TASK`."""

import faulthandler
import importlib
import signal
import sys

from tests.torture.client.task import Task, Work


def main() -> None:
    """Until SIGTERM, or until the client library gives up."""
    # Who hangs says where.
    faulthandler.register(signal.SIGALRM, chain=True)
    task = Task.parse(sys.argv[1])
    library = importlib.import_module(f"tests.torture.client.{task.library}_role")
    getattr(library, task.role)(Work(task))


if __name__ == "__main__":
    main()
