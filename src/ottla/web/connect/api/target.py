"""Changes of a connector's wanted state: pause, resume, stop, restart."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from ottla.connect.worker import decision, view
from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.pipeline import restarted, with_restarts
from ottla.connect.worker.refusal import STALE, RefusedError
from ottla.connect.worker.status_record import State
from ottla.web.connect.api.edge import ACCEPTED, NO_BODY, route, task_number
from ottla.web.connect.context import ConnectContext
from ottla.web.connect.lead.leader import Leader
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route


class TargetApi:
    """Changes of state."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        one = "/connectors/{connector}"
        return [
            route("PUT", f"{one}/pause", self._wanting(TargetState.PAUSED, ACCEPTED)),
            route("PUT", f"{one}/resume", self._wanting(TargetState.STARTED, ACCEPTED)),
            route("PUT", f"{one}/stop", self._wanting(TargetState.STOPPED, NO_BODY)),
            route("POST", f"{one}/restart", self._restart),
            route("POST", f"{one}/tasks/{{task}}/restart", self._restart_task),
        ]

    def _wanting(self, target: TargetState, answer: Answer) -> Callable[[Request], Awaitable[Answer]]:
        async def handle(request: Request) -> Answer:
            name = request.parameters["connector"]

            async def act(leader: Leader) -> Answer:
                await leader.write("config", decision.want(leader.tables.configs, name, target))
                return answer

            return await self._context.change(request, act)

        return handle

    async def _restart(self, request: Request) -> Answer:
        name = request.parameters["connector"]
        includes_tasks, only_failed = request.flag("includeTasks"), request.flag("onlyFailed")

        async def act(leader: Leader) -> Answer:
            records = decision.restart(
                leader.tables.configs, name, includes_tasks=includes_tasks, only_failed=only_failed
            )
            await leader.write("config", records)
            if not includes_tasks and not only_failed:
                await leader.forget(name)
                return NO_BODY
            return await self._restart_together(leader, name, includes_tasks=includes_tasks, only_failed=only_failed)

        return await self._context.change(request, act)

    async def _restart_together(self, leader: Leader, name: str, *, includes_tasks: bool, only_failed: bool) -> Answer:
        """Restarts the connector and its tasks; the answer says which ones."""
        tables = leader.tables
        shown = view.status(tables.configs, tables.statuses, name, self._context.plugins)

        def is_meant(part: dict[str, Any]) -> bool:
            return not only_failed or part["state"] == State.FAILED

        tasks = [task for task in shown["tasks"] if includes_tasks and is_meant(task)]
        if is_meant(shown["connector"]):
            shown["connector"]["state"] = State.RESTARTING.value
            await leader.forget(name)
        for task in tasks:
            task["state"] = State.RESTARTING.value
        if tasks:
            await self._restart_tasks(leader, name, [task["id"] for task in tasks])
        return json_answer(shown, 202)

    async def _restart_task(self, request: Request) -> Answer:
        name, task = request.parameters["connector"], task_number(request)

        async def act(leader: Leader) -> Answer:
            decision.check_task(leader.tables.configs, name, task)
            await self._restart_tasks(leader, name, [task])
            return NO_BODY

        return await self._context.change(request, act)

    @staticmethod
    async def _restart_tasks(leader: Leader, name: str, tasks: Sequence[int]) -> None:
        spec = leader.spec(name)
        if spec is None:
            raise RefusedError(409, STALE)
        is_running = (leader.pipeline(name) or {}).get("state") == "running"
        # A query that is not there, or was given up, is started for all of its tasks.
        await leader.write_spec(name, with_restarts(spec, tasks) if is_running else restarted(spec))
