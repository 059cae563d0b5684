"""Whether the addresses of a call can be those of servers at all: spelled as such, and one of them with a known name.

Kafka's tools refuse others at once. A server that is only not there yet is another matter: they wait for it.
"""

import socket

from ottla.base.config import ConfigError
from ottla.cli.kafka.argument.option import OptionValueError
from ottla.client.cluster.address import parse_address


class UnusableServersError(OptionValueError):
    """No server can ever be reached there. Kafka only says that no client was made; the second line says why."""

    java_class = "org.apache.kafka.common.KafkaException"

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(f"{message}\nCaused by: org.apache.kafka.common.config.ConfigException: {reason}")
        self.reason = reason


def check_servers(servers: str, message: str) -> None:
    """Raises `UnusableServersError` with a message unless somebody may be reached at `host:port,host:port`.

    >>> check_servers("127.0.0.1:9092", "Failed to construct kafka consumer")
    >>> check_servers("localhost", "Failed to construct kafka consumer")
    Traceback (most recent call last):
    ottla.cli.kafka.argument.server_address.UnusableServersError: Failed to construct kafka consumer
    Caused by: org.apache.kafka.common.config.ConfigException: Invalid url in bootstrap.servers: localhost \
(Expected host:port, for example localhost:9092)
    """
    try:
        addresses = [parse_address("bootstrap.servers", text.strip()) for text in servers.split(",") if text.strip()]
    except ConfigError as error:
        raise UnusableServersError(message, f"Invalid url in {error.key}: {error.value} ({error.reason})") from None
    failures = []
    for address in addresses:
        try:
            socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as error:
            failures.append(f" ({address.host}: {error.strerror})")
        else:
            return
    reason = f"No resolvable bootstrap urls given in bootstrap.servers{''.join(failures)}"
    raise UnusableServersError(message, reason)
