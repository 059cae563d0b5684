"""`make flaky N=5`: runs the tests with real processes several times on a machine that is kept busy; lists what failed.

Nothing is run again here: each failure counts. Two clean rounds of all directories are what a quiet CI rests on.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

DIRECTORIES = ("tests/clients", "tests/integration", "tests/parity", "tests/torture")
_HOG = "while True: pass"


@contextlib.contextmanager
def busy_machine(hogs: int) -> Iterator[None]:
    """Processes that want a core each, for the length of a block."""
    processes = [subprocess.Popen([sys.executable, "-c", _HOG]) for _ in range(hogs)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def failures(paths: list[str]) -> tuple[dict[str, str], int]:
    """What failed in one run, with its last line of trouble; and pytest's exit code."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "reports.jsonl")
        path.touch()
        command = [sys.executable, "-m", "pytest", "-p", "tests.harness.rerun", "--record-reports", str(path)]
        ended = subprocess.run(
            [*command, "--numprocesses", "2", "--dist", "loadfile", *paths],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        reports = [json.loads(line) for line in path.read_text().splitlines()]
    found = {report["nodeid"]: _message(report["longrepr"]) for report in reports if report["outcome"] == "failed"}
    if ended.returncode and not found:
        found = {"(no test)": ended.stdout.strip()[-2_000:]}
    print(ended.stdout.strip().splitlines()[-1], flush=True)
    return found, ended.returncode


def _message(longrepr: object) -> str:
    crash = longrepr.get("reprcrash") if isinstance(longrepr, dict) else None
    text = str(crash["message"] if crash else longrepr)
    return text.strip().partition("\n")[0]


def main() -> int:
    """So many runs; 1 if anything failed in any of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness.flaky", description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hogs", type=int, default=1, help="processes beside that want a core each")
    parser.add_argument("paths", nargs="*", default=DIRECTORIES)
    arguments = parser.parse_args()
    failed: dict[str, list[str]] = defaultdict(list)
    with busy_machine(arguments.hogs):
        for number in range(1, arguments.runs + 1):
            print(f"run {number} of {arguments.runs}: ", end="", flush=True)
            for nodeid, message in failures(list(arguments.paths))[0].items():
                failed[nodeid].append(message)
    for nodeid, messages in sorted(failed.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(messages)} of {arguments.runs}  {nodeid}\n        {messages[0]}")
    if not failed:
        print(f"{arguments.runs} runs, nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
