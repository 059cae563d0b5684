"""Notices that an internal topic is gone, or is another one: what it held is lost, and no one else would say so.

A broker may make a deleted topic anew as soon as a producer asks for it, so a name says nothing: ids are compared with
those that a note beside the state has from earlier starts.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.protocol.errors import UnknownTopicOrPartitionError
from ottla.streams.host.application import Application
from ottla.streams.host.internal_topic import missing_error
from ottla.streams.state.note import write_note

_log = logging.getLogger(__name__)

_LOOK_S: Final = 5.0
_NOTE: Final = "internal_topics.json"


class TopicWatch:
    """Looks at the internal topics of an application, when it starts and while it runs."""

    def __init__(self, application: Application, admin: AsyncAdmin, state_dir: Path) -> None:
        plans = (*application.repartition_topics, *application.changelogs.values())
        self._application_id: Final = application.application_id
        self._names: Final = [plan.name for plan in plans]
        self._admin: Final = admin
        self._path: Final = state_dir / _NOTE
        self._known: dict[str, str] = {}
        self._unknown: set[str] = set()

    async def begin(self, *, has_run: bool) -> None:
        """Compares with earlier starts, unless the application begins anew; `MissingInternalTopicError`."""
        if not self._names:
            return
        if has_run:
            self._known = _noted(self._path)
        found, _ = await self._look()
        self._check_ids(found)
        self._known.update(found)
        write_note(self._path, json.dumps(self._known, sort_keys=True))

    async def run(self) -> None:
        """Looks now and then until it is cancelled; `MissingInternalTopicError`."""
        while self._names:
            await asyncio.sleep(_LOOK_S)
            try:
                found, unknown = await self._look()
            except OttlaError as error:
                _log.info("%s: the internal topics cannot be looked at: %s", self._application_id, error)
                continue
            self._check_ids(found)
            # Once may be a broker that is behind.
            self._raise_if_any(unknown & self._unknown)
            self._unknown = unknown

    async def _look(self) -> tuple[dict[str, str], set[str]]:
        """The ids of the topics that are there, and the names of those that are not."""
        errors: dict[str, OttlaError] = {}
        found = await self._admin.describe_topics(self._names, errors=errors)
        ids = {name: str(topic.topic_id) for name, topic in found.items()}
        return ids, {name for name, error in errors.items() if isinstance(error, UnknownTopicOrPartitionError)}

    def _check_ids(self, found: dict[str, str]) -> None:
        self._raise_if_any([name for name, topic_id in found.items() if self._known.get(name, topic_id) != topic_id])

    def _raise_if_any(self, names: Collection[str]) -> None:
        if names:
            raise missing_error(self._application_id, sorted(names))


def _noted(path: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        return {str(name): str(topic_id) for name, topic_id in json.loads(path.read_text()).items()}
    return {}
