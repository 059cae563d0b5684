"""The driver table, from the bundled file, from a compacted topic, or from PostgreSQL."""

import csv
import json
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.errors import OttlaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DRIVERS_FILE: Final = "drivers.csv"
_LATEST_FIRST: Final = "ROW_NUMBER() OVER (PARTITION BY key ORDER BY partition, offset DESC)"


class Driver(NamedTuple):
    """One row."""

    driverId: int  # noqa: N815
    firstName: str  # noqa: N815
    lastName: str  # noqa: N815

    def to_json(self) -> bytes:
        """The value of the driver's record in a compacted topic."""
        return json.dumps(self._asdict(), separators=(",", ":")).encode()


def bundled_drivers() -> Iterator[Driver]:
    """The drivers that come with Ottla."""
    text = resources.files(__package__).joinpath(DRIVERS_FILE).read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        yield Driver(int(row["driverId"]), row["firstName"], row["lastName"])


def from_bundled(spark: "SparkSession") -> "DataFrame":
    """The bundled table."""
    from ottla.pipelines.trucks.transform import DRIVER

    return spark.createDataFrame(list(bundled_drivers()), DRIVER)


def from_topic(spark: "SparkSession", bootstrap: str, topic: str) -> "DataFrame":
    """The content of a compacted topic: the last record of each key, unless it is a tombstone."""
    from pyspark.sql import functions as f

    from ottla.pipelines.trucks.transform import DRIVER

    records = spark.read.format("ottla").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic).load()
    latest = records.withColumn("age", f.expr(_LATEST_FIRST)).where("age = 1 AND value IS NOT NULL")
    return latest.select(f.from_json(f.col("value").cast("string"), DRIVER).alias("driver")).select("driver.*")


def from_postgres(spark: "SparkSession", address: str, table: str = "driver") -> "DataFrame":
    """A table with the columns id, first_name and last_name; `address` is PostgreSQL's own URL or keywords."""
    from ottla.pipelines.trucks.transform import DRIVER

    return spark.createDataFrame(_rows(address, table), DRIVER)


def _rows(address: str, table: str) -> list[Driver]:
    try:
        import psycopg
        from psycopg import sql
    except ModuleNotFoundError:
        raise OttlaError("a driver table from PostgreSQL needs its client: pip install 'ottla[postgres]'") from None
    query = sql.SQL("SELECT id, first_name, last_name FROM {}").format(sql.Identifier(table))
    try:
        with psycopg.connect(address) as connection:
            return [Driver(*row) for row in connection.execute(query).fetchall()]
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise OttlaError(f"the drivers can't be read from the table {table!r} of PostgreSQL: {said}") from None
