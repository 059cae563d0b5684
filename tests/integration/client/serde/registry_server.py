"""A registry of a few dozen lines on a real socket: enough of Confluent's API for every serializer's requests.

It keeps texts as they come and gives Protobuf as `serialized` where that is asked for. It decides nothing.
"""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ottla.schema.guid import guid
from ottla.schema.parse import parse
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


@dataclass
class State:
    """What is registered, and what was asked."""

    by_id: dict[int, dict[str, Any]] = field(default_factory=dict)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    """Statuses that the next requests are answered with."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def register(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        schema = self._canonical(body)
        ids = [number for number, known in self.by_id.items() if known == schema]
        number = ids[0] if ids else len(self.by_id) + 1
        self.by_id[number] = schema
        versions = self.subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        return self.version(subject, versions.index(number) + 1)

    def lookup(self, subject: str, body: dict[str, Any]) -> dict[str, Any] | None:
        schema = self._canonical(body)
        versions = self.subjects.get(subject, [])
        found = [index for index, number in enumerate(versions, 1) if self.by_id[number] == schema]
        return self.version(subject, found[0]) if found else None

    def version(self, subject: str, version: int) -> dict[str, Any]:
        number = self.subjects[subject][version - 1]
        return {"subject": subject, "version": version, "id": number, **self.answer(number)}

    def answer(self, number: int, form: str = "") -> dict[str, Any]:
        schema = dict(self.by_id[number])
        references = [Reference(**one) for one in schema.get("references", [])]
        digest = guid(schema["schema"], references)
        if form == "serialized":
            schema["schema"] = self._parsed(schema).formatted(form)
        return {**schema, "guid": str(digest)}

    def _canonical(self, body: dict[str, Any]) -> dict[str, Any]:
        kept = {name: body[name] for name in ("schema", "schemaType", "references", "ruleSet") if body.get(name)}
        kept.setdefault("schemaType", "AVRO")
        if kept["schemaType"] == "PROTOBUF":
            kept["schema"] = self._parsed(kept).canonical_text
        else:
            document = json.loads(kept["schema"])
            if kept["schemaType"] == "AVRO" and isinstance(document, dict) and list(document) == ["type"]:
                document = document["type"]
            kept["schema"] = json.dumps(document, separators=(",", ":"))
        return kept

    def _parsed(self, schema: dict[str, Any]) -> Any:
        resolved: dict[str, str] = {}
        self._resolve(schema, resolved)
        references = [Reference(**one) for one in schema.get("references", [])]
        return parse(SchemaType(schema["schemaType"]), schema["schema"], references, resolved, strict=False)

    def _resolve(self, schema: dict[str, Any], resolved: dict[str, str]) -> None:
        for one in schema.get("references", []):
            target = self.by_id[self.subjects[one["subject"]][one["version"] - 1]]
            resolved[one["name"]] = target["schema"]
            self._resolve(target, resolved)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    state: State

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _serve(self, body: dict[str, Any]) -> None:
        with self.state.lock:
            self.state.requests.append((self.command, self.path, dict(self.headers)))
            if self.state.failures:
                self._answer(self.state.failures.pop(0), {"error_code": 50002, "message": "busy"})
                return
            self._answer(*self._result(body))

    def _result(self, body: dict[str, Any]) -> tuple[int, object]:
        url = urlsplit(self.path)
        form = parse_qs(url.query).get("format", [""])[0]
        state = self.state
        match [self.command, *map(unquote, url.path.strip("/").split("/"))]:
            case ["POST", "subjects", subject, "versions"]:
                return 200, state.register(subject, body)
            case ["POST", "subjects", subject]:
                found = state.lookup(subject, body)
                return (200, found) if found else (404, {"error_code": 40403, "message": "Schema not found"})
            case ["GET", "schemas", "ids", number] if int(number) in state.by_id:
                return 200, state.answer(int(number), form)
            case ["GET", "schemas", "guids", wanted]:
                found = next(
                    (one for one in (state.answer(n, form) for n in state.by_id) if one["guid"] == wanted), None
                )
                return (200, found) if found else (404, {"error_code": 40403, "message": "Schema not found"})
            case ["GET", "subjects", subject, "versions", version] if subject in state.subjects:
                number = len(state.subjects[subject]) if version in ("latest", "-1") else int(version)
                answer = state.version(subject, number)
                return 200, {**answer, **state.answer(answer["id"], form)}
            case ["GET", "subjects"]:
                return 200, sorted(state.subjects)
        return 404, {"error_code": 40401, "message": f"{url.path} not found."}

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def registry_server(context: ssl.SSLContext | None = None) -> Iterator[tuple[str, State]]:
    """A running registry's address, and what it holds; it speaks TLS with a context."""
    handler = type("Handler", (_Handler,), {"state": State()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = False  # closing waits for the connections, which the clients closed before
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_port}", handler.state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
