"""A node's settings as its parts read them.

`ServerConfig` is made of `name → text`, checked as a whole, and never changes: what may change while the node runs is
`dynamic_config`'s business, which makes a new one. Reading files is `loading`'s.

Invariant: a `ServerConfig` that exists satisfies every key's own check and the rules of `rule`.
"""

from collections.abc import Mapping

from ottla.broker.config.rule import check_together
from ottla.broker.config.server_settings import ServerSettings


class ServerConfig(ServerSettings):
    """The settings of one node, which go together.

    >>> config = ServerConfig({"process.roles": "broker,controller", "node.id": "1",
    ...                        "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    ...                        "controller.listener.names": "CONTROLLER",
    ...                        "controller.quorum.bootstrap.servers": "localhost:9093"})
    >>> config["num.partitions"], config.integer("broker.id"), config.broker_listeners
    (1, 1, (ListenerAddress(name='PLAINTEXT', host='', port=9092),))
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        """`given` is name → text. Raises `ConfigError` for what is missing, wrong, or does not go together."""
        super().__init__(given)
        check_together(self)
