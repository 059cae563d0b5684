"""The refusals of requests: an HTTP status and a sentence, both Kafka Connect's."""

from typing import Final

from ottla.connect.errors import ConnectError

STALE: Final = (
    "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)"
)


class RefusedError(ConnectError):
    """A request that is not done; `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def bad(message: str) -> RefusedError:
    """The request makes no sense."""
    return RefusedError(400, message)


def absent(name: str) -> RefusedError:
    """There is no such connector, for those who ask about it."""
    return RefusedError(404, f"Connector {name} not found")


def unknown(name: str) -> RefusedError:
    """There is no such connector, for those who want it paused."""
    return RefusedError(404, f"Unknown connector {name}")


def unknown_to_restart(name: str) -> RefusedError:
    """There is no such connector, for those who want it restarted."""
    return RefusedError(404, f"Unknown connector: {name}")


def not_stopped(name: str) -> RefusedError:
    """Offsets belong to the tasks as long as there may be any."""
    return bad(
        "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
        f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
    )
