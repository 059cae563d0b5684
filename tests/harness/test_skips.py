"""Skips are counted by reason, and have one."""

from pathlib import Path

from tests.harness.project import XDIST, closing_line, run, write

PLUGIN = "tests.harness.skips"


def test_skips_are_counted_by_reason(tmp_path: Path) -> None:
    write(
        tmp_path,
        "test_it.py",
        "import pytest\n\n@pytest.mark.parametrize('number', range(3))\n"
        "def test_java(number):\n    pytest.skip('needs Java')\n\n"
        "@pytest.mark.skipif(True, reason='too long: make spark')\ndef test_long():\n    pass\n\n"
        "def test_sure():\n    pass\n",
    )
    write(tmp_path, "test_module.py", "import pytest\n\npytest.importorskip('no_such_module', reason='needs it')\n")
    code, output = run(tmp_path, PLUGIN, *XDIST)
    assert (code, closing_line(output)) == (0, "1 passed, 5 skipped")
    summary = output.partition("skipped, by reason")[2].splitlines()[1:4]
    assert summary == ["    3 needs Java", "    1 needs it", "    1 too long: make spark"]


def test_a_skip_without_a_reason_fails(tmp_path: Path) -> None:
    write(
        tmp_path,
        "test_it.py",
        "import pytest\n\ndef test_bare():\n    pytest.skip()\n\n@pytest.mark.skip\ndef test_marked():\n    pass\n\n"
        "@pytest.mark.xfail(reason='known')\ndef test_expected():\n    assert False\n",
    )
    code, output = run(tmp_path, PLUGIN)
    assert code == 1
    assert "test_it.py::test_bare is skipped and does not say why" in output
    assert "test_it.py::test_marked is skipped and does not say why" in output
    assert "1 xfailed" in closing_line(output)
