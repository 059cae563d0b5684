"""What `kafka-consumer-groups` is told to do: one action, one scenario of a reset, and the options they go with."""

import sys
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.argument.option import (
    ChosenOptions,
    ToolError,
)

if TYPE_CHECKING:
    pass


ACTIONS: Final = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")


SCENARIOS: Final = (
    "from-file",
    "shift-by",
    "to-offset",
    "to-earliest",
    "to-current",
    "to-latest",
    "by-duration",
    "to-datetime",
)


_AVAILABLE: Final = {
    "members": ("describe",),
    "verbose": ("describe",),
    "offsets": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
}


_NO_ACTION: Final = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are "
    "scripting this command and want to keep the current default behavior without prompting."
)


def check_choice(options: ChosenOptions) -> None:
    for name, actions in _AVAILABLE.items():
        if options.has(name) and not any(options.has(action) for action in actions):
            raise ToolError(
                f"joptsimple.UnavailableOptionException: Option(s) [{name}] are unavailable given other options on "
                "the command line"
            )
    if not options.has("validate-regex"):
        options.require("bootstrap-server")
    has_groups = options.has("group") or options.has("all-groups")
    if options.has("describe"):
        _check_describe(options, has_groups=has_groups)
    if options.has("delete"):
        if not has_groups:
            options.fail("Option [delete] takes one of these options: [group], [all-groups]")
        if options.has("topic"):
            options.fail("The consumer does not support topic-specific offset deletion from a consumer group.")
    if options.has("delete-offsets") and not (options.has("group") and options.has("topic")):
        options.fail("Option [delete-offsets] takes the following options: [group], [topic]")
    if options.has("reset-offsets"):
        _check_reset(options, has_groups=has_groups)
    options.forbid("group", "all-groups", "list")
    options.forbid("topic", "list", "describe")
    if sum(options.has(action) for action in ACTIONS) != 1:
        listed = ", ".join(f"--{action}" for action in ACTIONS)
        options.fail(f"Command must include exactly one action: {listed}")


def _check_describe(options: ChosenOptions, *, has_groups: bool) -> None:
    if not has_groups:
        options.fail("Option [describe] takes one of these options: [group], [all-groups]")
    if sum(options.has(name) for name in ("members", "offsets", "state")) > 1:
        options.fail("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if options.text("state") is not None:
        options.fail("Option [describe] does not take a value for [state]")


def _check_reset(options: ChosenOptions, *, has_groups: bool) -> None:
    if options.has("dry-run") and options.has("execute"):
        options.fail("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not options.has("dry-run") and not options.has("execute"):
        print(_NO_ACTION, file=sys.stderr)
    if not has_groups:
        options.fail("Option [reset-offsets] takes one of these options: [group], [all-groups]")
    for scenario in SCENARIOS:
        options.forbid(scenario, *(other for other in SCENARIOS if other != scenario))
