"""The offsets of a connector: read, altered, reset. A sink's are those of its consumer group."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.record import TopicPartition
from ottla.connect.connector import Connector, SinkConnector, SourceConnector
from ottla.connect.errors import ConnectError
from ottla.connect.offset_record import encode
from ottla.connect.worker.config_state import raw
from ottla.connect.worker.decision import check_stopped
from ottla.connect.worker.offset_request import (
    read_changes,
    sink_changes,
    sink_offset,
    source_changes,
    success,
)  # fmt: skip
from ottla.connect.worker.pipeline import is_at_rest
from ottla.connect.worker.refusal import RefusedError, absent, bad
from ottla.connect.worker.validation import found_connector
from ottla.protocol.errors import GroupIdNotFoundError
from ottla.web.connect.api.edge import route
from ottla.web.connect.context import ConnectContext, body_of
from ottla.web.connect.lead.leader import Leader
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_REST_S: Final = 30.0
_PAUSE_S: Final = 0.1
_Changes = Sequence[tuple[Mapping[str, object], Mapping[str, object] | None]]


class OffsetApi:
    """`/connectors/{connector}/offsets`."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        path = "/connectors/{connector}/offsets"
        return [
            route("GET", path, self._show),
            route("PATCH", path, self._alter),
            route("DELETE", path, self._reset),
        ]

    async def _show(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        connector, settings = self._found(name)
        if isinstance(connector, SinkConnector):
            offsets = (await self._committed(_group(name, settings))).items()
            return _shown([sink_offset(place.topic, place.partition, offset) for place, offset in sorted(offsets)])
        known = self._context.tables.offsets.offsets(name)
        return _shown([{"partition": partition, "offset": offset} for partition, offset in known])

    async def _alter(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        if name not in self._context.tables.configs:
            raise absent(name)
        changes = read_changes(await body_of(request))
        await self._wait_for_rest(name)

        async def act(leader: Leader) -> Answer:
            connector, settings = self._at_rest(leader, name)
            if isinstance(connector, SinkConnector):
                is_checked = await self._alter_sink(connector, name, settings, sink_changes(changes))
            else:
                is_checked = await self._alter_source(leader, connector, settings, (name, source_changes(changes)))
            return json_answer(success("altered", is_checked=is_checked))

        return await self._context.change(request, act)

    async def _reset(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        await self._wait_for_rest(name)

        async def act(leader: Leader) -> Answer:
            connector, settings = self._at_rest(leader, name)
            if isinstance(connector, SinkConnector):
                is_checked = await self._reset_sink(connector, name, settings)
            else:
                known: _Changes = [(partition, None) for partition, _ in leader.tables.offsets.offsets(name)]
                is_checked = await self._alter_source(leader, connector, settings, (name, known))
            return json_answer(success("reset", is_checked=is_checked))

        return await self._context.change(request, act)

    async def _wait_for_rest(self, name: str) -> None:
        """Waits until none of the connector's tasks can still be at work; refuses one that is not stopped."""
        leader = self._context.leader
        deadline = asyncio.get_running_loop().time() + _REST_S
        while True:
            check_stopped(leader.tables.configs, name)
            if is_at_rest(leader.spec(name), leader.pipeline(name)):
                return
            if asyncio.get_running_loop().time() > deadline:
                raise _still_at_work(name)
            await asyncio.sleep(_PAUSE_S)

    def _at_rest(self, leader: Leader, name: str) -> tuple[Connector, dict[str, str]]:
        """The connector, which is still stopped now that nothing else is decided."""
        check_stopped(leader.tables.configs, name)
        if not is_at_rest(leader.spec(name), leader.pipeline(name)):
            raise _still_at_work(name)
        return self._found(name)

    def _found(self, name: str) -> tuple[Connector, dict[str, str]]:
        config = self._context.tables.configs.config(name)
        if config is None:
            raise absent(name)
        settings = self._context.config.providers.resolve(raw(config))
        return found_connector(settings, self._context.plugins), settings

    async def _alter_source(
        self, leader: Leader, connector: Connector, settings: dict[str, str], changes: tuple[str, _Changes]
    ) -> bool:
        if not isinstance(connector, SourceConnector):
            raise bad(f"{type(connector).__name__} is neither a source nor a sink")
        name, offsets = changes
        is_checked = await self._asked(lambda: connector.alter_offsets(settings, offsets))
        await leader.write("offset", [encode(name, partition, offset) for partition, offset in offsets])
        return is_checked

    async def _alter_sink(
        self, connector: SinkConnector, name: str, settings: dict[str, str],
        changes: Mapping[tuple[str, int], int | None],
    ) -> bool:  # fmt: skip
        is_checked = await self._asked(lambda: connector.alter_offsets(settings, changes))
        group = _group(name, settings)
        kept = {TopicPartition(*place): offset for place, offset in changes.items() if offset is not None}
        gone = [TopicPartition(*place) for place, offset in changes.items() if offset is None]
        try:
            if kept:
                await self._context.admin.alter_consumer_group_offsets(group, kept)
            if gone:
                known = await self._committed(group)
                await self._context.admin.delete_consumer_group_offsets(group, [each for each in gone if each in known])
        except OttlaError as error:
            raise RefusedError(500, f"Failed to alter consumer group offsets for connector {name}: {error}") from error
        return is_checked

    async def _reset_sink(self, connector: SinkConnector, name: str, settings: dict[str, str]) -> bool:
        group = _group(name, settings)
        known = dict.fromkeys(((place.topic, place.partition) for place in await self._committed(group)), None)
        is_checked = await self._asked(lambda: connector.alter_offsets(settings, known))
        try:
            await self._context.admin.delete_groups([group])
        except GroupIdNotFoundError:
            pass
        except OttlaError as error:
            raise RefusedError(500, f"Failed to reset consumer group offsets for connector {name}: {error}") from error
        return is_checked

    async def _committed(self, group: str) -> dict[TopicPartition, int]:
        try:
            found = (await self._context.admin.list_consumer_group_offsets({group: None}))[group]
        except GroupIdNotFoundError:
            return {}
        return {place: committed.offset for place, committed in found.items() if committed is not None}

    async def _asked(self, work: Any) -> bool:
        """The connector's answer to new offsets."""
        try:
            return bool(await self._context.call(work, "alter_offsets"))
        except RefusedError:
            raise
        except ConnectError as error:
            raise bad(str(error)) from error
        except Exception as error:
            raise RefusedError(500, f"alter_offsets failed: {type(error).__name__}: {error}") from error


def _still_at_work(name: str) -> RefusedError:
    return RefusedError(409, f"The tasks of connector {name} have not stopped yet; the request can safely be retried")


def _group(name: str, settings: Mapping[str, str]) -> str:
    return settings.get("consumer.override.group.id") or f"connect-{name}"


def _shown(offsets: list[dict[str, Any]]) -> Answer:
    return json_answer({"offsets": offsets})
