"""Apache Kafka's own command-line tools, run in one JVM that stays up for all tests."""

import base64
import queue
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from tests.kafka.peer import VERSION, command

NAME = f"Apache Kafka's tools {VERSION}"
_HOST = Path(__file__).parent.parent / "java" / "ToolHost.java"
_TOOLS = "org.apache.kafka.tools."


class Outcome(NamedTuple):
    """What a tool did."""

    code: int
    out: str
    err: str


class ToolHost:
    """The JVM; a tool that hangs is ended with it, and the next call starts another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def run(self, tool: str, *arguments: str, stdin: str = "", timeout: float = 60) -> Outcome:
        """Runs a tool of the package `org.apache.kafka.tools`, or any class by its full name."""
        name = tool if tool.startswith("kafka.") else _TOOLS + tool
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(" ".join(_encode(part) for part in (name, stdin, *arguments)) + "\n")
        process.stdin.flush()
        try:
            answer = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise AssertionError(f"{tool} {' '.join(arguments)} did not end within {timeout} s") from None
        assert answer, f"the JVM ended while it ran {tool}"
        code, out, err = answer.rstrip("\n").split(" ")
        return Outcome(int(code), _decode(out), _decode(err))

    def close(self) -> None:
        """Ends the JVM."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._answers = queue.Queue()
            self._process = subprocess.Popen(
                command(str(_HOST), ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            threading.Thread(target=_collect, args=(self._process, self._answers), daemon=True).start()
        return self._process


def _collect(process: "subprocess.Popen[str]", answers: "queue.Queue[str]") -> None:
    """Hands over each line; an empty one tells that the JVM has ended."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            answers.put(line)
    answers.put("")


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _decode(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace")
