"""The pipeline's steps: data frames to data frames, without a broker or a checkpoint.

    positions ─▶ dangerous ─▶ with_driver ─▶ counts        each step's rows become records with `to_records`

`parsed` never fails: a value that is no position has no `timestamp`, and is dropped there. Late data: a window's count
is final when the watermark has passed its end, and what comes later is not counted.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f
from pyspark.sql.types import DoubleType, IntegerType, LongType, StringType, StructField, StructType

from ottla.pipelines.trucks.position import NORMAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

POSITION: Final = StructType(
    [
        StructField("timestamp", LongType()),
        StructField("truckId", IntegerType()),
        StructField("driverId", IntegerType()),
        StructField("routeId", IntegerType()),
        StructField("eventType", StringType()),
        StructField("latitude", DoubleType()),
        StructField("longitude", DoubleType()),
        StructField("correlationId", LongType()),
    ]
)
"""A truck's report."""
DRIVEN: Final = StructType(
    [*POSITION.fields, StructField("firstName", StringType()), StructField("lastName", StringType())]
)
"""A report with its driver's name."""
DRIVER: Final = StructType(
    [
        StructField("driverId", IntegerType()),
        StructField("firstName", StringType()),
        StructField("lastName", StringType()),
    ]
)
"""A row of the driver table."""


def parsed(records: "DataFrame", schema: StructType = POSITION) -> "DataFrame":
    """The JSON values of records; what is none of this schema is left out."""
    value = f.from_json(f.col("value").cast("string"), schema).alias("value")
    return records.select(value).select("value.*").where(f.col("timestamp").isNotNull())


def dangerous(positions: "DataFrame") -> "DataFrame":
    """Whatever is not normal."""
    return positions.where(f.col("eventType").isNotNull() & (f.col("eventType") != NORMAL))


def with_driver(events: "DataFrame", drivers: "DataFrame") -> "DataFrame":
    """Each event with its driver's name; an event of an unknown driver stays, without one."""
    names = drivers.select("driverId", "firstName", "lastName")
    return events.join(f.broadcast(names), "driverId", "left").select([field.name for field in DRIVEN.fields])


def counts(events: "DataFrame", *, window: str = "10 seconds", late: str = "5 seconds") -> "DataFrame":
    """The number of dangerous events of each driver in each window."""
    timed = events.withColumn("eventTime", f.timestamp_millis("timestamp")).withWatermark("eventTime", late)
    grouped = timed.groupBy(f.window("eventTime", window), "driverId", "firstName", "lastName").count()
    return grouped.select(
        f.unix_millis("window.start").alias("windowStart"),
        f.unix_millis("window.end").alias("windowEnd"),
        "driverId",
        "firstName",
        "lastName",
        "count",
    )


def to_records(rows: "DataFrame", key: str) -> "DataFrame":
    """Records with a column as key, as text, and all of the row as JSON."""
    value = f.to_json(f.struct(*rows.columns), {"ignoreNullFields": "false"})
    return rows.select(f.col(key).cast("string").alias("key"), value.alias("value"))
