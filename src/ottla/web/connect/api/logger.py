"""Loggers and their levels, of this worker or of all. A level of the cluster is a record that every worker acts on."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.base.log import LEVELS, ROOT, LogLevelError, levels, set_level
from ottla.connect.worker.config_record import logger_level
from ottla.connect.worker.refusal import RefusedError, bad
from ottla.connect.worker.request import read_config
from ottla.web.connect.api.edge import NO_BODY, route
from ottla.web.connect.context import ConnectContext, body_of
from ottla.web.connect.lead.leader import Leader
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_log: Final = logging.getLogger(__name__)
_LOGGERS_MAX: Final = 1_000


class LoggerApi:
    """`/admin/loggers`."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context
        self._changed_ms: Final[dict[str, int]] = {}
        self._taken: Final[dict[str, str]] = {}

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        one = "/admin/loggers/{logger}"
        return [
            route("GET", "/admin/loggers", self._list),
            route("GET", one, self._show),
            route("PUT", one, self._set),
        ]

    def take(self, wanted: Mapping[str, str]) -> None:
        """Acts on the levels of the cluster that are new."""
        for name, level in wanted.items():
            if self._taken.get(name) != level:
                self._taken[name] = level
                try:
                    self._change(name, level)
                except (LogLevelError, RefusedError):
                    _log.warning("The logger %s can't be set to %s", name, level)

    async def _list(self, _: Request) -> Answer:
        return json_answer({name: self._entry(name, level) for name, level in levels().items()})

    async def _show(self, request: Request) -> Answer:
        name = request.parameters["logger"]
        level = levels().get(name)
        if level is None:
            raise RefusedError(404, f"Logger {name} not found.")
        return json_answer(self._entry(name, level))

    async def _set(self, request: Request) -> Answer:
        name = request.parameters["logger"]
        level = read_config(await body_of(request)).get("level")
        if level is None:
            raise bad("Desired 'level' parameter was not specified in request.")
        wanted = level.upper()
        if wanted not in LEVELS:
            raise RefusedError(404, f"invalid log level '{level}'.")
        scope = request.query.get("scope", "worker").lower()
        if scope == "cluster":
            return await self._set_everywhere(request, name, wanted)
        if scope != "worker":
            _log.warning("Ignoring unknown scope %r of a logger's level", scope)
        self._change(name, wanted)
        return json_answer(sorted(each for each in levels() if each == name or each.startswith(f"{name}.")))

    async def _set_everywhere(self, request: Request, name: str, level: str) -> Answer:
        async def act(leader: Leader) -> Answer:
            await leader.write("config", [logger_level(name, level)])
            return NO_BODY

        return await self._context.change(request, act)

    def _change(self, name: str, level: str) -> None:
        if name != ROOT and name not in levels():
            # Loggers are never given back, so strangers must not make them without end.
            if len(self._changed_ms) >= _LOGGERS_MAX:
                raise bad(f"There are {_LOGGERS_MAX} loggers with a level of their own already")
            logging.getLogger(name)
        set_level(name, level)
        self._changed_ms[name] = time.time_ns() // 1_000_000

    def _entry(self, name: str, level: str) -> dict[str, Any]:
        return {"level": level, "last_modified": self._changed_ms.get(name)}
