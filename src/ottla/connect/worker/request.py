"""The bodies that create and change connectors. Numbers and booleans in a configuration become text, as in Kafka.

Kafka answers 500 to bodies of another shape; ours say what is wrong with 400.
"""

import json
from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.worker.config_record import TargetState
from ottla.connect.worker.refusal import bad

_STATES: Final = {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED, "STOPPED": TargetState.STOPPED}
_FIELDS: Final = ("name", "config", "initial_state")


@frozen
class CreateRequest:
    """`POST /connectors`."""

    name: str
    config: Mapping[str, str | None]
    initial_state: TargetState | None = None


def read_create(body: object) -> CreateRequest:
    """The connector to create; its name is stripped of blanks, and part of its configuration.

    >>> read_create({"name": " a ", "config": {"tasks.max": 2}, "initial_state": "paused"})
    CreateRequest(name='a', config={'tasks.max': '2', 'name': 'a'}, initial_state=<TargetState.PAUSED: 'PAUSED'>)
    """
    if not isinstance(body, dict):
        raise bad('The body must be a JSON object with "name" and "config"')
    unknown = body.keys() - set(_FIELDS)
    if unknown:
        raise bad(f"The body has unknown fields: {', '.join(sorted(unknown))}; there are {', '.join(_FIELDS)}")
    name = body.get("name")
    if name is not None and not isinstance(name, str):
        raise bad('"name" must be a string')
    if "config" not in body or body["config"] is None:
        raise bad('"config" is missing')
    trimmed = (name or "").strip()
    return CreateRequest(trimmed, named(read_config(body["config"]), trimmed), _state(body.get("initial_state")))


def read_config(body: object) -> dict[str, str | None]:
    """A configuration: text, and null where a setting is to be null or to go.

    >>> read_config({"a": 1, "b": True, "c": None, "d": 1.5})
    {'a': '1', 'b': 'true', 'c': None, 'd': '1.5'}
    """
    if not isinstance(body, dict):
        raise bad("A configuration must be a JSON object")
    for name, value in body.items():
        if isinstance(value, (dict, list)):
            raise bad(f'The value of "{name}" must be a string, a number, a boolean or null')
    return {name: _text(value) for name, value in body.items()}


def named(config: Mapping[str, str | None], name: str) -> dict[str, str | None]:
    """A configuration with its connector's name; another name in it is refused."""
    given = config.get("name")
    if given is not None and given != name:
        raise bad(f"Connector name configuration ({given}) doesn't match connector name in the URL ({name})")
    return {**config, "name": name}


def merged(config: Mapping[str, str | None], patch: Mapping[str, str | None]) -> dict[str, str | None]:
    """A configuration after a patch: null removes a setting."""
    both = {**config, **patch}
    return {name: value for name, value in both.items() if patch.get(name, "") is not None}


def check_name(name: str) -> None:
    """Refuses a name that no path can have: Kafka takes it and can then never address the connector."""
    if "/" in name:
        raise bad(f"Invalid value {name} for configuration name: a slash can't be part of a path")


def _state(given: object) -> TargetState | None:
    if given is None:
        return None
    state = _STATES.get(given.upper()) if isinstance(given, str) else None
    if state is None:
        raise bad(f'"initial_state" must be one of {", ".join(_STATES)}')
    return state


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
