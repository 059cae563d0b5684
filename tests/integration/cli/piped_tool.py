"""Our tools as processes with a standard input and bytes for output, for those that a shell pipes records through."""

import subprocess
import sys

from tests.clients.client.java import Outcome


def run_piped(module: str, *arguments: str, stdin: str = "", timeout: float = 60) -> Outcome:
    """Runs one of our tools to its end."""
    done = subprocess.run(
        [sys.executable, "-m", f"ottla.cli.kafka.{module}", *arguments],
        input=stdin.encode(),
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
