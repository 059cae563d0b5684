"""The partitions of specs that this control process looks after, by the group's word, and what their records say.

A partition's specs and statuses are read to their ends before anything follows from them: an old spec must not start
what a newer one stops. Pipelines of another owner are passed over: other control processes read the same topics.
"""

import logging
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.pipelines.runner.spec import InvalidSpecError, PipelineSpec
from ottla.pipelines.runner.status import PipelineStatus
from ottla.pipelines.runner.supervision import event as e

_log: Final = logging.getLogger(__name__)


class Share:
    """One partition of both topics."""

    def __init__(self, number: int, count: int, control: str, owner: str) -> None:
        self.specs: Final[dict[str, PipelineSpec]] = {}
        self.statuses: Final[dict[str, PipelineStatus]] = {}
        self.is_loaded = False
        self._number: Final = number
        self._count: Final = count
        self._control: Final = control
        self._owner: Final = owner

    def loaded(self) -> list[e.Event]:
        """The events once all earlier records were read."""
        self.is_loaded = True
        found: list[e.Event] = [e.PipelineGained(spec, self.statuses.get(name)) for name, spec in self.specs.items()]
        found += [e.RemainsFound(name, last) for name, last in self.statuses.items() if name not in self.specs]
        return found

    def read_spec(self, key: bytes, value: bytes | None) -> list[e.Event]:
        """The events of a record of the specs."""
        if partition_of_key(key, self._count) != self._number:
            # It would be looked after twice, if the same pipeline is in its own partition as well.
            _log.error("The spec of %r is in another partition than its key's: write it with Kafka's partitioner", key)
            return []
        name = key.decode(errors="replace")
        if value is None:
            known = self.specs.pop(name, None)
            return [e.SpecDeleted(name)] if known is not None and self.is_loaded else []
        try:
            spec = PipelineSpec.from_json(name, value)
        except InvalidSpecError as error:
            _log.error("A spec is passed over: %s", error)
            return []
        if spec.owner != self._owner:
            known = self.specs.pop(name, None)
            return [e.PipelineLost(name)] if known is not None and self.is_loaded else []
        if spec == self.specs.get(name):
            return []
        self.specs[name] = spec
        return [e.SpecChanged(spec)] if self.is_loaded else []

    def read_status(self, key: bytes, value: bytes | None) -> list[e.Event]:
        """The events of a record of the statuses."""
        name = key.decode(errors="replace")
        if value is None:
            self.statuses.pop(name, None)
            return []
        try:
            status = PipelineStatus.from_json(value)
        except OttlaError as error:
            _log.error("The status of %s is passed over: %s", name, error)
            return []
        if status.owner != self._owner:
            self.statuses.pop(name, None)
            return []
        self.statuses[name] = status
        is_foreign = status.control not in {"", self._control}
        return [e.StatusOverwritten(name)] if is_foreign and self.is_loaded else []
