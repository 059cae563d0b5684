"""What the doctor makes of what it sees."""

import json
from pathlib import Path

import pytest

from ottla.cli.commands.doctor.cluster import examine_clock, examine_versions
from ottla.cli.commands.doctor.data import examine, examine_room
from ottla.cli.commands.doctor.finding import Report, Verdict, fine, wrong
from ottla.client.admin.value.cluster import ApiVersionRange
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type

GB = 10**9


def _served(**changes: tuple[int, int]) -> list[ApiVersionRange]:
    ranges = {key: request_type(key).valid_versions for key in ApiKey}
    found = {key: (versions.lowest, versions.highest) for key, versions in ranges.items()}
    found |= {ApiKey[name]: versions for name, versions in changes.items()}
    return [ApiVersionRange(key, *versions) for key, versions in found.items()]


def test_a_broker_of_our_age_is_fine() -> None:
    assert examine_versions(_served()).verdict is Verdict.FINE


def test_a_broker_too_old_or_too_new_is_not() -> None:
    old = examine_versions(_served(FETCH=(0, 0)))
    assert (old.verdict, old.fix) == (Verdict.WRONG, "upgrade it to Kafka 2.1 or newer")
    new = examine_versions(_served(FETCH=(90, 99)))
    assert (new.verdict, new.fix) == (Verdict.WRONG, "pip install -U ottla")
    lacking = [found for found in _served() if found.api_key != ApiKey.CONSUMER_GROUP_HEARTBEAT]
    assert "without group.protocol=consumer" in examine_versions(lacking).said


@pytest.mark.parametrize(
    ("theirs_s", "verdict", "said"),
    [
        (1000.5, Verdict.FINE, "agrees with ours within 1.0 s"),
        (998.5, Verdict.FINE, "agrees with ours within 1.5 s"),
        (940, Verdict.WRONG, "1 min behind this machine's"),
        (1301, Verdict.WRONG, "5 min ahead of this machine's"),
    ],
)
def test_clocks(theirs_s: float, verdict: Verdict, said: str) -> None:
    found = examine_clock(theirs_s, 1000, 1001)
    assert found.verdict is verdict
    assert said in found.said


@pytest.mark.parametrize(
    ("free", "inodes", "verdict"),
    [
        (50 * GB, 0.5, Verdict.FINE),
        (5 * GB, 0.5, Verdict.DOUBTFUL),
        (GB // 2, 0.5, Verdict.WRONG),
        (50 * GB, 0.0, Verdict.WRONG),
    ],
)
def test_a_disk_that_fills_up(free: int, inodes: float, verdict: Verdict) -> None:
    found = examine_room("data", free, 100 * GB, inodes)
    assert found.verdict is verdict
    assert ("retention" in found.fix) is (verdict is not Verdict.FINE)


def test_a_directory_that_is_not_there_or_not_a_brokers(tmp_path: Path) -> None:
    (absent,) = examine(str(tmp_path / "none"))
    assert (absent.verdict, absent.said) == (Verdict.WRONG, f"{tmp_path}/none does not exist")
    (tmp_path / "notes.txt").write_text("")
    checks = {found.check: found for found in examine(str(tmp_path))}
    assert checks["rights"].verdict is Verdict.FINE
    assert checks["format"].verdict is Verdict.DOUBTFUL


def test_the_report_has_a_mark_a_fix_and_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(is_json=False)
    assert report.add(fine("name", "resolves"))
    assert not report.add(wrong("port", "refuses", "start it"))
    assert report.conclude() == 1
    assert capsys.readouterr().out.splitlines() == [
        "✓ name  resolves", "✗ port  refuses", "  → start it", "", "1 problem found; the arrows say what helps.",
    ]  # fmt: skip


def test_the_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(is_json=True)
    report.add(fine("name", "resolves"))
    assert report.conclude() == 0
    assert json.loads(capsys.readouterr().out) == {
        "healthy": True,
        "checks": [{"check": "name", "verdict": "fine", "said": "resolves", "fix": ""}],
    }
