"""The home that Spark gets."""

from pathlib import Path

import pytest

from ottla.pipelines.spark_home import lean_spark_home

pytest.importorskip("pyspark", reason="needs pyspark: pip install ottla[spark]")


def test_it_has_all_that_spark_starts_from_and_no_zip_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    home = lean_spark_home()
    assert home is not None
    assert (home / "bin" / "spark-submit").exists()
    assert list((home / "jars").glob("spark-core*.jar"))
    assert not (home / "python").exists()
    assert lean_spark_home() == home, "it is made once"


def test_a_home_of_the_users_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert lean_spark_home() is None


def test_where_nothing_can_be_written_spark_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    (tmp_path / "ottla").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert lean_spark_home() is None
