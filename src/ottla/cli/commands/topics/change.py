"""`ottla topics create`, `delete` and `alter`."""

import argparse
import sys

from ottla.base.errors import OttlaError
from ottla.cli.commands.topics.key import has_keys, key_warning
from ottla.cli.commands.topics.name import described
from ottla.cli.connection import client_settings, key_value
from ottla.cli.output.advice import CommandError, advised
from ottla.cli.output.confirmation import confirm
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Tone
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType
from ottla.client.admin.value.topic import CreatedTopic, NewTopic, TopicDescription
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.protocol.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError


async def create(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Creates topics, and says what they are like."""
    configs = dict(key_value(text, "--config") for text in options.config)
    wanted = [NewTopic(name, options.partitions, options.replicas, None, configs) for name in options.topics]
    failed: dict[str, OttlaError] = {}
    made = await admin.create_topics(wanted, validate_only=options.dry_run, errors=failed)
    existing = [name for name, error in failed.items() if isinstance(error, TopicAlreadyExistsError)]
    if options.if_not_exists:
        failed = {name: error for name, error in failed.items() if name not in existing}
    if options.json:
        print_document(
            {
                "created": [] if options.dry_run else [_document(name, topic) for name, topic in made.items()],
                "valid": list(made) if options.dry_run else [],
                "existing": existing if options.if_not_exists else [],
            }
        )
    else:
        verb = "Could create" if options.dry_run else "Created"
        for name, topic in made.items():
            print(f"{verb} {name}: {_size(topic)}.")
        for name in existing if options.if_not_exists else ():
            print(f"{name} exists.")
    _raise_first(failed)
    return 0


def _size(topic: CreatedTopic) -> str:
    if topic.partitions is None or topic.replication_factor is None:
        return "its size is not for you to see"
    return f"{counted(topic.partitions, 'partition')}, {counted(topic.replication_factor, 'replica')}"


def _document(name: str, topic: CreatedTopic) -> dict[str, object]:
    return {
        "name": name,
        "topic_id": str(topic.topic_id),
        "partitions": topic.partitions,
        "replicas": topic.replication_factor,
    }


async def delete(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Deletes topics that the user was asked about."""
    failed: dict[str, OttlaError] = {}
    names = list(dict.fromkeys(options.topics))
    if not options.if_exists:
        await described(admin, names)
    await admin.delete_topics(names, errors=failed)
    absent = [name for name, error in failed.items() if isinstance(error, UnknownTopicOrPartitionError)]
    deleted = [name for name in names if name not in failed]
    if options.if_exists:
        failed = {name: error for name, error in failed.items() if name not in absent}
    if options.json:
        print_document({"deleted": deleted})
    else:
        for name in deleted:
            print(f"Deleted {name}.")
    _raise_first(failed)
    return 0


async def alter(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Adds partitions, changes settings."""
    operations = [AlterConfigOp(*key_value(text, "--config")) for text in options.config]
    operations += [AlterConfigOp(name, None, AlterConfigOpType.DELETE) for name in options.unset]
    if options.partitions is None and not operations:
        raise CommandError("nothing to change: give --partitions, --config or --unset")
    topic = (await described(admin, [options.topic]))[options.topic]
    before = len(topic.partitions)
    if options.partitions is not None and options.partitions > before:
        await _warn_of_keys(admin, options, topic)
    if operations:
        resource = ConfigResource(ConfigResourceType.TOPIC, options.topic)
        await admin.incremental_alter_configs({resource: operations}, validate_only=options.dry_run)
    if options.partitions is not None:
        await admin.create_partitions({options.topic: options.partitions}, validate_only=options.dry_run)
    if options.json:
        changed = {operation.name: operation.value for operation in operations}
        count = before if options.partitions is None else options.partitions
        print_document({"topic": options.topic, "dry_run": options.dry_run, "partitions": count, "configs": changed})
        return 0
    verb = "Could set" if options.dry_run else "Set"
    for operation in operations:
        shown = "its default" if operation.value is None else operation.value
        print(f"{verb} {operation.name} of {options.topic} to {shown}.")
    if options.partitions is not None:
        verb = "could have" if options.dry_run else "has"
        print(f"{options.topic} {verb} {counted(options.partitions, 'partition')}, {before} before.")
    return 0


async def _warn_of_keys(admin: AsyncAdmin, options: argparse.Namespace, topic: TopicDescription) -> None:
    """More partitions can't be taken back: on a terminal the user decides, a script is told."""
    keyed = await has_keys(admin, topic, client_settings(options, CONSUMER_KEYS))
    if keyed is False:
        return
    warning = key_warning(topic.name, len(topic.partitions), options.partitions, is_certain=keyed is True)
    print(Style.of(sys.stderr).paint(f"warning: {warning}", Tone.WARN), file=sys.stderr)
    if sys.stdin.isatty() and not options.dry_run:
        confirm(f"Give {topic.name} {options.partitions} partitions?", is_answered=options.yes)


def _raise_first(failed: dict[str, OttlaError]) -> None:
    """The first failure, with how many more there were."""
    for name, error in failed.items():
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise CommandError(f"{name}: {advised(error)}{more}") from error
