"""From the settings `key.deserializer` and `value.deserializer` to what a reader of records calls."""

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.client.serde.raw import BytesSerde
from ottla.client.serde.serializer import Deserialize, deserialize_of, known


def deserializer_of(settings: ClientSettings, name: str) -> Deserialize | None:
    """The function to call; None where bytes stay bytes."""
    plugin = settings.plugin(name, known("Deserializer"))
    if plugin is None or type(plugin) is BytesSerde:
        return None
    try:
        return deserialize_of(plugin)
    except TypeError as error:
        raise ConfigError(name, plugin, str(error)) from error
