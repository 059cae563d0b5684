"""Settings of small nodes for tests."""

from ottla.broker.config.server_config import ServerConfig

COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}
BROKER = {
    "process.roles": "broker",
    "node.id": "2",
    "listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@localhost:9093",
}
CONTROLLER = {
    "process.roles": "controller",
    "node.id": "1",
    "listeners": "CONTROLLER://:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@c1:9093,2@c2:9093",
}


def config_of(base: dict[str, str] | None = None, /, **changes: str | None) -> ServerConfig:
    """A node's settings: `base` (a combined node's), with changes, underscores for dots; None takes one away."""
    given = dict(COMBINED if base is None else base)
    for name, value in changes.items():
        given.pop(name.replace("_", "."), None)
        if value is not None:
            given[name.replace("_", ".")] = value
    return ServerConfig(given)
