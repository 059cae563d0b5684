"""`kafka-features`: shows and changes the levels of features. Flags, output and exit codes are Kafka's."""

import re
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NoReturn

from ottla.cli.argument import ToolParser, add_commands
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.session.tool_main import tool_main, with_java_class

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.cluster import FeatureMetadata, FeatureUpdate

_COMMANDS: Final = (
    ("describe", "show the features and their levels"),
    ("upgrade", "raise the levels of features"),
    ("downgrade", "lower the levels of features"),
    ("disable", "switch features off"),
    ("version-mapping", "print the feature levels that belong to a release"),
    ("feature-dependencies", "print what feature levels need"),
)
_METADATA_VERSION: Final = "metadata.version"


class _Parser(ToolParser):
    def error(self, message: str) -> NoReturn:
        """Kafka's words, without a line's end."""
        self.exit(1, f"Command line error: {self.reason(message)}. Type --help for help.")


@tool_main(with_java_class)
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command in ("version-mapping", "feature-dependencies"):
        return _run_local(options)
    return _ask(parser, options)


def _parser() -> ToolParser:
    parser = _Parser(prog="kafka-features", description="Look after the features of a cluster.")
    whom = parser.add_mutually_exclusive_group()
    whom.add_argument("--bootstrap-server", help="the brokers to connect to, host:port, separated by commas")
    whom.add_argument("--bootstrap-controller", help="the controllers to connect to instead")
    parser.add_argument("--command-config", help="a properties file with settings of the admin client")
    commands = add_commands(parser, _COMMANDS)
    commands["describe"].add_argument("--node-id", type=int, help="the node to ask")
    for name in ("upgrade", "downgrade"):
        commands[name].add_argument("--metadata", help="the same as --feature metadata.version, by its name")
        commands[name].add_argument("--release-version", help="a release whose levels all features shall have")
    for name in ("upgrade", "downgrade", "disable"):
        shape = "NAME" if name == "disable" else "NAME=LEVEL"
        commands[name].add_argument("--feature", action="append", help=f"{shape}; may be repeated")
        commands[name].add_argument("--dry-run", action="store_true", help="only check whether it could be done")
    for name in ("downgrade", "disable"):
        commands[name].add_argument("--unsafe", action="store_true", help="even if metadata is lost for ever")
    commands["version-mapping"].add_argument("--release-version", help="the release (default: the newest)")
    commands["feature-dependencies"].add_argument(
        "--feature", action="append", required=True, help="NAME=LEVEL; may be repeated"
    )
    return parser


def _run_local(options: Namespace) -> int:
    from ottla.cli.kafka.subcommand.storage_feature import FeatureArgumentError, print_dependencies, print_mapping

    try:
        if options.command == "version-mapping":
            return print_mapping(options.release_version)
        for text in options.feature:
            name, level = _name_and_level(text)
            _check_level(name, level)
            print_dependencies([text])
    except FeatureArgumentError as error:
        raise ToolError(str(error)) from error
    return 0


def _check_level(name: str, level: int) -> None:
    from ottla.metadata.feature import FEATURES

    if name in FEATURES and not 0 <= level <= FEATURES[name].level_max:
        raise ToolError(f"No feature:{name} with feature level {level}")


def _name_and_level(text: str) -> tuple[str, int]:
    name, equals, level = (part.strip() for part in text.partition("="))
    if not equals:
        raise ToolError(f"Can't parse feature=level string {text}: equals sign not found.")
    if re.fullmatch(r"[+-]?\d{1,5}", level) is None or not -(2**15) <= int(level) < 2**15:
        raise ToolError(f"Can't parse feature=level string {text}: unable to parse {level} as a short.")
    return name, int(level)


def _ask(parser: ToolParser, options: Namespace) -> int:
    from ottla.cli.kafka.argument.client_setting import properties_in
    from ottla.cli.kafka.session.admin_session import run_with

    if options.bootstrap_server is None and options.bootstrap_controller is None:
        parser.error("You must specify either --bootstrap-controller or --bootstrap-server.")
    given: dict[str, object] = dict(properties_in(options.command_config))
    given["bootstrap.servers"] = options.bootstrap_server
    given["bootstrap.controllers"] = options.bootstrap_controller
    if options.command == "describe":
        if options.node_id is not None and options.node_id < 0:
            raise ToolError(f"Invalid node id {options.node_id}: must be non-negative.")
        run_with(given, lambda admin: _describe(admin, options.node_id))
        return 0
    updates = _updates(options)
    if not updates:
        raise ToolError(f"You must specify at least one feature to {options.command}")
    run_with(given, lambda admin: _update(admin, options, updates))
    return 0


