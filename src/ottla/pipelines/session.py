"""A SparkSession with Ottla's source and sink and the settings of `profile`.

The master is the caller's, or what `OTTLA_SPARK_MASTER` or spark-submit says, or this machine: `local[*,4]`, where 4
lets a task that failed be tried again. Settings that the caller or spark-submit gives count before the profile's.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.memory import available_bytes
from ottla.pipelines.profile import LOCAL, TUNED
from ottla.pipelines.spark_home import lean_spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER_VARIABLE: Final = "OTTLA_SPARK_MASTER"
LOCAL_MASTER: Final = "local[*,4]"
_GATEWAY_VARIABLE: Final = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit for the program that it starts."""
JAVA_MIN: Final = 17
MEMORY_BYTES_MIN: Final = 2_000_000_000
"""A session with one query: the JVM, its Python workers and the driver."""


class SparkUnavailableError(OttlaError):
    """Spark can't run here; the text says what to install or to free."""


def session(
    app_name: str = "ottla", *, master: str | None = None, settings: Mapping[str, str] | None = None
) -> "SparkSession":
    """A session in which `format("ottla")` is known; the one that is active already if there is one."""
    check_java()
    check_pyspark()
    from pyspark.sql import SparkSession

    # Spark looks for `pyspark_ottla` with this Python, and takes any `python3` otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    submitted = _submitted_settings()
    chosen = master or os.environ.get(MASTER_VARIABLE) or submitted.get("spark.master") or LOCAL_MASTER
    is_local = chosen.startswith("local")
    home = lean_spark_home() if is_local else None
    if home is not None:
        os.environ["SPARK_HOME"] = str(home)
    profile = (*TUNED, *(LOCAL if is_local else ()))
    wanted = {setting.name: setting.value for setting in profile if setting.name not in submitted}
    builder = SparkSession.builder.appName(app_name).master(chosen)
    for name, value in {**wanted, **(settings or {})}.items():
        builder = builder.config(name, value)
    is_new = SparkSession.getActiveSession() is None
    spark = _start(builder)
    if not (is_new and _is_found_by_spark()):
        register(spark)
    return spark


def _start(builder: "SparkSession.Builder") -> "SparkSession":
    from pyspark.errors import PySparkRuntimeError

    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise SparkUnavailableError(
            "Spark's Java process ended before it was ready: too little memory, or an option that it does not know"
        ) from None


def _submitted_settings() -> dict[str, str]:
    """The settings of spark-submit; empty in a process that it did not start."""
    if _GATEWAY_VARIABLE not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    # Its settings are in the JVM that it has started, which is unused so far.
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _is_found_by_spark() -> bool:
    """Whether the Python that a new session looks with is one that has the module by which Spark finds the format."""
    return os.environ["PYSPARK_PYTHON"] == sys.executable and importlib.util.find_spec("pyspark_ottla") is not None


def check_pyspark() -> None:
    """`SparkUnavailableError` if the extra `spark` is not installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise SparkUnavailableError("PySpark is not installed: pip install 'ottla[spark]'")


def check_java() -> None:
    """`SparkUnavailableError` if there is no Java that Spark can use."""
    java = _java()
    if java is None:
        raise SparkUnavailableError(
            f"Spark needs Java {JAVA_MIN} or newer and there is none on this machine. On Debian and Ubuntu: apt-get "
            f"install openjdk-{JAVA_MIN}-jre-headless. The broker, the clients and the tools never need it."
        )
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', told.stderr)
    if found is None:
        said = " ".join((told.stdout + told.stderr).split()) or f"nothing but the exit code {told.returncode}"
        raise SparkUnavailableError(f"Spark needs Java, and {java} does not start. It says: {said}")
    if int(found[1]) < JAVA_MIN:
        raise SparkUnavailableError(f"Spark needs Java {JAVA_MIN} or newer; {java} is Java {found[1]}. Set JAVA_HOME.")


def check_memory() -> None:
    """`SparkUnavailableError` if less is free than a session needs."""
    available = available_bytes()
    if available is not None and available < MEMORY_BYTES_MIN:
        raise SparkUnavailableError(
            f"Spark needs about {MEMORY_BYTES_MIN / 1e9:.0f} GB of memory and {available / 1e9:.1f} GB are free: end "
            "something else, or give this machine or container more. The broker, the clients and the tools need 0.1 GB."
        )


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home and Path(home, "bin", "java").exists():
        return str(Path(home, "bin", "java"))
    return shutil.which("java")


def register(spark: "SparkSession") -> None:
    """Adds `format("ottla")` to a session.

    Spark finds it alone where the module `pyspark_ottla` can be imported by the Python that Spark looks with. This is
    for sessions where it can't, on Spark Connect, too. Its name is sent, not its code: Ottla has to be installed
    wherever Spark's Python processes run.
    """
    from ottla.pipelines.source.data_source import OttlaDataSource

    spark.dataSource.register(OttlaDataSource)
