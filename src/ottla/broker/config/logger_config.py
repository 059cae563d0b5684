"""Levels of this broker's loggers as configs of a resource (BROKER_LOGGER), set and reset at run time.

They are the process's own: not stored, and gone with it. Either all changes of a request are made or none.
"""

import logging
from typing import Final

from ottla.base.log import LEVELS, ROOT, is_logger, reset_level, set_level
from ottla.broker.config.node_resource import node_id_of
from ottla.protocol.errors import InvalidConfigError, InvalidRequestError
from ottla.protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource

_log = logging.getLogger(__name__)

_SET: Final = 0
_DELETE: Final = 1
_REFUSED: Final = {2: "APPEND", 3: "SUBTRACT"}


def check_loggers(node_id: int, resource: AlterConfigsResource) -> None:
    """Raises what is wrong with changes to loggers, if anything is."""
    wanted = node_id_of(resource.resource_name, called="Node id")
    if wanted != node_id:
        raise InvalidRequestError(f"Unexpected node id. Expected {node_id}, but received {wanted}")
    for change in resource.configs:
        _check(change)


def alter_loggers(resource: AlterConfigsResource) -> None:
    """Makes changes that were checked."""
    for change in resource.configs:
        if change.config_operation == _SET:
            set_level(change.name, change.value or "")
            _log.warning("Updated the log level of %s to %s", change.name, change.value)
        else:
            reset_level(change.name)
            _log.warning("Unset the log level of %s", change.name)


def _check(change: AlterableConfig) -> None:
    operation = change.config_operation
    if operation in _REFUSED:
        raise InvalidRequestError(f"{_REFUSED[operation]} operation is not allowed for the BROKER_LOGGER resource")
    if operation not in (_SET, _DELETE):
        raise InvalidRequestError(f"Unknown operation type {operation} is not allowed for the BROKER_LOGGER resource")
    if not is_logger(change.name):
        raise InvalidConfigError(f"Logger {change.name} does not exist!")
    if operation == _DELETE and change.name == ROOT:
        raise InvalidRequestError("Removing the log level of the root logger is not allowed")
    if operation == _SET and change.value not in LEVELS:
        raise InvalidConfigError(
            f"Cannot set the log level of {change.name} to {change.value} as it is not a supported log level. Valid "
            f"log levels are {', '.join(sorted(LEVELS))}"
        )
