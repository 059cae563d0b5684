"""The settings of connections: client id, sockets, TLS, SASL."""

from ottla.base.version import VERSION
from ottla.client.cluster.connecting import ConnectOptions
from ottla.client.config.settings import ClientSettings
from ottla.client.security.sasl import sasl_authenticate
from ottla.client.security.tls import tls_context
from ottla.net.client_connection import ClientOptions


def connect_options(settings: ClientSettings, client_id: str) -> ConnectOptions:
    """The options of this client's connections. Raises `ConfigError` for security settings that can't be used."""
    protocol = settings.string("security.protocol").upper()
    return ConnectOptions(
        client=ClientOptions(client_id=client_id, software_name="ottla", software_version=VERSION),
        protocol=protocol,
        expects_brokers=not ("bootstrap.controllers" in settings and settings.list("bootstrap.controllers")),
        tls=tls_context(settings) if protocol.endswith("SSL") else None,
        authenticate=sasl_authenticate(settings) if protocol.startswith("SASL") else None,
        send_buffer_bytes=_buffer_bytes(settings, "send.buffer.bytes"),
        receive_buffer_bytes=_buffer_bytes(settings, "receive.buffer.bytes"),
    )


def _buffer_bytes(settings: ClientSettings, name: str) -> int:
    """The system's own growing buffers are faster than Kafka's defaults, so those count only when given."""
    return settings.integer(name) if settings.is_given(name) else -1