async def _describe(admin: "AsyncAdmin", node_id: int | None) -> None:
    found = await admin.describe_features(node_id)
    for name in sorted(found.supported):
        print(_line(name, found))


def _line(name: str, found: "FeatureMetadata") -> str:
    supported, finalized = found.supported[name], found.finalized.get(name)
    levels = (supported.lowest, supported.highest, 0 if finalized is None else finalized.highest)
    lowest, highest, level = (_level(name, number) for number in levels)
    epoch = "-" if found.finalized_epoch is None else found.finalized_epoch
    return (
        f"Feature: {name:<40}  SupportedMinVersion: {lowest:<15}  SupportedMaxVersion: {highest:<15}  "
        f"FinalizedVersionLevel: {level:<15}  Epoch: {epoch}"
    )


def _level(name: str, level: int) -> str:
    if name != _METADATA_VERSION:
        return str(level)
    from ottla.metadata.metadata_version import MetadataVersion

    return str(MetadataVersion(level)) if level in MetadataVersion.__members__.values() else f"UNKNOWN {level}"


def _updates(options: Namespace) -> dict[str, "FeatureUpdate"]:
    from ottla.client.admin.value.cluster import FeatureUpdate, UpgradeType

    kind = UpgradeType.UPGRADE
    if options.command != "upgrade":
        kind = UpgradeType.UNSAFE_DOWNGRADE if options.unsafe else UpgradeType.SAFE_DOWNGRADE
    levels: dict[str, int] = {}
    if options.command == "disable":
        wishes = [(name, 0) for name in options.feature or ()]
    else:
        if options.release_version is not None and (options.metadata is not None or options.feature):
            raise ToolError("Can not specify `release-version` with other feature flags.")
        levels = _release_levels(options, with_zero=kind is not UpgradeType.UPGRADE)
        wishes = [_name_and_level(text) for text in options.feature or ()]
    for name, level in wishes:
        if name in levels:
            raise ToolError(f"Feature {name} was specified more than once.")
        levels[name] = level
    return {name: FeatureUpdate(level, kind) for name, level in levels.items()}


def _release_levels(options: Namespace, *, with_zero: bool) -> dict[str, int]:
    """The levels that `--release-version` or `--metadata` stand for."""
    from ottla.cli.kafka.subcommand.storage_feature import FeatureArgumentError, parse_release
    from ottla.metadata.feature import FEATURES

    if options.metadata is not None:
        print(" `metadata` flag is deprecated and may be removed in a future release.")
    text = options.release_version or options.metadata
    if text is None:
        return {}
    try:
        version = parse_release(text)
    except FeatureArgumentError as error:
        raise ToolError(str(error)) from error
    levels = {_METADATA_VERSION: int(version)}
    if options.release_version is not None:
        defaults = {name: feature.default_level(version) for name, feature in FEATURES.items()}
        levels.update({name: level for name, level in defaults.items() if level or with_zero})
    return levels


async def _update(admin: "AsyncAdmin", options: Namespace, updates: Mapping[str, "FeatureUpdate"]) -> None:
    """All features are changed, or none: a refusal is every feature's."""
    from ottla.protocol.errors import ApiError

    refusal: ApiError | None = None
    try:
        await admin.update_features(updates, validate_only=options.dry_run)
    except ApiError as error:
        refusal = error
    is_disable = options.command == "disable"
    for name in sorted(updates):
        level = updates[name].level
        if refusal is not None:
            what = f"disable {name}" if is_disable else f"{options.command} {name} to {level}"
            print(f"{'Can' if options.dry_run else 'Could'} not {what}. {refusal}")
        else:
            what = "disabled." if is_disable else f"{options.command}d to {level}."
            print(f"{name} {'can be' if options.dry_run else 'was'} {what}")
    if refusal is not None:
        raise ToolError(f"{len(updates)} out of {len(updates)} operation(s) failed.")


if __name__ == "__main__":
    sys.exit(main())
