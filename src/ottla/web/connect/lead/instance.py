"""A connector that was started, to be asked for its tasks; or why it could not be."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.connector import Connector
from ottla.connect.errors import trace
from ottla.connect.mask import Mask
from ottla.connect.plugin import Plugins
from ottla.connect.provider import ConfigProviders
from ottla.connect.task_plan import task_configs
from ottla.connect.worker.config_record import Properties
from ottla.connect.worker.config_state import raw
from ottla.web.connect.lead.call import called

_log: Final = logging.getLogger(__name__)
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0
_LOOK_S: Final = 5.0


class Instance:
    """One connector with one configuration."""

    def __init__(self, name: str, config: Properties, plugins: Plugins, providers: ConfigProviders) -> None:
        self.config: Final = config
        self.tasks: list[dict[str, str]] | None = None
        """The settings of its tasks, their placeholders in place."""
        self.failure: str | None = None
        """The trace of why it does not run."""
        self._name: Final = name
        self._plugins: Final = plugins
        self._providers: Final = providers
        self._connector: Connector | None = None
        self._resolved: dict[str, str] = {}
        self._pause_s = _FIRST_PAUSE_S
        self._due = 0.0
        self._work: asyncio.Task[None] | None = None

    def look(self, timeout_s: float) -> None:
        """Lets it start, or say whether its tasks have changed, if that is due and not under way."""
        if self._work is not None and not self._work.done():
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._due:
            self._work = loop.create_task(self._ask(timeout_s))

    async def stop(self, timeout_s: float) -> None:
        """Ends it."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})
        connector, self._connector = self._connector, None
        if connector is not None:
            # The end of a connector must not keep another one from starting.
            with contextlib.suppress(Exception):
                await called(connector.stop, timeout_s, f"{self._name}.stop")

    async def _ask(self, timeout_s: float) -> None:
        loop = asyncio.get_running_loop()
        try:
            self.tasks = await called(self._planned, timeout_s, f"The connector {self._name}")
        except Exception as error:  # noqa: BLE001 - an edge: a connector may raise anything
            mask = Mask.of([(raw(self.config), self._resolved)])
            _log.warning("The connector %s failed: %s: %s", self._name, type(error).__name__, mask.text(str(error)))
            self.failure, self._connector = mask.text(trace(error)), None
            self._due, self._pause_s = loop.time() + self._pause_s, min(self._pause_s * 2, _LONGEST_PAUSE_S)
        else:
            self.failure, self._pause_s = None, _FIRST_PAUSE_S
            self._due = loop.time() + _LOOK_S

    def _planned(self) -> list[dict[str, str]]:
        """Runs in a thread."""
        connector = self._connector
        if connector is None:
            self._resolved = self._providers.resolve(raw(self.config))
            connector = self._plugins.connector(self._resolved.get("connector.class", ""))
            connector.start(self._resolved)
            self._connector = connector
        elif self.tasks is not None and not connector.has_changed():
            return self.tasks
        return [self._hidden(each) for each in task_configs(connector, self._resolved)]

    def _hidden(self, task: Mapping[str, str]) -> dict[str, str]:
        """A task's settings as they may be stored: where the connector's have a placeholder, so have these."""
        kept = {
            name: value
            for name, value in self.config.items()
            if value is not None and name in task and self._providers.has_placeholder(value)
        }
        return {**task, **kept}


@frozen
class ClassFacts:
    """The metadata of a class of connectors."""

    version: str | None
    """None if it can't be made here."""
    is_foreign: bool
    """Whether its code is not ours."""


def facts_of(name: str, plugins: Plugins) -> ClassFacts:
    """The metadata of the class that a configuration names."""
    try:
        made = plugins.connector(name)
    except Exception:  # noqa: BLE001 - an edge: the module of a user's connector may raise anything
        return ClassFacts(None, True)
    return ClassFacts(made.version, not type(made).__module__.startswith("ottla."))
