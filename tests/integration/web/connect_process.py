"""`ottla connect` as a process of its own."""

from pathlib import Path
from typing import Any, Final

from tests.integration.web.service_process import ServiceProcess, eventually

_REPLICAS: Final = {
    f"{kind}_storage_replication_factor": "1" for kind in ("config", "offset", "status")
}  # fmt: skip


class ConnectProcess(ServiceProcess):
    """One worker; without a runner unless its options say so."""

    command = "connect"

    def __init__(
        self, directory: Path, bootstrap: str, *options: str, has_runner: bool = False, **settings: str
    ) -> None:
        more = () if has_runner else ("--no-runner",)
        super().__init__(directory, bootstrap, *more, *options, **_REPLICAS, **settings)

    def create(self, name: str, **settings: str) -> tuple[int, Any]:
        """Creates a connector; underscores stand for dots, and two of them for one."""
        return self.ask("POST", "/connectors", {"name": name, "config": dotted(settings)})

    def state(self, name: str) -> str:
        """The connector's state, empty while it has none."""
        status, answer = self.ask("GET", f"/connectors/{name}/status")
        return str(answer["connector"]["state"]) if status == 200 else ""

    def task_states(self, name: str) -> list[str]:
        """The states of its tasks."""
        status, answer = self.ask("GET", f"/connectors/{name}/status")
        return [task["state"] for task in answer["tasks"]] if status == 200 else []

    def wait_for(self, name: str, state: str) -> None:
        """Waits for the connector's state."""
        eventually(lambda: self.state(name) == state, self)

    def wait_for_tasks(self, name: str, *states: str) -> None:
        """Waits for the states of its tasks."""
        eventually(lambda: self.task_states(name) == list(states), self)


def dotted(settings: dict[str, str]) -> dict[str, str]:
    """Names with dots in place of underscores.

    >>> dotted({"connector_class": "FileStreamSource"})
    {'connector.class': 'FileStreamSource'}
    """
    return {name.replace("_", "."): value for name, value in settings.items()}
