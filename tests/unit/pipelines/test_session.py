"""What is said where Spark can't run."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from ottla.cli.main import main
from ottla.pipelines.profile import LOCAL, TUNED
from ottla.pipelines.session import SparkUnavailableError, check_java, check_memory, check_pyspark

# The package hands out the function of this name.
SESSION = sys.modules["ottla.pipelines.session"]


def test_without_pyspark_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SESSION, "check_java", lambda: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SparkUnavailableError, match=r"ottla\[spark\]"):
        check_pyspark()
    assert main(["trucks", "--seconds", "1"]) == 1
    assert capsys.readouterr().err == "ottla: PySpark is not installed: pip install 'ottla[spark]'\n"


def test_without_java_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(SparkUnavailableError, match="apt-get install openjdk-17"):
        check_java()


def test_an_old_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailableError, match="is Java 11"):
        check_java()


def test_a_java_that_does_not_start_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'Error occurred during initialization of VM'\necho 'No space.'\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkUnavailableError, match=r"does not start\. It says: Error .* of VM No space\."):
        check_java()


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION, "available_bytes", lambda: 500_000_000)
    with pytest.raises(SparkUnavailableError, match=r"0\.5 GB are free"):
        check_memory()


def test_the_page_has_every_setting_of_the_profile_with_its_effect() -> None:
    page = (Path(__file__).parents[3] / "docs" / "SPARK.md").read_text()
    for setting in (*TUNED, *LOCAL):
        assert f"| `{setting.name}`" in page
        assert f"| {setting.effect} |" in page
