"""`ottla configs show`, and what a command line means by a resource."""

import argparse
from typing import Final

from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource

_TYPES: Final = {
    "topic": ConfigResourceType.TOPIC,
    "broker": ConfigResourceType.BROKER,
    "group": ConfigResourceType.GROUP,
    "client-metrics": ConfigResourceType.CLIENT_METRICS,
    "broker-logger": ConfigResourceType.BROKER_LOGGER,
}
_SOURCES: Final = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG: "all brokers",
    ConfigSource.STATIC_BROKER_CONFIG: "server.properties",
    ConfigSource.DEFAULT_CONFIG: "default",
    ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG: "logger",
    ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG: "client metrics",
    ConfigSource.DYNAMIC_GROUP_CONFIG: "group",
}

_NO_EFFECT: Final = "(No effect here.)"
"""How an Ottla broker ends the documentation of a setting that it ignores."""


async def resource_of(admin: AsyncAdmin, options: argparse.Namespace) -> ConfigResource:
    """The resource that is meant. Raises `CommandError` for a topic that does not exist and a broker that is none."""
    kind = _TYPES[options.kind]
    if kind is ConfigResourceType.TOPIC:
        from ottla.cli.commands.topics.name import described

        await described(admin, [options.name])
    if kind in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER):
        if options.name == "default" and kind is ConfigResourceType.BROKER:
            return ConfigResource(kind, "")
        if not options.name.isdecimal():
            raise CommandError(f"{options.name} is no broker: give its number, or default for all of them")
    return ConfigResource(kind, options.name)


async def show(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints settings, sorted by name."""
    resource = await resource_of(admin, options)
    described = await admin.describe_configs([resource], include_documentation=True)
    entries = [
        entry
        for name, entry in sorted(described[resource].items())
        if options.like in name and (options.all or _is_set(entry, resource))
    ]
    if options.json:
        print_document([_document(entry, with_docs=options.docs) for entry in entries])
        return 0
    style = Style.of()
    if not entries:
        print(
            "Nothing has such a name." if options.all else "No such setting was changed here; --all shows the defaults."
        )
        return 0
    if options.docs:
        print("\n".join(_explained(entry, style) for entry in entries))
    else:
        print(table(["Setting", "Value", "From"], [_row(entry) for entry in entries], style))
    return 0


def _is_set(entry: ConfigEntry, resource: ConfigResource) -> bool:
    """Whether it was set on this resource; a topic's value that comes from its broker was not."""
    if resource.type is ConfigResourceType.TOPIC:
        return entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    return entry.source is not ConfigSource.DEFAULT_CONFIG


def shown(entry: ConfigEntry | None) -> str | None:
    """A value as it is printed; secrets are not."""
    if entry is None:
        return None
    return "(secret)" if entry.is_sensitive else '""' if entry.value == "" else entry.value


def has_no_effect(entry: ConfigEntry) -> bool:
    """Whether the broker says that it takes the setting for the sake of files written for Kafka, and ignores it."""
    return (entry.documentation or "").endswith(_NO_EFFECT)


def _row(entry: ConfigEntry) -> list[object]:
    source = _SOURCES.get(entry.source, "unknown")
    is_plain = entry.source is ConfigSource.DEFAULT_CONFIG
    value = shown(entry)
    return [
        Toned(entry.name, Tone.NAME),
        value if value is None or is_plain else Toned(value, Tone.STRONG),
        Toned("no effect here", Tone.FAINT)
        if has_no_effect(entry)
        else Toned(source, Tone.FAINT if is_plain else Tone.GOOD),
    ]


def _explained(entry: ConfigEntry, style: Style) -> str:
    import textwrap

    source = style.paint(f"({_SOURCES.get(entry.source, 'unknown')})", Tone.FAINT)
    words = textwrap.fill(entry.documentation or "", 100, initial_indent="    ", subsequent_indent="    ")
    return f"{style.paint(entry.name, Tone.NAME)} = {shown(entry)} {source}\n{words}"


def _document(entry: ConfigEntry, *, with_docs: bool) -> dict[str, object]:
    return {
        "name": entry.name,
        "value": None if entry.is_sensitive else entry.value,
        "source": entry.source.name,
        "sensitive": entry.is_sensitive,
        "read_only": entry.is_read_only,
        "no_effect": has_no_effect(entry),
        **({"documentation": entry.documentation} if with_docs and entry.documentation else {}),
    }
