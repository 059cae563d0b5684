"""Connectors: list, create, show, configure, delete; their tasks, statuses and topics."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from ottla.connect.errors import InvalidConfigError
from ottla.connect.mask import Mask
from ottla.connect.worker import decision, view
from ottla.connect.worker.config_record import Properties
from ottla.connect.worker.config_state import raw
from ottla.connect.worker.definition_view import ConfigInfo
from ottla.connect.worker.refusal import STALE, RefusedError, absent, bad
from ottla.connect.worker.request import check_name, merged, named, read_config, read_create
from ottla.connect.worker.status_record import forgotten_topic
from ottla.connect.worker.validation import check_valid, validate
from ottla.web.connect.api.edge import ACCEPTED, NO_BODY, route, task_number
from ottla.web.connect.api.secret import unresolved
from ottla.web.connect.context import ConnectContext, body_of
from ottla.web.connect.lead.leader import Leader
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_log: Final = logging.getLogger(__name__)


class ConnectorApi:
    """Everything below `/connectors` but changes of state and offsets."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        one = "/connectors/{connector}"
        return [
            route("GET", "/connectors", self._list),
            route("POST", "/connectors", self._create),
            route("GET", one, self._show),
            route("DELETE", one, self._delete),
            route("GET", f"{one}/config", self._config),
            route("PUT", f"{one}/config", self._put),
            route("PATCH", f"{one}/config", self._patch),
            route("GET", f"{one}/status", self._status),
            route("GET", f"{one}/progress", self._progress),
            route("GET", f"{one}/tasks", self._tasks),
            route("GET", f"{one}/tasks/{{task}}/status", self._task_status),
            route("GET", f"{one}/topics", self._topics),
            route("PUT", f"{one}/topics/reset", self._reset_topics),
        ]

    async def _list(self, request: Request) -> Answer:
        names = self._context.tables.configs.connectors
        wanted = request.values("expand")
        if not wanted:
            return json_answer(names)
        return json_answer({name: self._expanded(name, wanted) for name in names})

    def _expanded(self, name: str, wanted: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in wanted:
            try:
                if each == "status":
                    found["status"] = self._status_of(name)
                elif each == "info":
                    found["info"] = self._info(name)
                else:
                    _log.info("Ignoring unknown expansion type %s", each)
            except RefusedError:
                continue  # it has no status yet
        return found

    async def _create(self, request: Request) -> Answer:
        asked = read_create(await body_of(request))
        check_name(asked.name)
        await self._check(asked.config)

        async def act(leader: Leader) -> Answer:
            records = decision.create(leader.tables.configs, asked.name, asked.config, asked.initial_state)
            return await self._created(leader, asked.name, records)

        return _located(await self._context.change(request, act), request, asked.name)

    async def _put(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        check_name(name)
        config = named(read_config(await body_of(request)), name)
        await self._check(config)

        async def act(leader: Leader) -> Answer:
            if name not in leader.tables.configs:
                records = decision.create(leader.tables.configs, name, config, None)
                return await self._created(leader, name, records)
            await leader.write("config", decision.replace(name, config))
            return json_answer(self._info(name))

        return _located(await self._context.change(request, act), request, name)

    async def _patch(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        patch = read_config(await body_of(request))
        known = self._context.tables.configs.config(name)
        if known is None:
            raise absent(name)
        config = merged(known, patch)
        await self._check(config)

        async def act(leader: Leader) -> Answer:
            if leader.tables.configs.config(name) != known:
                raise RefusedError(409, STALE)
            await leader.write("config", decision.replace(name, config))
            return json_answer(self._info(name))

        return await self._context.change(request, act)

    async def _created(self, leader: Leader, name: str, records: list[Any]) -> Answer:
        await leader.write("config", records)
        return json_answer({**self._info(name), "tasks": []}, 201)

    async def _delete(self, request: Request) -> Answer:
        name = request.parameters["connector"]

        async def act(leader: Leader) -> Answer:
            topics = leader.tables.statuses.topics(name)
            await leader.write("config", decision.delete(leader.tables.configs, name))
            await leader.write("status", [forgotten_topic(topic, name) for topic in topics])
            return NO_BODY

        return await self._context.change(request, act)

    async def _show(self, request: Request) -> Answer:
        return json_answer(self._info(request.parameters["connector"]))

    async def _config(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        config = self._context.tables.configs.config(name)
        if config is None:
            raise absent(name)
        return json_answer(dict(config))

    async def _status(self, request: Request) -> Answer:
        return json_answer(self._status_of(request.parameters["connector"]))

    async def _progress(self, request: Request) -> Answer:
        """Ours alone: Kafka has no figures in its API."""
        name = request.parameters["connector"]
        if name not in self._context.tables.configs:
            raise absent(name)
        return json_answer(view.progress(self._context.leader.pipeline(name)))

    async def _tasks(self, request: Request) -> Answer:
        return json_answer(view.tasks(self._context.tables.configs, request.parameters["connector"]))

    async def _task_status(self, request: Request) -> Answer:
        table = self._context.tables.statuses
        return json_answer(view.task_status(table, request.parameters["connector"], task_number(request)))

    async def _topics(self, request: Request) -> Answer:
        self._check_tracking("topic.tracking.enable", "Topic tracking is disabled.")
        name = request.parameters["connector"]
        return json_answer({name: {"topics": self._context.tables.statuses.topics(name)}})

    async def _reset_topics(self, request: Request) -> Answer:
        self._check_tracking("topic.tracking.enable", "Topic tracking is disabled.")
        self._check_tracking("topic.tracking.allow.reset", "Topic tracking reset is disabled.")
        name = request.parameters["connector"]

        async def act(leader: Leader) -> Answer:
            topics = leader.tables.statuses.topics(name)
            await leader.write("status", [forgotten_topic(topic, name) for topic in topics])
            return ACCEPTED

        return await self._context.change(request, act)

    def _info(self, name: str) -> dict[str, Any]:
        return view.info(self._context.tables.configs, name, self._context.plugins)

    def _status_of(self, name: str) -> dict[str, Any]:
        tables = self._context.tables
        return view.status(tables.configs, tables.statuses, name, self._context.plugins)

    def _check_tracking(self, setting: str, refusal: str) -> None:
        if not self._context.config.settings.boolean(setting):
            raise RefusedError(403, refusal)

    async def _check(self, config: Properties) -> None:
        check_valid(await validated(self._context, config))


async def validated(context: ConnectContext, config: Properties) -> ConfigInfo:
    """A configuration as it is with its placeholders replaced; what is shown of it has them in place again."""
    try:
        given: Mapping[str, str | None] = {**config, **context.config.providers.resolve(raw(config))}
    except InvalidConfigError as error:
        raise bad(str(error)) from None
    try:
        info = await context.call(
            lambda: validate(given, context.facts, context.plugins), "The validation of the connector"
        )
    except RefusedError as error:
        # Written by the connector, which was given the values.
        raise RefusedError(error.status, Mask.of([(raw(config), raw(given))]).text(error.message)) from None
    return unresolved(info, config, given)


def _located(answer: Answer, request: Request, name: str) -> Answer:
    if answer.status != 201:
        return answer
    headers = {**answer.headers, "location": f"{request.base_url}/connectors/{quote(name, safe='')}"}
    return Answer(answer.status, answer.body, answer.content_type, headers)
