"""Runs Kafka's own tool and ours on the same server, and compares what they print and how they end.

A call that changes something is made twice, with a name for each side in place of `{me}`; the names are then made
equal. What Java logs and its stack traces are not part of what a tool prints.
"""

import contextlib
import importlib
import io
import re
from collections.abc import Iterator

from tests.clients.client.java import Outcome, ToolHost
from tests.kafka.server import Server

_JAVA, _OURS = "java-side", "ours-side"
_SIDES = re.compile(f"{_JAVA}|{_OURS}")
_NOISE = re.compile(r"^(\[.*|\tat .*|\t\.\.\. \d+ more|Caused by: .*)\n?", re.MULTILINE)
_TABLE = re.compile(r"^Option(?: \(\* = required\))? +Description.*", re.DOTALL | re.MULTILINE)


class SideBySide:
    """One tool, twice: `java` is the class, `ours` the module below `ottla.cli.kafka`."""

    def __init__(self, tools: ToolHost, server: Server, java: str, ours: str) -> None:
        self._tools = tools
        self._server = server
        self._java = java
        self._ours = ours
        self.last_java = Outcome(0, "", "")

    def java(self, *arguments: str) -> Outcome:
        """What Kafka's tool does."""
        return _tidy(self._tools.run(self._java, *self._filled(arguments, _JAVA)))

    def ours(self, *arguments: str) -> Outcome:
        """What our tool does."""
        return _tidy(run_tool(self._ours, *self._filled(arguments, _OURS)))

    def same(self, *arguments: str, normal: str = "") -> Outcome:
        """Both do the same; `normal` is a pattern of what may differ between two calls, such as a new id."""
        ours = self.same_output(*arguments, normal=normal)
        java = self.last_java
        assert ours.err.partition("\n")[0] == java.err.partition("\n")[0], (arguments, ours, java)
        return ours

    def same_output(self, *arguments: str, normal: str = "") -> Outcome:
        """Both print the same and end the same, whatever they say on the error output."""
        java, ours = self.java(*arguments), self.ours(*arguments)
        self.last_java = java
        if normal:
            java, ours = (Outcome(one.code, re.sub(normal, "?", one.out), one.err) for one in (java, ours))
        assert (ours.code, ours.out) == (java.code, java.out), (arguments, ours, java)
        return ours

    def same_lines(self, *arguments: str) -> Outcome:
        """Both print the same lines, in whatever order: Java often has none."""
        java, ours = self.java(*arguments), self.ours(*arguments)
        # Java puts a space before the first of some lists, whichever comes first.
        lines = [sorted(line.strip() for line in one.out.splitlines()) for one in (java, ours)]
        assert (ours.code, lines[1]) == (java.code, lines[0]), (arguments, ours, java)
        return ours

    def _filled(self, arguments: tuple[str, ...], name: str) -> Iterator[str]:
        controller = f"127.0.0.1:{self._server.controller_port}"
        for argument in arguments:
            text = argument.replace("{broker}", self._server.bootstrap).replace("{controller}", controller)
            yield text.replace("{me}", name)


def _tidy(outcome: Outcome) -> Outcome:
    out, err = (_SIDES.sub("{me}", _NOISE.sub("", text)) for text in (outcome.out, outcome.err))
    return Outcome(outcome.code, out, _TABLE.sub("", err))


def run_tool(module: str, *arguments: str) -> Outcome:
    """Runs one of our tools in this process."""
    main = importlib.import_module(f"ottla.cli.kafka.{module}").main
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
    return Outcome(int(code or 0), out.getvalue(), err.getvalue())
