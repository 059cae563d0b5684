"""`--rerun-failed`: a test with real processes that fails is run once more, alone, after all others have ended.

One that passes then is FLAKY: the summary names it with its first failure, which is a bug to mend next. More than
`FLAKY_MAX` of them fail the run, as a second failure does. Tests that a seed decides are never run again: they have
no luck to blame. Works without and with pytest-xdist, where all of it happens in the controller.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAKY_MAX = 2
RERUNS_MAX = 10  # past that something is broken for good: to run it all again would only take longer to say so
DETERMINISTIC = ("tests/unit/", "tests/property/", "tests/simulation/")
_NAME = "ottla-rerun"


@dataclass
class FirstFailure:
    """What is run again in one process: a test, or all tests of a file that a failed set-up took with it."""

    reports: list[pytest.TestReport] = field(default_factory=list)

    @property
    def nodeids(self) -> list[str]:
        return list(dict.fromkeys(report.nodeid for report in self.reports))


class Rerun:
    """Holds failures back from the other plugins until the second run has decided what they are."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._first: dict[str, FirstFailure] = {}
        self._flaky: list[pytest.TestReport] = []
        self._replaying = False
        self._notes: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._replaying or not report.failed or report.nodeid.startswith(DETERMINISTIC):
            return
        key = report.nodeid.partition("::")[0] if report.when == "setup" else report.nodeid
        self._first.setdefault(key, FirstFailure()).reports.append(report)
        report.outcome = "held"  # type: ignore[assignment]

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        return ("", "R", ("RERUN", {"yellow": True})) if report.outcome == "held" else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            self._replaying = True
            self._settle()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for report in self._flaky:
            terminalreporter.write_sep("_", f"FLAKY {report.nodeid}", yellow=True, bold=True)
            terminalreporter.line("passed when run again, alone; its first failure:")
            report.toterminal(terminalreporter._tw)
        if self._flaky or self._notes:
            terminalreporter.write_sep("=", "flaky tests", yellow=True, bold=True)
        for report in self._flaky:
            terminalreporter.line(f"FLAKY {report.nodeid} - {_message(report)}", yellow=True)
        for note in self._notes:
            terminalreporter.line(note, red=True)

    def _settle(self) -> None:
        if len(self._first) > RERUNS_MAX:
            self._notes.append(f"{len(self._first)} failures, too many to run again (at most {RERUNS_MAX})")
            self._fail([report for first in self._first.values() for report in first.reports])
            return
        flaky = []
        for first in self._first.values():
            again = _run_alone(self._config, first.nodeids)
            passed = {report.nodeid for report in again if report.when == "call" and report.passed}
            failed = [report for report in again if report.failed]
            if passed >= set(first.nodeids) and not failed:
                flaky.append((first, again))
            else:
                self._fail(_with_first_failure(failed, first) or first.reports)
        for first, again in flaky:
            self._flaky += first.reports
            if len(flaky) > FLAKY_MAX:
                self._fail(first.reports)
            else:
                self._pass(first, again)
        if len(flaky) > FLAKY_MAX:
            self._notes.append(f"{len(flaky)} flaky tests fail the run (at most {FLAKY_MAX} are let through)")

    def _fail(self, reports: list[pytest.TestReport]) -> None:
        for report in reports:
            report.outcome = "failed"
            self._config.hook.pytest_runtest_logreport(report=report)

    def _pass(self, first: FirstFailure, again: list[pytest.TestReport]) -> None:
        """Counts no test twice: its call had passed if the teardown failed, and xdist repeats what a worker died of."""
        stats = self._config.pluginmanager.getplugin("terminalreporter").stats
        counted = {report.nodeid for report in stats.get("passed", ())}
        for report in again:
            if report.nodeid not in counted:
                self._config.hook.pytest_runtest_logreport(report=report)
        stats.setdefault("flaky", []).append(first.reports[0])


class Recorder:
    """Writes a run's reports to a file, a line each: how the second run tells the first what became of it."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config = config
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        data.pop("node", None)  # xdist's
        with self._path.open("a") as file:
            file.write(json.dumps(data) + "\n")


def _run_alone(config: pytest.Config, nodeids: list[str]) -> list[pytest.TestReport]:
    """The reports of these tests in a process of their own; none if it did not come to that."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "reports.jsonl")
        path.touch()
        subprocess.run(
            [sys.executable, "-m", "pytest", "-p", __name__, "-p", "no:xdist", "--record-reports", str(path), *nodeids],
            cwd=config.rootpath,
            env={name: text for name, text in os.environ.items() if name != "PYTEST_ADDOPTS"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        lines = path.read_text().splitlines()
    return [config.hook.pytest_report_from_serializable(config=config, data=json.loads(line)) for line in lines]


def _with_first_failure(failed: list[pytest.TestReport], first: FirstFailure) -> list[pytest.TestReport]:
    for report in failed:
        earlier = [held for held in first.reports if held.nodeid == report.nodeid]
        report.sections += [(f"first failure ({held.when})", held.longreprtext) for held in earlier]
    return failed


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    return str(text).strip().partition("\n")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ottla's own tests")
    group.addoption("--rerun-failed", action="store_true", help="run failed tests with real processes again, alone")
    group.addoption("--record-reports", type=Path, metavar="FILE", help="write each report to FILE as a line of JSON")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    if config.option.rerun_failed and not config.getvalue("maxfail"):
        config.pluginmanager.register(Rerun(config), _NAME)
    if config.option.record_reports:
        config.pluginmanager.register(Recorder(config, config.option.record_reports))
