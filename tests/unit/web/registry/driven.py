"""A registry without a topic: decisions are made on a state, and their records turn it into the next one."""

import json
from typing import Any, TypeVar

from ottla.web.registry.decision.configure import parse_config_request, set_config, set_mode
from ottla.web.registry.decision.delete import delete_subject, delete_version
from ottla.web.registry.decision.outcome import Outcome
from ottla.web.registry.decision.register import register
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.schema_request import SchemaRequest, parse_schema_request
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.replay import apply
from ottla.web.registry.state.stored_schema import StoredSchema

T = TypeVar("T")


def avro(*fields: str, name: str = "R", **attributes: object) -> str:
    """A record with string fields; one that ends in `?` is optional."""
    made: list[dict[str, object]] = []
    for each in fields:
        optional: dict[str, object] = {"name": each[:-1], "type": ["null", "string"], "default": None}
        made.append(optional if each.endswith("?") else {"name": each, "type": "string"})
    return json.dumps({"type": "record", "name": name, "fields": made, **attributes})


class Driven:
    """A state, the log that made it, and short names for what is done to it."""

    def __init__(self) -> None:
        self.state = RegistryState()
        self.log: list[tuple[bytes, bytes | None]] = []
        self.rule = RegistryRule()

    def take(self, outcome: Outcome[T]) -> T:
        for key, value in outcome.records:
            self.log.append((key, value))
            self.state = apply(self.state, key, value)
        return outcome.answer

    def register(self, subject: str, text: str = "", *, normalize: bool = False, **fields: Any) -> StoredSchema:
        request = parse_schema_request({"schema": text, **fields})
        return self.take(register(self.state, self.rule, subject, request, normalize=normalize))

    def delete(self, subject: str, *, permanent: bool = False) -> list[int]:
        return self.take(delete_subject(self.state, subject, permanent=permanent))

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        return self.take(delete_version(self.state, subject, version, permanent=permanent))

    def configure(self, subject: str | None, **fields: Any) -> None:
        self.take(set_config(self.state, subject, parse_config_request(fields)))

    def set_mode(self, subject: str | None, mode: Mode | None, *, force: bool = False) -> None:
        self.take(set_mode(self.state, self.rule, subject, mode, force=force))

    def replayed(self) -> RegistryState:
        """The state that a reader of the log comes to."""
        state = RegistryState()
        for key, value in self.log:
            state = apply(state, key, value)
        return state

    def versions(self, subject: str) -> list[int]:
        return [stored.version for stored in self.state.subject(subject).live()]


def request(text: str, **fields: Any) -> SchemaRequest:
    return parse_schema_request({"schema": text, **fields})
