"""Threads that register schemas without pause, at whichever instance answers, and remember what was acknowledged."""

import http.client
import json
import threading
import time
from collections import defaultdict
from collections.abc import Sequence

from tests.integration.web.registry_process import RegistryProcess


def record_schema(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": "x", "type": "string"}]})


class Registering:
    """`count` threads with schemas of their own; a refused or lost request is sent again until it is answered."""

    def __init__(self, instances: Sequence[RegistryProcess], count: int) -> None:
        self.acknowledged: dict[str, tuple[str, int, int]] = {}
        """Subject and name, id and version of what was answered with 200, by the schema's name."""
        self.unexpected: list[tuple[int, object]] = []
        self._instances = instances
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(index,)) for index in range(count)]

    def __enter__(self) -> "Registering":
        # Their names differ, so that they are incompatible with each other.
        assert self._instances[0].ask("PUT", "/config", {"compatibility": "none"})[0] == 200
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, more: int, seconds: float = 60) -> float:
        """Waits until so many more are acknowledged; how long that took."""
        began, wanted = time.monotonic(), len(self.acknowledged) + more
        while len(self.acknowledged) < wanted:
            assert time.monotonic() - began < seconds, [instance.output() for instance in self._instances]
            time.sleep(0.02)
        return time.monotonic() - began

    def check(self, survivor: RegistryProcess) -> None:
        """No id stands for two schemas, and the survivor knows all that was acknowledged."""
        assert not self.unexpected, self.unexpected
        by_id = defaultdict(set)
        for name, (_, number, _) in self.acknowledged.items():
            by_id[number].add(name)
        assert not {number: names for number, names in by_id.items() if len(names) > 1}
        for name, (subject, number, version) in self.acknowledged.items():
            status, found = survivor.ask("GET", f"/subjects/{subject}/versions/{version}")
            assert (status, found.get("id")) == (200, number), (name, found)
            assert json.loads(found["schema"])["name"] == name

    def _run(self, thread: int) -> None:
        index = 0
        while not self._stop.is_set():
            name = f"R{thread}x{index}"
            subject = f"load-{thread}-{index % 20}"
            if self._register(thread + index, subject, name):
                index += 1

    def _register(self, turn: int, subject: str, name: str) -> bool:
        instance = self._instances[turn % len(self._instances)]
        body = {"schema": record_schema(name)}
        for attempt in range(2000):
            if self._stop.is_set():
                return False
            try:
                status, answer = instance.ask("POST", f"/subjects/{subject}/versions", body)
            except (OSError, http.client.HTTPException):
                status, answer = 0, None
            if status == 200:
                self.acknowledged[name] = (subject, answer["id"], answer["version"])
                return True
            if status not in (0, 500):
                self.unexpected.append((status, answer))
                return False
            instance = self._instances[(turn + attempt) % len(self._instances)]
            self._stop.wait(0.05)
        return False
