"""The doctor's findings: a line for each check and a second one with advice, or all of them as JSON."""

from enum import Enum
from typing import Final, NamedTuple

from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone


class Verdict(Enum):
    """The result of a check."""

    FINE = "fine"
    DOUBTFUL = "doubtful"
    WRONG = "wrong"
    SKIPPED = "skipped"


_MARKS: Final = {
    Verdict.FINE: ("✓", Tone.GOOD),
    Verdict.DOUBTFUL: ("!", Tone.WARN),
    Verdict.WRONG: ("✗", Tone.BAD),
    Verdict.SKIPPED: ("-", Tone.FAINT),
}


class Finding(NamedTuple):
    """One check: what was looked at, how it is, and what to do about it."""

    check: str
    verdict: Verdict
    said: str
    fix: str = ""


def fine(check: str, said: str) -> Finding:
    """A check that found nothing wrong."""
    return Finding(check, Verdict.FINE, said)


def wrong(check: str, said: str, fix: str) -> Finding:
    """A check that found the trouble."""
    return Finding(check, Verdict.WRONG, said, fix)


def doubtful(check: str, said: str, fix: str) -> Finding:
    """Something that works, and may not for long."""
    return Finding(check, Verdict.DOUBTFUL, said, fix)


def skipped(check: str, said: str) -> Finding:
    """A check that could not be made."""
    return Finding(check, Verdict.SKIPPED, said)


class Report:
    """Findings, printed as they come."""

    def __init__(self, *, is_json: bool) -> None:
        self._is_json: Final = is_json
        self._style: Final = Style.of()
        self.findings: Final[list[Finding]] = []

    def add(self, finding: Finding) -> bool:
        """Prints a finding; whether what comes after it can work."""
        self.findings.append(finding)
        if not self._is_json:
            mark, tone = _MARKS[finding.verdict]
            print(f"{self._style.paint(mark, tone)} {self._style.paint(finding.check, Tone.STRONG)}  {finding.said}")
            if finding.fix:
                print(f"  {self._style.paint('→', tone)} {finding.fix}", flush=True)
        return finding.verdict is not Verdict.WRONG

    def conclude(self) -> int:
        """Prints the sum; the exit code."""
        bad = sum(finding.verdict is Verdict.WRONG for finding in self.findings)
        if self._is_json:
            rows = [{**finding._asdict(), "verdict": finding.verdict.value} for finding in self.findings]
            print_document({"healthy": bad == 0, "checks": rows})
        elif bad:
            print(f"\n{self._style.paint(counted(bad, 'problem'), Tone.BAD)} found; the arrows say what helps.")
        else:
            print(f"\n{self._style.paint('All is well.', Tone.GOOD)}")
        return 1 if bad else 0
