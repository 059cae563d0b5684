"""`ottla connect list`, `show`, `create`, `pause` …: talk to a worker by its REST API."""

import argparse
import base64
import http.client
import json
import ssl
import sys
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ottla.cli.connect.serve import connector_body
from ottla.cli.output.advice import CommandError
from ottla.cli.output.style import Style
from ottla.cli.output.table import table
from ottla.cli.output.unanswered import unanswered

_TIMEOUT_S: Final = 120
_CHANGES: Final = {
    "pause": ("PUT", "/pause", "is asked to pause"),
    "resume": ("PUT", "/resume", "is asked to resume"),
    "stop": ("PUT", "/stop", "is asked to stop"),
    "restart": ("POST", "/restart?includeTasks=true", "and its tasks are asked to restart"),
    "delete": ("DELETE", "", "is deleted; its offsets stay"),
}


class Absence(NamedTuple):
    """The words of an error for a service that does not answer."""

    service: str
    start: str
    """How to start one."""


_NO_WORKER: Final = Absence("Connect worker", "start one with `ottla connect`")


class Worker:
    """A worker at a URL, which may have a name and a password for its log-in."""

    def __init__(self, url: str, authorities: str | None = None, absence: Absence = _NO_WORKER) -> None:
        """`authorities` is a file of certificates in PEM, where the worker's is none that the machine knows."""
        self._url: Final = urlsplit(url if "://" in url else f"http://{url}")
        self._authorities: Final = authorities
        self._absence: Final = absence

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The decoded answer. Raises `CommandError` with the worker's own sentence for a refusal."""
        host, port = self._url.hostname or "localhost", self._url.port or 8083
        connection: http.client.HTTPConnection
        if self._url.scheme == "https":
            context = _context(self._authorities)
            connection = http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, self._headers())
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            reason = unanswered(error, port)
            raise CommandError(
                f"no {self._absence.service} answers at {self._url.scheme}://{host}:{port}: {reason}; "
                f"{self._absence.start}, or give the address of one with --url"
            ) from None
        finally:
            connection.close()
        if response.status == 401:
            raise CommandError(
                f"{host}:{port} wants a log-in that it knows: --url {self._url.scheme}://USER:PASSWORD@…"
            )
        found = _decoded(answer)
        if response.status >= 400:
            raise CommandError(str(found["message"]) if isinstance(found, dict) and "message" in found else str(found))
        return found

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._url.username is not None:
            user = f"{unquote(self._url.username)}:{unquote(self._url.password or '')}"
            headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
        return headers


def _context(authorities: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise CommandError(f"--cacert {authorities}: {error}; give a file of certificates in PEM") from None


def tell(options: argparse.Namespace) -> int:
    """Does what the action says; the exit code."""
    worker = Worker(options.url, options.cacert)
    if options.action == "list":
        return _list(worker, options)
    if options.action == "show":
        return _show(worker, options)
    if options.action == "status":
        return _status(worker, options)
    if options.action == "create":
        return _create(worker, options)
    method, path, words = _CHANGES[options.action]
    worker.ask(method, f"{_path(options.name)}{path}")
    print(f"Connector {options.name} {words}")
    return 0


def _list(worker: Worker, options: argparse.Namespace) -> int:
    found = worker.ask("GET", "/connectors?expand=info&expand=status")
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    rows = [
        (name, known["info"]["type"], known.get("status", {}).get("connector", {}).get("state"), _tasks(known))
        for name, known in sorted(found.items())
    ]
    print(table(["Name", "Type", "State", "Tasks"], rows, Style.of(sys.stdout)))
    return 0


def _tasks(known: dict[str, Any]) -> str:
    """How many tasks are in which state: `2 RUNNING, 1 FAILED`."""
    states = [task["state"] for task in known.get("status", {}).get("tasks", ())]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "none"


def _show(worker: Worker, options: argparse.Namespace) -> int:
    path = _path(options.name)
    found = {part: worker.ask("GET", f"{path}/{part}") for part in ("config", "status", "offsets", "topics")}
    found |= {"offsets": found["offsets"]["offsets"], "topics": found["topics"][options.name]["topics"]}
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


def _status(worker: Worker, options: argparse.Namespace) -> int:
    path = _path(options.name)
    found = {**worker.ask("GET", f"{path}/status"), "progress": worker.ask("GET", f"{path}/progress")}
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    figures = {part["id"]: part for part in found["progress"]["tasks"]}
    rows = []
    for task in found["tasks"]:
        known = figures.get(task["id"], {})
        trace = str(task.get("trace") or "").partition("\n")[0]
        cells = (known.get(name) for name in ("records", "lag", "failures"))
        rows.append((task["id"], task["state"], task["worker_id"], *cells, trace))
    print(f"{found['name']}: {found['type']}, {found['connector']['state']}")
    columns = ["Task", "State", "Worker", "Records", "Lag", "Failures", "Trace"]
    print(table(columns, rows, Style.of(sys.stdout)))
    return 0


def _create(worker: Worker, options: argparse.Namespace) -> int:
    body = connector_body(options.file)
    name = body.get("name")
    if not isinstance(name, str) or not name.strip():
        raise CommandError(f'{options.file}: the connector has no name; give it one: "name": "my-connector"')
    if name.strip() in worker.ask("GET", "/connectors"):
        made = worker.ask("PUT", f"{_path(name.strip())}/config", body["config"])
        print(f"Connector {made['name']} has new settings")
        return 0
    made = worker.ask("POST", "/connectors", body)
    print(f"Connector {made['name']} is created")
    return 0


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _decoded(answer: bytes) -> Any:
    if not answer:
        return None
    try:
        return json.loads(answer)
    except ValueError:
        return answer.decode(errors="replace")
