"""A worker and, in the same process, a control process that runs its connectors' tasks on Spark.

The worker comes first: its address is part of the control process's name, by which statuses name the worker.
"""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ottla.cli.service_process import Address, Service
from ottla.connect.worker.pipeline import prefix_of
from ottla.connect.worker.task_status import control_name
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.control.service import ControlProcess
from ottla.web.connect.config import ConnectConfig
from ottla.web.connect.service import ConnectService


class ConnectNode(Service):
    """What one `ottla connect` is."""

    def __init__(self, config: ConnectConfig, worker: ConnectService) -> None:
        self._config: Final = config
        self._worker: Final = worker
        self._control: ControlProcess | None = None

    @property
    def addresses(self) -> Sequence[Address]:
        """Where clients reach the worker."""
        return self._worker.addresses

    async def start(self) -> None:
        """Serves, and runs tasks from now on. Raises `OttlaError`, also where Java or Spark is missing."""
        await self._worker.start()
        control = ControlProcess(control_options(self._config, self._worker.worker_id))
        await control.start()
        self._control = control

    async def stop(self) -> None:
        """Ends the tasks between two micro-batches, then the worker."""
        if self._control is not None:
            await self._control.stop()
        await self._worker.stop()


def control_options(config: ConnectConfig, worker_id: str) -> ControlOptions:
    """The control process's options: the cluster and its security are the worker's."""
    settings = config.settings
    return ControlOptions(
        client={name: str(value) for name, value in config.client.items()},
        data=Path(settings.string("pipelines.directory")),
        master=settings.string("pipelines.master"),
        group=config.control_group,
        owner=config.owner,
        specs_topic=settings.string("pipelines.specs.topic"),
        status_topic=settings.string("pipelines.status.topic"),
        replication_factor=settings.integer("config.storage.replication.factor"),
        name=control_name(worker_id, uuid.uuid4().hex[:6]),
        secrets={prefix_of(settings.string("group.id")): config.secrets},
    )
