"""Metrics: how they are sampled, who reports them, and what clients may send."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import INT, LIST, LONG, MIB, STRING, Items
from ottla.broker.config.keys.node_key import cluster_wide, fixed

METRIC_KEYS: Final = ConfigKeys((
    fixed("metrics.num.samples", INT, 2, Range(1),
          "Samples that a metric is computed from."),
    fixed("metrics.sample.window.ms", LONG, 30_000, Range(1),
          "Length of a sample."),
    cluster_wide("metric.reporters", LIST, ("org.apache.kafka.common.metrics.JmxReporter",), Items(),
                 "Classes that metrics are handed to."),
    fixed("metrics.recording.level", STRING, "INFO", None,
          "How much is measured: INFO, DEBUG or TRACE."),
    fixed("kafka.metrics.reporters", LIST, (), Items(),
          "Classes that the older metrics are handed to."),
    fixed("kafka.metrics.polling.interval.secs", INT, 10, Range(1),
          "How often those classes are given metrics."),
    fixed("telemetry.max.bytes", INT, MIB, Range(1),
          "Largest set of metrics that a client may push."),
))  # fmt: skip
