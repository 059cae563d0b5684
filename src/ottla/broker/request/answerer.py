"""The module that answers a call: one of its own, or one that passes requests on.

The functions are found when a route is made, at the first request of its kind, since importing all handlers would slow
every start.
"""

import importlib
from collections.abc import Callable
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any, Final, TypeAlias

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response

Handle: TypeAlias = Callable[[Any, Any, Any], Response | None]
"""The type of a handler's `handle`: parts, context, request; None if it answers later."""

Prepared: TypeAlias = Callable[[Any, Any, memoryview], bytes | None]
"""The type of a handler's `prepared`: parts, context, the request's body; a response's body if there is one."""


class Answerer(Enum):
    """The ways of answering a request."""

    HANDLER = "a handler module"
    """`handle` of the module named like the call, with `prepared` and `lane` where it has them."""
    DATA_HANDLER = "a handler module of the room data"
    METADATA_HANDLER = "a handler module of the room metadata"
    GROUP_HANDLER = "a handler module of the room group"
    TRANSACTION_HANDLER = "a handler module of the room transaction"
    CONFIG_HANDLER = "a handler module of the room config"
    SECURITY_HANDLER = "a handler module of the room security"
    FORWARDED = "forwarded to the active controller"
    """The broker checks nothing, since the controller sees the state that counts (KIP-590)."""
    CONTROLLER = "an operation of the controller"
    """`ottla.metadata.controller.operation`; the answer leaves once what it rests on is committed."""
    QUORUM = "the quorum itself"
    GROUPS = "the group coordinator"
    """By its method named like the call; answered when what it led to is committed."""
    TRANSACTIONS = "the transaction coordinator"


HANDLER: Final = Answerer.HANDLER
DATA_HANDLER: Final = Answerer.DATA_HANDLER
METADATA_HANDLER: Final = Answerer.METADATA_HANDLER
GROUP_HANDLER: Final = Answerer.GROUP_HANDLER
TRANSACTION_HANDLER: Final = Answerer.TRANSACTION_HANDLER
CONFIG_HANDLER: Final = Answerer.CONFIG_HANDLER
SECURITY_HANDLER: Final = Answerer.SECURITY_HANDLER
FORWARDED: Final = Answerer.FORWARDED
CONTROLLER: Final = Answerer.CONTROLLER
QUORUM: Final = Answerer.QUORUM
GROUPS: Final = Answerer.GROUPS
TRANSACTIONS: Final = Answerer.TRANSACTIONS

Handler: TypeAlias = ModuleType | SimpleNamespace
"""Something with `handle`, and perhaps `prepared` and `lane`."""

ROOMS: Final = {
    HANDLER: "",
    DATA_HANDLER: ".data",
    METADATA_HANDLER: ".metadata",
    GROUP_HANDLER: ".group",
    TRANSACTION_HANDLER: ".transaction",
    CONFIG_HANDLER: ".config",
    SECURITY_HANDLER: ".security",
}
"""Where the module of a call is, below the package of a listener's handlers."""

_PASSED_ON: Final = {
    FORWARDED: ("ottla.broker.handlers.forwarding", "forward"),
    CONTROLLER: ("ottla.broker.controller_handlers.submission", "submit"),
    QUORUM: ("ottla.broker.controller_handlers.submission", "ask_quorum"),
}


def find_handler(package: str, api: ApiKey, answerer: Answerer) -> Handler:
    """The handler of a call; `package` has the modules of calls that have one."""
    name = api.name.lower()
    room = ROOMS.get(answerer)
    if room is not None:
        return importlib.import_module(f"{package}{room}.{name}")
    if answerer is GROUPS:
        return SimpleNamespace(handle=_ask_groups(name))
    if answerer is TRANSACTIONS:
        return SimpleNamespace(handle=_ask_transactions(name))
    module, function = _PASSED_ON[answerer]
    return SimpleNamespace(handle=getattr(importlib.import_module(module), function))


def _ask_groups(method: str) -> Handle:
    def handle(parts: Any, context: Any, request: Any) -> None:
        coordinators = parts.coordinators
        coordinators.ask_groups(getattr(coordinators.groups, method), context, request)

    return handle


def _ask_transactions(method: str) -> Handle:
    def handle(parts: Any, context: Any, request: Any) -> None:
        coordinators = parts.coordinators
        coordinators.ask_transactions(getattr(coordinators.transactions, method), context, request)

    return handle
