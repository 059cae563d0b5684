"""A skipped test says why, or fails; the summary counts what was skipped by reason, so that nothing goes missing."""

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

_NO_REASON = ("", "unconditional skip")  # the second is what pytest says for a bare `@pytest.mark.skip`


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip for which nobody gives a reason is a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and _reason(report) in _NO_REASON:
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} is skipped and does not say why"
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests were skipped, by reason."""
    counts = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    if counts:
        terminalreporter.section("skipped, by reason")
    for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        terminalreporter.line(f"{count:5} {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Without what pytest puts before it: `longrepr` is the file, the line and "Skipped: " with the reason."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped").removeprefix(": ").strip()
