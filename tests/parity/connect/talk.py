"""Asks a Connect worker over HTTP and keeps the answers, without what differs from run to run.

A worker that is about to rebalance refuses with 409 (Kafka's also with 500): clients ask again, and so does this.
"""

import http.client
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

_PATIENCE_S: Final = 60
_MASKED: Final = {
    "worker_id": "WORKER",
    "kafka_cluster_id": "CLUSTER",
    "commit": "COMMIT",
    "last_modified": 0,
    "documentation": "",
}


class Talk:
    """One worker, and all that it was asked."""

    def __init__(self, port: int, paths: Mapping[str, str]) -> None:
        self.answers: Final[dict[str, Any]] = {}
        self._port: Final = port
        self._paths: Final = paths

    def ask(
        self, name: str, method: str, path: str, body: object = None, *, raw: bytes | None = None, **headers: str
    ) -> Any:
        """Asks and keeps the answer under `name`; the body of the answer."""
        assert name not in self.answers, f"{name} is asked twice"
        status, answer, sent = self._patiently(method, path, _data(body, raw), headers)
        kept: dict[str, Any] = {"request": f"{method} {path}", "status": status, "body": self._masked(answer)}
        if location := sent.get("location"):
            kept["location"] = re.sub(r"^https?://[^/]*", "", location)
        self.answers[name] = kept
        return answer

    def until(self, path: str, holds: Callable[[int, Any], bool]) -> None:
        """Waits for an answer that `holds` accepts; it is not kept."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            status, answer, _ = self._once("GET", path, None, {})
            if holds(status, answer):
                return
            assert time.monotonic() < deadline, f"GET {path}: {status} {answer}"
            time.sleep(0.1)

    def until_tasks(self, connector: str, count: int) -> None:
        """Waits until a connector has so many tasks, and a status for each."""
        self.until(f"/connectors/{connector}/tasks", lambda status, found: status == 200 and len(found) == count)
        self.until(
            f"/connectors/{connector}/status", lambda status, found: status == 200 and len(found["tasks"]) == count
        )

    def until_state(self, connector: str, state: str) -> None:
        """Waits until a connector, without its tasks, is in a state."""
        self.until(
            f"/connectors/{connector}/status",
            lambda status, found: status == 200 and found["connector"]["state"] == state,
        )

    def _patiently(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, Any, Mapping[str, str]]:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            found = self._once(method, path, data, headers)
            if not _is_momentary(found[0], found[1]) or time.monotonic() > deadline:
                return found
            time.sleep(0.2)

    def _once(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, Any, Mapping[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE_S)
        sent = {"Content-Type": "application/json"} if data is not None else {}
        sent |= {name.replace("_", "-"): each for name, each in headers.items()}
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        try:
            read = json.loads(answer) if answer else None
        except ValueError:
            read = answer.decode()
        return response.status, read, {name.lower(): value for name, value in response.getheaders()}

    def _masked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: _MASKED[name] if name in _MASKED and each is not None else self._masked(each)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self._masked(each) for each in value]
        if isinstance(value, str):
            for path, name in self._paths.items():
                value = value.replace(path, name)
            return value.split("\n\tat ")[0]
        return value


def _data(body: object, raw: bytes | None) -> bytes | None:
    return raw if raw is not None else None if body is None else json.dumps(body).encode()


def _is_momentary(status: int, answer: Any) -> bool:
    message = answer.get("message", "") if isinstance(answer, dict) else ""
    return status in (409, 500) and ("rebalance" in str(message) or "stale configuration" in str(message))
