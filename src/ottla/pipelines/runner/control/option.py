"""The settings of a control process."""

import os
import re
import socket
import uuid
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from ottla.base.frozen import frozen
from ottla.pipelines.runner.supervision.option import SupervisionOptions

SPECS_TOPIC: Final = "__ottla_pipeline_specs"
STATUS_TOPIC: Final = "__ottla_pipeline_status"
GROUP: Final = "ottla-pipelines"


def new_control_name() -> str:
    """A name that no other control process has, or ever had: host and process for people, the rest for safety."""
    host = re.sub(r"[^A-Za-z0-9.]", "-", socket.gethostname())[:40]
    return f"{host}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


@frozen(kw_only=True)
class ControlOptions:
    """All that a control process has to know."""

    client: Mapping[str, str]
    """Settings of Kafka clients, `bootstrap.servers` among them; runners use them, too."""
    data: Path
    """Checkpoints, logs and Spark's files; control processes of one machine share it."""
    master: str = "local[*,4]"
    spark: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark, before those of the profile."""
    spark_submit: str | None = None
    """The spark-submit that starts runners; None starts Python directly."""
    group: str = GROUP
    owner: str = ""
    """Only pipelines of this owner are looked after."""
    specs_topic: str = SPECS_TOPIC
    status_topic: str = STATUS_TOPIC
    partitions: int = 8
    """Of both topics, if they are made here: how many control processes can share the work."""
    replication_factor: int = 3
    session_timeout_ms: int = 10_000
    supervision: SupervisionOptions = field(default_factory=SupervisionOptions)
    name: str = field(default_factory=new_control_name)
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """Secret settings of pipelines by the prefix of their names, which runners get and no topic may have."""

    @property
    def checkpoints(self) -> Path:
        """The root of all checkpoints."""
        return self.data.resolve() / "checkpoints"

    @property
    def runners(self) -> Path:
        """The directory of the logs of runners, with one below it for each control process."""
        return self.data.resolve() / "runners"
